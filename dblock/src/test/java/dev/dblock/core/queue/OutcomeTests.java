package dev.dblock.core.queue;

import java.time.Duration;

import dev.dblock.LockInfo;
import dev.dblock.core.queue.Outcome.OthersFirst;
import dev.dblock.core.queue.Outcome.Refused;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class OutcomeTests {

	@Test
	void anotherTokenOfTheSameLockShowsARelease() {
		Refused before = refused("stock", 1);
		assertThat(refused("stock", 2).showsReleaseSince(before)).isTrue();
		assertThat(refused("stock", 1).showsReleaseSince(before)).isFalse();
		assertThat(refused("stock (permit 2)", 2).showsReleaseSince(before)).as("of another permit").isFalse();
	}

	@Test
	void withoutAHolderNothingShowsARelease() {
		Refused unknown = new Refused(null, null);
		assertThat(unknown.showsReleaseSince(refused("stock", 1))).isFalse();
		assertThat(refused("stock", 1).showsReleaseSince(unknown)).isFalse();
		assertThat(refused("stock", 1).showsReleaseSince(new OthersFirst())).isFalse();
	}

	@Test
	void aRefusalExpiresWithTheLeaseOfTheHolder() {
		assertThat(refused("stock", 1).expiryNanos()).isEqualTo(Duration.ofSeconds(3).toNanos());
		assertThat(new Refused(null, null).expiryNanos()).isEqualTo(Long.MAX_VALUE);
	}

	private static Refused refused(String name, long token) {
		return new Refused(holder(name, token), null);
	}

	private static LockInfo holder(String name, long token) {
		@Nullable String unknown = null;
		return new LockInfo(name, true, "an instance", "a thread", unknown, unknown, token, null, null, null, null,
				Duration.ofSeconds(3));
	}

}
