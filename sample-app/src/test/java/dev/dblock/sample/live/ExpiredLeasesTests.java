package dev.dblock.sample.live;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import dev.dblock.LockInfo;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ExpiredLeases}.
 */
class ExpiredLeasesTests {

	private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

	private final ExpiredLeases leases = new ExpiredLeases();

	private final List<LockInfo> told = new ArrayList<>();

	@Test
	void leaseThatIsTakenOverEndedBefore() {
		LockInfo first = held("first", 0, 10);
		look(first, 9);
		assertThat(look(held("second", 10, 20), 10)).containsExactly(first);
		assertThat(look(held("second", 10, 20), 11)).isEmpty();
	}

	@Test
	void leaseThatEndedAndThatNobodyTookEndedBefore() {
		LockInfo ended = lock("first", false, 0, 10);
		look(held("first", 0, 10), 9);
		assertThat(look(ended, 10)).containsExactly(ended);
		assertThat(look(ended, 11)).isEmpty();
	}

	@Test
	void leaseThatEndedWhileNobodyLookedIsSeenWhenSomebodyLooksAgain() {
		LockInfo ended = lock("first", false, 0, 13);
		look(held("first", 0, 10), 1);
		assertThat(look(ended, 60)).containsExactly(ended);
	}

	@Test
	void lockThatWasReleasedDidNotExpire() {
		look(held("first", 0, 10), 1);
		assertThat(look(lock(null, false, 0, 1), 60)).isEmpty();
		look(held("first", 60, 70), 61);
		assertThat(look(held("second", 62, 72), 62)).isEmpty();
	}

	@Test
	void takeOverThatNobodySawIsToldUnlessSomebodyTellsOfARelease() {
		LockInfo first = held("first", 0, 10);
		look(first, 1);
		assertThat(look(held("second", 15, 25), 15)).as("it may have been renewed, and released").isEmpty();
		List<LockInfo> expired = new ArrayList<>();
		for (int looks = 0; looks < 20; looks++) {
			// However slow: each look is as late as the one before
			expired.addAll(look(held("second", 15, 1000), 20 + 10 * looks));
		}
		assertThat(expired).containsExactly(first);
	}

	@Test
	void releaseThatNobodySawIsNoEndOfALease() {
		LockInfo first = held("first", 0, 10);
		look(first, 1);
		look(held("second", 15, 25), 15);
		look(held("second", 15, 25), 16);
		this.told.add(first);
		for (int second = 17; second < 25; second++) {
			assertThat(look(held("second", 15, 25), second)).isEmpty();
		}
	}

	private List<LockInfo> look(LockInfo lock, int second) {
		return this.leases.look(List.of(lock), at(second), this.told::contains);
	}

	private static LockInfo held(String holder, int acquired, int expires) {
		return lock(holder, true, acquired, expires);
	}

	private static LockInfo lock(@Nullable String holder, boolean held, int acquired, int expires) {
		return new LockInfo("report", held, holder, "instance", "thread", "why", 1024L * (acquired + 1), at(acquired),
				at(acquired), at(expires), null, Duration.ZERO);
	}

	private static Instant at(int second) {
		return START.plusSeconds(second);
	}

}
