package dev.dblock.settings;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockUnavailableException;
import dev.dblock.WhenLost;
import dev.dblock.WhenUnavailable;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.core.LockWorld;
import dev.dblock.engine.LockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.settings.LockSettings.Setting;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link LockSettings}, and for their use by the engine.
 */
class LockSettingsTests {

	private static final Duration LEASE = Duration.ofSeconds(77);

	private final LockWorld world = new LockWorld();

	@AfterEach
	void close() {
		this.world.close();
	}

	private static Setting label(String label) {
		return new Setting(LockOptions.defaults().label(label), null);
	}

	private static LockSettings labelled(String... keys) {
		Map<String, Setting> settings = new LinkedHashMap<>();
		for (String key : keys) {
			settings.put(key, label(key));
		}
		return new LockSettings(settings);
	}

	private DefaultLockTemplate template(Map<String, Setting> settings) {
		return new DefaultLockTemplate(engine(settings));
	}

	private DefaultLockEngine engine(Map<String, Setting> settings) {
		return this.world.newEngine(LockWorld.settings("shop-", new LockSettings(settings)));
	}

	@ParameterizedTest
	@CsvSource({ "order-vip-1,order-vip-1", "order-vip-2,order-vip-*", "order-vip-,order-vip-*", "order-2,order-*",
			"border-2,*", "order,*" })
	void mostSpecificKeyComesFirst(String name, String key) {
		LockSettings settings = labelled("*", "order-*", "order-vip-1", "order-vip-*");
		assertThat(settings.of(name).options().label()).isEqualTo(key);
	}

	@ParameterizedTest
	@ValueSource(strings = { "*-eu", "a*b", "a**" })
	void wildcardBeforeTheEndIsRefused(String key) {
		assertThatIllegalArgumentException().isThrownBy(() -> labelled(key))
			.withMessageContaining("'" + key + "' has a '*' before its end");
	}

	@Test
	void nothingIsSetForOtherNames() {
		LockSettings settings = labelled("order-*", "stock");
		assertThat(settings.of("stocks")).isSameAs(Setting.NOTHING);
		assertThat(settings.of("border-1")).isSameAs(Setting.NOTHING);
		LockOptions options = LockOptions.lease(LEASE);
		assertThat(settings.before("stocks", options)).isSameAs(options);
	}

	@Test
	void eachOptionIsTakenFromTheMostSpecificKeyThatSetsIt() {
		LockSettings settings = new LockSettings(
				Map.of("*", new Setting(LockOptions.lease(LEASE).label("all"), WhenUnavailable.SKIP), "order-*",
						new Setting(LockOptions.defaults().label("orders"), null), "order-1",
						new Setting(LockOptions.defaults().whenLost(WhenLost.INTERRUPT), WhenUnavailable.THROW)));
		assertThat(settings.of("order-1")).isEqualTo(new Setting(
				LockOptions.lease(LEASE).label("orders").whenLost(WhenLost.INTERRUPT), WhenUnavailable.THROW));
		assertThat(settings.of("order-2").whenUnavailable()).isEqualTo(WhenUnavailable.SKIP);
	}

	@ParameterizedTest
	@CsvSource({ "order-*,order-?,true", "order-*,order-vip-?,true", "order-vip-*,order-?,true",
			"order-*,stock-?,false", "*,?,true", "stock,stock,true", "stock,stocks,false", "stocks,stock,false",
			"stock,?,true", "order-1,order-?-1,false", "order-1-1,order-?-1,true", "order-*,?,true",
			"order-*,?-eu,true", "order-eu-*,order-?-eu,true", "order-*,orders-?,false", "a*,'',false", "*,'',true" })
	void keyIsUsedIfANameCouldComeUnderIt(String key, String name, boolean used) {
		List<String> unused = labelled(key).unusedBy(List.of("other", name.replace('?', LockSettings.ANYTHING)));
		assertThat(unused.isEmpty()).isEqualTo(used || key.equals("*"));
	}

	@Test
	void keysThatADeclaredNameCoversAreNarrowerThanIt() {
		LockSettings settings = labelled("order-7", "order-vip-*", "order*", "*", "stock");
		assertThat(settings.namesCoveredBy("order-" + LockSettings.ANYTHING)).containsExactlyInAnyOrder("order-…",
				"order-7", "order-vip-…");
		assertThat(settings.namesCoveredBy("stock")).containsExactly("stock");
		assertThat(settings.namesCoveredBy("" + LockSettings.ANYTHING)).containsExactly("…");
	}

	@Test
	void settingsForNamesThatADeclaredNameCoversAreChecked() {
		Map<String, Setting> settings = Map.of("order-7",
				new Setting(LockOptions.defaults().minHold(Duration.ofMinutes(1)), null));
		LockOptions options = LockOptions.lease(Duration.ofSeconds(20));
		String shape = "order-" + LockSettings.ANYTHING;
		assertThatIllegalArgumentException().isThrownBy(() -> engine(settings).check(shape, options))
			.withMessageContaining("minimum hold (1m) is longer than the lease (20s)")
			.withMessageContaining("'order-7' (dblock.locks or the LockSettings bean)");
		engine(settings).check("order-8", options);
	}

	@Test
	void settingsTakePrecedenceOverTheCode() {
		DefaultLockTemplate template = template(Map.of("stock", new Setting(LockOptions.lease(LEASE), null)));
		try (LockHandle handle = template.acquire("stock", LockOptions.lease(Duration.ofSeconds(5)))) {
			assertThat(handle.name()).isEqualTo("shop-stock");
			assertThat(handle.remaining()).isGreaterThan(Duration.ofSeconds(70));
		}
	}

	@Test
	void settingsApplyWithinExecute() {
		DefaultLockTemplate template = template(Map.of("st*", new Setting(LockOptions.lease(LEASE), null)));
		template.execute("stock", () -> assertThat(LockContext.current().orElseThrow().remaining())
			.isGreaterThan(Duration.ofSeconds(70)));
	}

	@Test
	@Timeout(300)
	void settingsApplyToTryAcquireExceptForTheWait() {
		Setting setting = new Setting(LockOptions.lease(LEASE).waitUpTo(Duration.ofHours(1)), null);
		DefaultLockTemplate template = template(Map.of("stock", setting));
		try (LockHandle handle = template.tryAcquire("stock").orElseThrow()) {
			assertThat(handle.remaining()).isGreaterThan(Duration.ofSeconds(70));
			assertThat(template.tryAcquire("stock")).isEmpty();
			assertThat(template.engine().acquire("stock", LockOptions.defaults(), Duration.ZERO))
				.isInstanceOf(LockEngine.Refused.class);
		}
	}

	@Test
	@Timeout(300)
	void waitThatIsSetComesBeforeThatOfTheCode() {
		DefaultLockTemplate template = template(
				Map.of("stock", new Setting(LockOptions.defaults().waitUpTo(Duration.ZERO), null)));
		LockOptions patient = LockOptions.defaults().waitUpTo(Duration.ofHours(1));
		try (LockHandle handle = template.acquire("stock")) {
			assertThat(template.tryAcquire("stock", patient)).isEmpty();
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> template.acquire("stock", patient));
			assertThat(handle.isHeld()).isTrue();
		}
	}

	@Test
	void contradictionBetweenCodeAndSettingsNamesTheSettings() {
		DefaultLockEngine engine = engine(Map.of("st*", new Setting(LockOptions.lease(Duration.ofSeconds(2)), null),
				"stock", new Setting(LockOptions.defaults().label("s"), null)));
		LockOptions options = LockOptions.lease(LEASE).minHold(Duration.ofSeconds(20));
		assertThatIllegalArgumentException().isThrownBy(() -> engine.check("stock", options))
			.withMessageContaining("minimum hold (20s) is longer than the lease (2s)")
			.withMessageContaining("'stock', 'st*' (dblock.locks or the LockSettings bean)");
		assertThatIllegalArgumentException().isThrownBy(() -> new DefaultLockTemplate(engine).acquire("stock", options))
			.withMessageContaining("dblock.locks");
		engine.check("other", options);
	}

	@Test
	void contradictionWithinTheCodeDoesNotBlameTheSettings() {
		DefaultLockEngine engine = engine(Map.of("other", label("other")));
		LockOptions options = LockOptions.lease(LEASE).minHold(Duration.ofSeconds(200));
		assertThatIllegalArgumentException().isThrownBy(() -> engine.check("stock", options))
			.satisfies((ex) -> assertThat(ex.getMessage()).doesNotContain("dblock.locks"));
	}

	@Test
	void behaviourOfAMethodIsSetByName() {
		Map<String, Setting> settings = Map.of("stock", new Setting(LockOptions.defaults(), WhenUnavailable.SKIP));
		assertThat(engine(settings).setting("stock").orElseThrow().whenUnavailable()).isEqualTo(WhenUnavailable.SKIP);
		assertThat(engine(settings).setting("shop-stock").orElseThrow().whenUnavailable()).isNull();
		LockEngine unlocked = LockEngine.unlocked(LockWorld.settings("", new LockSettings(settings)));
		assertThat(unlocked.setting("stock").orElseThrow().whenUnavailable()).isEqualTo(WhenUnavailable.SKIP);
		assertThat(unlocked.setting("other").orElseThrow().whenUnavailable()).isNull();
	}

}
