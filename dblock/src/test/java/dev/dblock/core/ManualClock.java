package dev.dblock.core;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

import dev.dblock.core.lease.LockClock;

/**
 * The two clocks of a process and the clock of the server, moved by tests. The monotonic
 * clock begins shortly before it overflows, so code that compares its values instead of
 * their differences fails.
 */
public final class ManualClock implements LockClock {

	private static final Duration UNTIL_OVERFLOW = Duration.ofSeconds(12);

	private static final long EPOCH_MILLIS = 1_800_000_000_000L;

	private final AtomicReference<Hands> hands = new AtomicReference<>(
			new Hands(Long.MAX_VALUE - UNTIL_OVERFLOW.toNanos(), 0, 0));

	/** When the limits of a thread were stopped. */
	private final ThreadLocal<Long> stopped = new ThreadLocal<>();

	private volatile boolean limitsResumed;

	@Override
	public long nanoTime() {
		return this.hands.get().nano();
	}

	@Override
	public long wallMillis() {
		return EPOCH_MILLIS + this.hands.get().wall() / 1_000_000;
	}

	/**
	 * Unlike the others, this clock follows that of the machine, except in threads whose
	 * limits were stopped.
	 */
	@Override
	public long pauseNanos() {
		Long stopped = this.limitsResumed ? null : this.stopped.get();
		return (stopped != null) ? stopped : LockClock.super.pauseNanos();
	}

	/**
	 * From now on, no limit ends what the calling thread waits for, however long the
	 * machine stalls.
	 */
	void stopLimits() {
		this.stopped.set(LockClock.super.pauseNanos());
	}

	/**
	 * The limits of all threads continue.
	 */
	void resumeLimits() {
		this.limitsResumed = true;
	}

	long serverMillis() {
		return EPOCH_MILLIS + this.hands.get().server() / 1_000_000;
	}

	/**
	 * Time passes for all processes and the server.
	 */
	public void advance(Duration time) {
		long nanos = time.toNanos();
		move((now) -> new Hands(now.nano() + nanos, now.wall() + nanos, now.server() + nanos));
	}

	/**
	 * This process's machine sleeps while time passes for all others. To fall asleep and
	 * to wake takes a moment.
	 */
	public void suspend(Duration time) {
		long nanos = time.toNanos();
		move((now) -> new Hands(now.nano() + 1, now.wall() + nanos, now.server() + nanos));
	}

	void advanceNano(Duration time) {
		move((now) -> new Hands(now.nano() + time.toNanos(), now.wall(), now.server()));
	}

	void advanceWall(Duration time) {
		move((now) -> new Hands(now.nano(), now.wall() + time.toNanos(), now.server()));
	}

	void advanceServer(Duration time) {
		move((now) -> new Hands(now.nano(), now.wall(), now.server() + time.toNanos()));
	}

	private void move(UnaryOperator<Hands> step) {
		this.hands.updateAndGet(step);
	}

	private record Hands(long nano, long wall, long server) {
	}

}
