package dev.dblock.core;

import java.time.Duration;

import dev.dblock.core.queue.LocalQueue;
import dev.dblock.core.queue.LocalQueues;
import dev.dblock.core.queue.Waiter;
import dev.dblock.settings.EngineSettings;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jspecify.annotations.Nullable;

/**
 * The queue of one name as threads come and go that visit it, wait in it or give the lock
 * back. All who are there at a time have the same queue, and when the last one has gone,
 * there is none. Public, as Lincheck's own classes call it.
 */
public class SharedQueues {

	private static final String NAME = "name";

	private static final int MOST_THREADS = 3;

	private final LocalQueues queues = new LocalQueues(new EngineSettings.HandOff(1, Duration.ofDays(1)),
			LocalQueue.LONGEST_RELEASE_NANOS, (held) -> 0, () -> 0);

	private final @Nullable Stay[] stays = new Stay[MOST_THREADS];

	@Operation
	public boolean visit(@Param(gen = ThreadIdGen.class) int thread) {
		LocalQueue queue = this.queues.enter(NAME);
		return stay(thread, new Stay(queue, queue::leave));
	}

	@Operation
	public boolean waitInLine(@Param(gen = ThreadIdGen.class) int thread) {
		Waiter waiter = new Waiter(SharedLock.TERMS);
		LocalQueue queue = this.queues.join(NAME, waiter);
		return stay(thread, new Stay(queue, () -> {
			SharedLock.check(queue.quit(waiter), "The place in the line is lost");
			queue.leave();
		}));
	}

	@Operation
	public boolean giveBack(@Param(gen = ThreadIdGen.class) int thread) {
		LocalQueue queue = this.queues.releasing(NAME);
		return stay(thread, new Stay(queue, () -> queue.released(0)));
	}

	private boolean stay(int thread, Stay stay) {
		this.stays[thread] = stay;
		return this.queues.find(NAME) == stay.queue();
	}

	@Operation
	public boolean go(@Param(gen = ThreadIdGen.class) int thread) {
		Stay stay = this.stays[thread];
		SharedLock.check(stay != null, "Who goes has come");
		boolean known = this.queues.find(NAME) == stay.queue();
		stay.end().run();
		this.stays[thread] = null;
		return known;
	}

	@Validate
	public void isKnownWhileSomebodyStays() {
		boolean somebody = false;
		for (Stay stay : this.stays) {
			somebody |= stay != null;
		}
		SharedLock.check((this.queues.find(NAME) != null) == somebody, "The queue is lost or left behind");
	}

	private record Stay(LocalQueue queue, Runnable end) {

	}

	/**
	 * Whoever comes or goes finds the queue that it has come to.
	 */
	public static class InSequence {

		public boolean visit(int thread) {
			return true;
		}

		public boolean waitInLine(int thread) {
			return true;
		}

		public boolean giveBack(int thread) {
			return true;
		}

		public boolean go(int thread) {
			return true;
		}

	}

}
