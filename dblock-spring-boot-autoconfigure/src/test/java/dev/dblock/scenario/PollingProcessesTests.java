package dev.dblock.scenario;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import dev.dblock.LockOptions;
import dev.dblock.settings.EngineSettings;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Processes that compete for a lock on a server without change streams.
 */
@Timeout(300)
@MongoServerTest(kind = MongoServerKind.STANDALONE)
@SameOnEachJdk
class PollingProcessesTests {

	/**
	 * So long that a process hardly ever finds the lock free by chance between two runs
	 * of hand-overs.
	 */
	private static final Duration POLL = Duration.ofMillis(800);

	private static final EngineSettings.Poll POLLS = new EngineSettings.Poll(POLL, POLL);

	private static final EngineSettings.HandOff HAND_OFF = new EngineSettings.HandOff(1_000_000, POLL.dividedBy(2));

	private static final LockOptions PATIENTLY = LockOptions.defaults().waitUpTo(Duration.ofMinutes(4));

	private static final int TURNS = 5;

	/**
	 * Runs of hand-overs before a turn of the other process. There would be hundreds if
	 * the crowd left nothing to it; a busy machine may delay its polls.
	 */
	private static final int MOST_RUNS = 12;

	@ParameterizedTest
	@ValueSource(longs = { 100, 240_000 })
	void crowdOfOneProcessLeavesTheLockToAnotherProcessThatPolls(long waitMillis, MongoServer server) throws Exception {
		try (Instances instances = new Instances(server)) {
			Instance crowd = instances.start("crowd", POLLS, HAND_OFF);
			Instance other = instances.start("other", POLLS, HAND_OFF);
			LockOptions wait = LockOptions.defaults().waitUpTo(Duration.ofMillis(waitMillis));
			AtomicBoolean end = new AtomicBoolean();
			AtomicInteger turns = new AtomicInteger();
			List<Work<Boolean>> threads = new ArrayList<>();
			for (int i = 0; i < 4; i++) {
				threads.add(Work.start(() -> {
					while (!end.get()) {
						crowd.locks().execute("stock", wait, () -> {
							turns.incrementAndGet();
							crowd.locks().inspect("stock");
							return true;
						}, (refusal) -> false);
					}
				}));
			}
			long runs = 0;
			for (int i = 0; i < TURNS; i++) {
				int before = turns.get();
				Instances.eventually().until(() -> turns.get() > before + 4);
				runs -= runsOfHandOvers(crowd);
				other.locks().acquire("stock", PATIENTLY).release();
				runs += runsOfHandOvers(crowd);
			}
			end.set(true);
			for (Work<Boolean> thread : threads) {
				thread.result();
			}
			assertThat(runs).isLessThanOrEqualTo(MOST_RUNS * TURNS);
		}
	}

	/**
	 * Each begins with a request, and hardly any of those is refused.
	 */
	private static long runsOfHandOvers(Instance instance) {
		return instance.commands().count("findAndModify");
	}

}
