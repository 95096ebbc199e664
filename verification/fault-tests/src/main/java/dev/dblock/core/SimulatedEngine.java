package dev.dblock.core;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

import dev.dblock.core.lease.LockClock;
import dev.dblock.event.LockListener;
import dev.dblock.settings.EngineSettings;
import dev.dblock.simulation.scheduler.Redirects;
import dev.dblock.store.LockRepository;

/**
 * Creates engines whose clocks, pauses and random numbers are those of the simulation.
 */
public final class SimulatedEngine implements LockClock {

	private final long unnoticedNanos;

	private SimulatedEngine(Duration clockAllowance) {
		this.unnoticedNanos = LockClock.with(clockAllowance).unnoticedNanos();
	}

	/**
	 * Create an engine.
	 */
	public static DefaultLockEngine create(LockRepository repository, EngineSettings settings, LockListener listener) {
		return new DefaultLockEngine(repository, settings, List.of(listener),
				new SimulatedEngine(repository.clockAllowance()));
	}

	@Override
	public long nanoTime() {
		return Redirects.nanoTime();
	}

	@Override
	public long wallMillis() {
		return Redirects.currentTimeMillis();
	}

	@Override
	public long pauseNanos() {
		return Redirects.nanoTime();
	}

	@Override
	public void park(Object blocker, long nanos) {
		Redirects.parkNanos(blocker, nanos);
	}

	@Override
	public long random(long least, long bound) {
		return Redirects.nextLong(ThreadLocalRandom.current(), least, bound);
	}

	@Override
	public String newId() {
		return Redirects.randomUUID().toString();
	}

	@Override
	public long unnoticedNanos() {
		return this.unnoticedNanos;
	}

}
