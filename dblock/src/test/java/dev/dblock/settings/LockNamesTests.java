package dev.dblock.settings;

import java.util.List;

import dev.dblock.LockOptions;
import dev.dblock.store.Permits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class LockNamesTests {

	private final EngineSettings names = names("");

	private static EngineSettings names(String prefix) {
		EngineSettings settings = EngineSettings.defaults("test");
		return new EngineSettings(prefix, settings.acquirer(), settings.defaults(), settings.timeout(), settings.poll(),
				settings.handOff());
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "\t", " \n " })
	void refusesNamesThatSayNothing(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.names.fullName(name))
			.withMessageContaining("must not be empty or blank");
		assertThatIllegalArgumentException().isThrownBy(() -> names("shop-").fullName(name))
			.withMessageContaining("must not be empty or blank");
	}

	@Test
	void reportsANullName() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.names.fullName(null))
			.withMessage("The name of the lock is null. Name what it protects, such as 'nightly-invoices'");
		assertThatIllegalArgumentException().isThrownBy(() -> this.names.check(null, LockOptions.defaults()))
			.withMessageContaining("is null");
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "$$ROOT", "$where", "a.b", "$$NOW", "it's \"quoted\"", "order-🔒-7", "日本", "a b", "/", "-" })
	void takesWhateverElseLiterally(String name) {
		assertThat(this.names.fullName(name)).isEqualTo(name);
	}

	@Test
	void takesAThousandBytesAndNotOneMore() {
		assertThat(this.names.fullName("n".repeat(1000))).hasSize(1000);
		assertThatIllegalArgumentException().isThrownBy(() -> this.names.fullName("n".repeat(1001)))
			.withMessageContaining("1000 bytes")
			.withMessageContaining("has 1001")
			.withMessageContaining("'" + "n".repeat(40) + "…'")
			.withMessageContaining("hash");
		assertThatIllegalArgumentException().isThrownBy(() -> this.names.fullName("n".repeat(8192)))
			.withMessageContaining("has 8192");
	}

	@Test
	void countsBytesOfUtf8AndNotCharacters() {
		assertThat(this.names.fullName("🔒".repeat(250))).hasSize(500);
		assertThatIllegalArgumentException().isThrownBy(() -> this.names.fullName("🔒".repeat(250) + "n"))
			.withMessageContaining("has 1001")
			.withMessageContaining("'" + "🔒".repeat(40) + "…'");
	}

	@Test
	void leavesRoomForTheNumberOfAPermit() {
		LockOptions permits = LockOptions.defaults().permits(2);
		this.names.terms("n".repeat(986), permits);
		this.names.check("n".repeat(986), permits);
		this.names.check("n".repeat(1000), LockOptions.defaults().permits(1));
		assertThat(Permits.id("n".repeat(986), 1000)).hasSize(1000);
		assertThatIllegalArgumentException().isThrownBy(() -> this.names.terms("n".repeat(987), permits))
			.withMessageContaining("a lock with permits may have at most 986 bytes")
			.withMessageContaining("has 987");
		assertThatIllegalArgumentException().isThrownBy(() -> names("shop-").check("n".repeat(982), permits))
			.withMessageContaining("at most 986 bytes");
	}

	@ParameterizedTest
	@ValueSource(strings = { "export (permit 2)", "export (permit 1000)", "a (permit 2) (permit 3)" })
	void refusesTheNamesOfPermitsForLocks(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.names.terms(name, LockOptions.defaults()))
			.withMessageContaining("must not end with a number of a permit, as in '" + name + "'")
			.withMessageContaining("Choose another name");
		assertThatIllegalArgumentException().isThrownBy(() -> this.names.check(name, LockOptions.defaults()))
			.withMessageContaining("Choose another name");
		assertThat(this.names.fullName(name)).isEqualTo(name);
	}

	@Test
	void acceptsNamesThatOnlyResembleThoseOfPermits() {
		for (String name : List.of("(permit 2)", "export (permit two)", "export (permit 2) ", "export(permit 2)")) {
			assertThat(this.names.terms(name, LockOptions.defaults()).permits()).isZero();
		}
	}

	@Test
	void countsThePrefix() {
		EngineSettings prefixed = names("shop-");
		assertThat(prefixed.fullName("n".repeat(995))).startsWith("shop-n").hasSize(1000);
		assertThatIllegalArgumentException().isThrownBy(() -> prefixed.fullName("n".repeat(996)))
			.withMessageContaining("prefix included");
	}

	@ParameterizedTest
	@ValueSource(strings = { "a\nb", "a\u0000", "\u007f", "\u0085b" })
	void refusesControlCharactersAndShowsNoneOfThem(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.names.fullName(name))
			.withMessageContaining("control characters")
			.withMessageContaining("U+00")
			.withMessageContaining("?")
			.withMessageNotContainingAny("\n", "\u0000", "\u007f", "\u0085");
	}

	@ParameterizedTest
	@ValueSource(strings = { "\ud83d", "a\udd12b", "\udd12\ud83d" })
	void refusesHalfOfASurrogatePair(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.names.fullName(name))
			.withMessageContaining("surrogate");
	}

	@Test
	void refusesAPrefixThatNoNameCouldHave() {
		assertThatIllegalArgumentException().isThrownBy(() -> names("shop\n").checked())
			.withMessageContaining("prefix")
			.withMessageContaining("control characters");
		assertThatIllegalArgumentException().isThrownBy(() -> names("n".repeat(1000)).checked())
			.withMessageContaining("prefix");
	}

}
