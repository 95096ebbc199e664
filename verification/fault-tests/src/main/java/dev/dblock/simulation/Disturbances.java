package dev.dblock.simulation;

import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Causes faults at random times.
 */
final class Disturbances {

	private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

	private static final int LONGEST_STEP_MILLIS = 10_000;

	private final World world;

	private final Random random;

	private boolean ended;

	Disturbances(World world) {
		this.world = world;
		this.random = world.scheduler().random();
	}

	void begin() {
		this.ended = false;
		next();
	}

	/**
	 * Cause no further faults. Those that last end within a few seconds.
	 */
	void end() {
		this.ended = true;
	}

	private void next() {
		this.world.scheduler().after(SECOND / 2 + this.random.nextLong(2 * SECOND), () -> {
			if (!this.ended) {
				List<Instance> all = this.world.instances();
				if (!all.isEmpty()) {
					disturb(all.get(this.random.nextInt(all.size())));
				}
				next();
			}
		});
	}

	private void disturb(Instance instance) {
		switch (this.random.nextInt(24)) {
			case 0, 1, 2, 3 -> stop(instance, false);
			case 4 -> stop(instance, true);
			case 5, 6 -> stepClock(instance);
			case 7, 8, 9, 10, 11 -> instance.interruptWorker();
			case 12 -> restart(instance);
			case 13 -> kill(instance);
			case 14 -> outage();
			case 15, 16 -> {
				this.world.journal().count("broken feeds");
				this.world.disturbReports(instance);
			}
			case 17 -> this.world.store().elect();
			default -> {
			}
		}
	}

	private void stop(Instance instance, boolean suspended) {
		if (suspended && !instance.hasObservedClocks()) {
			return;
		}
		this.world.journal().count(suspended ? "suspended machines" : "stopped processes");
		instance.stop(this.random.nextLong(7 * SECOND), suspended);
	}

	/**
	 * Step a wall clock, but not that of a suspended machine, since at least one clock
	 * has to continue.
	 */
	private void stepClock(Instance instance) {
		if (instance.process().isStopped() || !instance.hasObservedClocks()) {
			return;
		}
		instance.clocksChanged();
		this.world.journal().count("clock steps");
		this.world.journal().add("step the clock of " + instance.name());
		instance.process().stepWallClock(this.random.nextInt(2 * LONGEST_STEP_MILLIS) - LONGEST_STEP_MILLIS);
	}

	private void restart(Instance instance) {
		if (!instance.process().isStopped()) {
			this.world.journal().count("restarts");
			this.world.restart(instance);
		}
	}

	private void kill(Instance instance) {
		this.world.journal().count("kills");
		this.world.kill(instance);
	}

	private void outage() {
		this.world.journal().count("outages");
		this.world.journal().add("the server is unreachable");
		this.world.network().setDown(true);
		this.world.instances().forEach(this.world::disturbReports);
		this.world.scheduler().after(this.random.nextLong(4 * SECOND), () -> {
			this.world.journal().add("the server is reachable");
			this.world.network().setDown(false);
		});
	}

}
