package dev.dblock.core;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import dev.dblock.LockHandle;
import dev.dblock.LockInterruptedException;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.core.Request.Kind;
import dev.dblock.core.lease.LockClock;
import dev.dblock.core.queue.LocalQueue;
import dev.dblock.engine.LockEngine;
import dev.dblock.settings.EngineSettings;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.test.util.ReflectionTestUtils;

import static dev.dblock.core.LockWorld.granted;
import static dev.dblock.core.LockWorld.refused;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests for a lock that other processes are to have first.
 */
@Timeout(300)
class OutOfTurnTests {

	private static final EngineSettings.Poll HARDLY_EVER = new EngineSettings.Poll(Duration.ofHours(1),
			Duration.ofHours(1));

	private static final Duration BRIEF = Duration.ofMillis(1);

	private static final int MANY = 50;

	private static final LockOptions BRIEFLY = LockOptions.defaults().waitUpTo(Duration.ofMillis(1));

	private final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	private final DefaultLockEngine engine = onRealClocks();

	@AfterEach
	void close() {
		this.engine.close();
		this.world.close();
	}

	@Test
	void aLockThatIsBeingReleasedIsRefusedWithoutARequest() throws Exception {
		LockWorld.awaitReleases(this.engine);
		LockHandle handle = granted(tryNow());
		Gate gate = new Gate();
		this.repository.next(Kind.RELEASE, Fault.answerHeldUp(gate));
		Worker<Boolean> release = Worker.start(handle::release);
		gate.awaitReached();
		assertThat(this.repository.isHeld("a")).isFalse();
		assertThat(refused(tryNow()).holder()).isNotNull()
			.satisfies((holder) -> assertThat(holder.acquirer()).isEqualTo("host-2:815:x1"));
		assertThat(refused(this.engine.acquire("a", BRIEFLY)).holder()).isNotNull();
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(1);
		gate.open();
		assertThat(release.result()).isTrue();
		granted(tryNow()).close();
	}

	@Test
	void aCallWithoutAWaitIsRefusedWithoutARequestWhileWaitersLetOthersGoFirst() throws Exception {
		LocalQueue queue = this.engine.parts().queues().enter("a");
		letOthersGoFirst(queue);
		Worker<LockEngine.Attempt> waiter = Worker
			.start(() -> this.engine.acquire("a", LockOptions.defaults().waitUpTo(Duration.ofHours(1))));
		LockWorld.eventually().until(() -> queue.waiters() == 1);
		LockWorld.eventually()
			.untilAsserted(
					() -> assertThat(this.engine.parts().signals().waiters()).as("listens for releases").isEqualTo(1));
		LockRefusal refusal = refused(tryNow());
		assertThat(refusal.holder()).isNull();
		assertThat(refusal.describe()).endsWith("Threads of this application are waiting for it, and others go first");
		assertThat(this.repository.count(Kind.ACQUIRE)).isZero();
		waiter.interrupt();
		assertThat(waiter.failure()).isInstanceOf(LockInterruptedException.class);
		granted(tryNow()).close();
		queue.leave();
	}

	@Test
	void aWaitThatEndsWhileOthersGoFirstIsRefusedWithoutARequest() {
		LocalQueue queue = this.engine.parts().queues().enter("a");
		letOthersGoFirst(queue);
		LockRefusal refusal = refused(this.engine.acquire("a", BRIEFLY));
		assertThat(refusal.holder()).isNull();
		assertThat(refusal.describe()).endsWith("Threads of this application are waiting for it, and others go first");
		assertThat(this.repository.count(Kind.ACQUIRE)).isZero();
		queue.leave();
	}

	@Test
	void repeatedTriesDoNotKeepWaitersFromTheLock() throws Exception {
		LatecomersClock clock = new LatecomersClock();
		DefaultLockEngine engine = engine(new EngineSettings.HandOff(1000, BRIEF), clock);
		LockHandle first = granted(engine.acquire("a", LockOptions.defaults()));
		long start = System.nanoTime();
		AtomicReference<Thread> thread = new AtomicReference<>();
		Worker<LockEngine.Attempt> waiter = Worker.start(() -> {
			thread.set(Thread.currentThread());
			return engine.acquire("a", LockOptions.defaults().waitUpTo(Duration.ofHours(1)));
		});
		waiter.awaitWaiting();
		LockWorld.eventually().until(() -> System.nanoTime() - start > BRIEF.toNanos());
		clock.delay(thread.get(), engine.parts().queues().find("a"));
		first.close();
		int turns = 0;
		while (!waiter.isDone() && turns < MANY) {
			if (engine.acquire("a", LockOptions.defaults()) instanceof LockEngine.Granted grant) {
				turns++;
				clock.isTaken = true;
				waiter.awaitWaiting();
				clock.isTaken = false;
				grant.handle().close();
			}
			clock.tries.incrementAndGet();
		}
		clock.delayNoCaller();
		granted(waiter.result()).close();
		assertThat(turns).isLessThan(MANY);
	}

	private static void letOthersGoFirst(LocalQueue queue) {
		ReflectionTestUtils.setField(ReflectionTestUtils.getField(queue, "crossProcessYield"), "untilNanos",
				System.nanoTime() + Duration.ofHours(1).toNanos());
	}

	private LockEngine.Attempt tryNow() {
		return this.engine.acquire("a", LockOptions.defaults());
	}

	private DefaultLockEngine onRealClocks() {
		return new DefaultLockEngine(this.repository,
				LockWorld.settings(LockWorld.DEFAULTS, LockWorld.TIMEOUT, HARDLY_EVER), List.of());
	}

	private DefaultLockEngine engine(EngineSettings.HandOff handOff, LockClock clock) {
		EngineSettings settings = LockWorld.settings("");
		return this.world.newEngine(new EngineSettings("", settings.acquirer(), settings.defaults(), settings.timeout(),
				HARDLY_EVER, handOff), clock);
	}

	/**
	 * Makes a thread late: whenever it looks at the time outside of its queue, another
	 * one has the lock then, or has been refused twice.
	 */
	private static final class LatecomersClock implements LockClock {

		private final AtomicInteger tries = new AtomicInteger();

		private volatile boolean isTaken;

		private volatile @Nullable LocalQueue queue;

		private volatile @Nullable Thread late;

		void delay(@Nullable Thread late, @Nullable LocalQueue queue) {
			this.queue = queue;
			this.late = late;
		}

		void delayNoCaller() {
			this.late = null;
		}

		@Override
		public long nanoTime() {
			int enough = this.tries.get() + 2;
			while (this.late == Thread.currentThread() && !Thread.holdsLock(this.queue) && !this.isTaken
					&& this.tries.get() < enough) {
				Thread.onSpinWait();
			}
			return LockClock.super.nanoTime();
		}

	}

}
