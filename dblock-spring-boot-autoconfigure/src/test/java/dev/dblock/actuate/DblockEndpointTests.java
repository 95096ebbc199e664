package dev.dblock.actuate;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import dev.dblock.LockInfo;
import dev.dblock.LockPage;
import dev.dblock.store.LockAdministration;
import dev.dblock.testing.StructuredLog;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;

/**
 * Tests for {@link DblockEndpoint}.
 */
@ExtendWith(OutputCaptureExtension.class)
class DblockEndpointTests {

	private static final Instant SINCE = Instant.parse("2026-01-01T02:00:00Z");

	private static final LockInfo HELD = new LockInfo("app-stock", true, "id", "host-1", "main", "Stock#count", 4711,
			SINCE, SINCE, SINCE.plusSeconds(30), null, Duration.ofSeconds(30));

	private static final LockInfo FREE = new LockInfo("app-stock", false, null, "host-1", "main", "Stock#count", 4711,
			SINCE, SINCE, null, SINCE.plusSeconds(1), Duration.ZERO);

	private static final LockPage HELD_ALONE = new LockPage(List.of(HELD), false);

	private final LockAdministration locks = mock(LockAdministration.class);

	{
		given(this.locks.findPermits(any())).willCallRealMethod();
	}

	private static LockInfo permit(String name) {
		return new LockInfo(name, true, "id", "host-1", "main", "Stock#count", 4711, SINCE, SINCE,
				SINCE.plusSeconds(30), null, Duration.ofSeconds(30), 11);
	}

	private final DblockEndpoint endpoint = new DblockEndpoint((database) -> (database == null) ? this.locks : null,
			"app-");

	@Test
	void locksThatAreUnavailableAreListed() {
		given(this.locks.list(false, "", 1000)).willReturn(HELD_ALONE);
		assertThat(this.endpoint.locks(null, null, null, null, null).locks()).containsExactly(HELD);
	}

	@Test
	void releasedLocksAndOtherPagesAreListedOnRequest() {
		LockPage page = new LockPage(List.of(FREE), true);
		given(this.locks.list(true, "app-rack", 5)).willReturn(page);
		given(this.locks.list(false, "", 1)).willReturn(HELD_ALONE);
		given(this.locks.list(false, "", LockPage.LARGEST)).willReturn(page);
		assertThat(this.endpoint.locks(null, true, "app-rack", 5, null)).isEqualTo(page);
		assertThat(this.endpoint.locks(null, null, null, -7, null)).isEqualTo(HELD_ALONE);
		assertThat(this.endpoint.locks(null, false, null, Integer.MAX_VALUE, null)).isEqualTo(page);
	}

	@Test
	void oneLockIsFoundByTheNameUnderWhichItIsListed() {
		given(this.locks.find("app-stock")).willReturn(Optional.of(HELD));
		assertThat(this.endpoint.locks("app-stock", null, null, null, null).locks()).containsExactly(HELD);
		assertThat(this.endpoint.lock(new String[] { "app-stock" }, null)).isEqualTo(HELD);
		assertThat(this.endpoint.lock(new String[] { "stock" }, null)).as("the name that the application uses")
			.isEqualTo(HELD);
	}

	@Test
	void aLockIsShownWithAllOfItsPermits() {
		LockInfo first = permit("app-stock");
		LockInfo second = permit("app-stock (permit 2)");
		LockInfo eleventh = permit("app-stock (permit 11)");
		given(this.locks.find("app-stock")).willReturn(Optional.of(first));
		given(this.locks.list(true, "app-stock (permit ", 1000)).willReturn(new LockPage(
				List.of(eleventh, second, permit("app-stock (permit 2) other"), permit("app-stocks")), true));
		assertThat(this.endpoint.locks("stock", null, null, null, null))
			.isEqualTo(new LockPage(List.of(first, second, eleventh), false));
	}

	@Test
	void onePermitIsFoundAndReleasedByItsName() {
		LockInfo second = permit("app-stock (permit 2)");
		given(this.locks.find(second.name())).willReturn(Optional.of(second));
		given(this.locks.list(true, "app-stock (permit 2) (permit ", 1000)).willReturn(new LockPage(List.of(), false));
		given(this.locks.forceRelease(second.name())).willReturn(true);
		assertThat(this.endpoint.lock(new String[] { "stock (permit 2)" }, null)).isEqualTo(second);
		assertThat(this.endpoint.locks("stock (permit 2)", null, null, null, null).locks()).containsExactly(second);
		assertThat(this.endpoint.release("stock (permit 2)", null, null).meaning())
			.startsWith("This is one of the 11 permits of the lock; the others were not released. It was held by");
	}

	@Test
	void slashesOfANameArePartsOfAPath() {
		given(this.locks.find("app-a/b/c")).willReturn(Optional.of(HELD));
		assertThat(this.endpoint.lock(new String[] { "app-a", "b", "c" }, null)).isEqualTo(HELD);
	}

	@Test
	void thereIsNothingToSayOfANameThatWasNeverLocked() {
		given(this.locks.find(any())).willReturn(Optional.empty());
		assertThat(this.endpoint.locks("nothing", null, null, null, null)).isNull();
		assertThat(this.endpoint.lock(new String[] { "nothing" }, null)).isNull();
		ForcedRelease answer = this.endpoint.release("nothing", null, null);
		assertThat(answer.released()).isFalse();
		assertThat(answer.before()).isNull();
		assertThat(answer.meaning()).contains("no such lock");
		then(this.locks).should(never()).forceRelease(any());
	}

	@Test
	void aForcedReleaseKeepsExclusionAndDescribesItsEffect(CapturedOutput output) {
		given(this.locks.find("app-stock")).willReturn(Optional.of(HELD));
		given(this.locks.forceRelease("app-stock")).willReturn(true);
		ForcedRelease answer = this.endpoint.releaseLock(new String[] { "app-stock" }, null, null);
		assertThat(answer.released()).isTrue();
		assertThat(answer.before()).isEqualTo(HELD);
		assertThat(answer.meaning()).contains("host-1", "main", "Stock#count", SINCE.toString())
			.contains("at its next renewal", "LockLostException", SINCE.plusSeconds(30).toString())
			.contains("without automatic renewal", "extended")
			.doesNotContain("EXCLUSION IS GIVEN UP");
		assertThat(output).contains("'app-stock' was released by force by an operator");
		then(this.locks).should(never()).forceReleaseNow(any());
	}

	@Test
	void theLogNamesTheLockAmongItsFields() {
		given(this.locks.find("app-stock")).willReturn(Optional.of(HELD));
		given(this.locks.forceRelease("app-stock")).willReturn(true);
		try (StructuredLog log = new StructuredLog("ecs")) {
			this.endpoint.release("app-stock", null, null);
			assertThat(log.line("released by force by an operator").get("dblock"))
				.isEqualTo(new Document(Map.of("name", "app-stock", "token", "4711")));
		}
	}

	@Test
	void exclusionIsNotGivenUpSilently(CapturedOutput output) {
		given(this.locks.find("app-stock")).willReturn(Optional.of(HELD));
		given(this.locks.forceReleaseNow("app-stock")).willReturn(true);
		ForcedRelease answer = this.endpoint.release("app-stock", true, null);
		assertThat(answer.released()).isTrue();
		assertThat(answer.meaning()).contains("EXCLUSION IS GIVEN UP", "host-1", "4711")
			.contains("without automatic renewal", "extended", SINCE.plusSeconds(30).toString());
		assertThat(output).contains("EXCLUSION IS GIVEN UP");
		then(this.locks).should(never()).forceRelease(any());
	}

	@Test
	void aLockThatIsNotHeldIsNotChanged(CapturedOutput output) {
		given(this.locks.find("app-stock")).willReturn(Optional.of(FREE));
		ForcedRelease answer = this.endpoint.release("app-stock", false, null);
		assertThat(answer.released()).isFalse();
		assertThat(answer.meaning()).contains("This lock is not held");
		assertThat(output).doesNotContain("released by force");
	}

	@Test
	void aNameThatIsTakenWithoutAHolderIsFreed() {
		given(this.locks.find("app-stock")).willReturn(Optional.of(FREE));
		given(this.locks.forceReleaseNow("app-stock")).willReturn(true);
		assertThat(this.endpoint.release("app-stock", true, null).meaning()).startsWith("EXCLUSION IS GIVEN UP");
	}

	@Test
	void locksOfAnotherDatabaseAreFoundByTheirFullNames() {
		LockAdministration orders = mock(LockAdministration.class);
		DblockEndpoint several = new DblockEndpoint((database) -> "orders".equals(database) ? orders : null, "app-");
		given(orders.list(false, "", 1000)).willReturn(HELD_ALONE);
		given(orders.find("app-stock")).willReturn(Optional.of(HELD));
		given(orders.forceRelease("app-stock")).willReturn(true);
		assertThat(several.locks(null, null, null, null, "orders").locks()).containsExactly(HELD);
		assertThat(several.lock(new String[] { "stock" }, "orders")).isEqualTo(HELD);
		assertThat(several.releaseLock(new String[] { "stock" }, null, "orders").released()).isTrue();
		assertThatExceptionOfType(InvalidEndpointRequestException.class)
			.isThrownBy(() -> several.locks(null, null, null, null, "oders"))
			.withMessageContaining("no database factory 'oders'");
		assertThatExceptionOfType(InvalidEndpointRequestException.class)
			.isThrownBy(() -> several.lock(new String[] { "stock" }, "oders"));
		ForcedRelease nowhere = several.release("stock", null, "oders");
		assertThat(nowhere.released()).isFalse();
		assertThat(nowhere.meaning()).contains("no database factory 'oders'").doesNotContain("no such lock");
	}

}
