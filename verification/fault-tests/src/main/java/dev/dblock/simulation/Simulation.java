package dev.dblock.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import dev.dblock.simulation.SimulationOptions.Mode;
import dev.dblock.simulation.scheduler.Scheduler;
import dev.dblock.simulation.scheduler.SimulatedThread;

/**
 * One simulation, from the first to the last step.
 */
final class Simulation {

	private static final int INSTANCES = 3;

	/** For each section, since few run at a time. */
	private static final long LONGEST_SECTION_NANOS = TimeUnit.SECONDS.toNanos(120);

	private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(60);

	private static final long FAULTY_NANOS = TimeUnit.SECONDS.toNanos(90);

	/** The longest stop, and what is repeated after it. */
	private static final long SETTLED_NANOS = TimeUnit.SECONDS.toNanos(20);

	private static final long UNDISTURBED_NANOS = TimeUnit.SECONDS.toNanos(20);

	/** Twelve threads, each with a section of ten seconds, and a lease. */
	private static final long LAST_SECTIONS_NANOS = TimeUnit.SECONDS.toNanos(200);

	private final SimulationOptions options;

	private final Journal journal;

	private final Scheduler scheduler;

	private final World world;

	private final Disturbances disturbances;

	Simulation(SimulationOptions options) {
		this.options = options;
		this.journal = new Journal(options.traced());
		this.scheduler = this.journal.newScheduler(options.seed());
		this.world = new World(options, this.scheduler, this.journal);
		this.disturbances = new Disturbances(this.world);
	}

	/**
	 * Run the simulation.
	 * @return what came of it
	 */
	Result run() {
		long began = System.nanoTime();
		this.world.start(INSTANCES);
		try (AccountLog log = new AccountLog(this.world.plannedTimes()::logged)) {
			runToTheEnd();
			finish();
		}
		return result(System.nanoTime() - began);
	}

	private void runToTheEnd() {
		if (this.options.mode() == Mode.LIVENESS) {
			runPeriods();
		}
		else if (this.options.mode() == Mode.JOBS) {
			runJobs();
		}
		else {
			this.disturbances.begin();
			long limit = this.scheduler.now() + this.options.sections() * LONGEST_SECTION_NANOS;
			if (!this.scheduler.run(this.world::isIdle, limit)) {
				reportStuck("sections do not end");
			}
			this.disturbances.end();
		}
	}

	/**
	 * Return what came of the simulation.
	 */
	Result result(long realNanos) {
		return new Result(this.options, this.journal.violations(), this.world.sections(), this.scheduler.steps(),
				this.journal.hash(), this.scheduler.elapsedNanos(), realNanos, this.journal.counts());
	}

	World world() {
		return this.world;
	}

	/**
	 * Disturb everything for a while, and then nothing, until all threads have had their
	 * locks or a refusal.
	 */
	private void runPeriods() {
		while (!this.world.isIdle() && this.journal.violations().isEmpty()) {
			this.disturbances.begin();
			this.world.network().setFaulty(true);
			this.scheduler.run(this.world::isIdle, this.scheduler.now() + FAULTY_NANOS);
			calm();
			this.world.hold(true);
			long limit = this.scheduler.now() + LAST_SECTIONS_NANOS;
			if (!this.scheduler.run(this.world::isQuiet, limit)) {
				reportStuck("threads still wait though the faults have ended");
			}
			this.world.hold(false);
		}
	}

	/**
	 * Disturb everything for a while, and then nothing, until all jobs have run at their
	 * planned times.
	 */
	private void runJobs() {
		while (!this.world.isIdle() && this.journal.violations().isEmpty()) {
			this.scheduler.setStalled(true);
			this.world.network().setFaulty(true);
			this.disturbances.begin();
			pass(FAULTY_NANOS);
			calm();
			this.scheduler.setStalled(false);
			pass(SETTLED_NANOS);
			long from = this.scheduler.now();
			pass(UNDISTURBED_NANOS);
			this.world.atServer(() -> this.world.plannedTimes().requireAll(from, this.world.serverTime()));
			pass(1);
		}
	}

	private void calm() {
		this.disturbances.end();
		this.world.network().setFaulty(false);
		this.journal.add("faults end");
	}

	/**
	 * Let all leases end, shut all instances down, and check that nothing is left.
	 */
	void finish() {
		calm();
		this.world.end();
		if (this.options.mode() == Mode.JOBS) {
			shutDown();
		}
		pass(QUIET_NANOS);
		this.world.judge().requireNoneOpen();
		List<Instance> all = new ArrayList<>(this.world.closedInstances());
		all.addAll(this.world.instances());
		all.forEach(this::requireNothingRemains);
		if (this.options.mode() != Mode.JOBS) {
			shutDown();
			pass(QUIET_NANOS);
		}
		if (!this.scheduler.threads().isEmpty()) {
			reportStuck("threads are left after the shutdown");
		}
	}

	private void shutDown() {
		int[] closed = new int[1];
		List<Instance> last = List.copyOf(this.world.instances());
		last.forEach((instance) -> instance.close(true, () -> closed[0]++));
		if (!this.scheduler.run(() -> closed[0] == last.size(), this.scheduler.now() + QUIET_NANOS)) {
			reportStuck("the shutdown does not end");
		}
	}

	private void pass(long nanos) {
		long until = this.scheduler.now() + nanos;
		this.scheduler.run(() -> this.scheduler.now() >= until, until);
	}

	private void requireNothingRemains(Instance instance) {
		String remains = instance.remains();
		if (!remains.isEmpty()) {
			this.journal.violation("the engine of %s has kept %s".formatted(instance.name(), remains));
		}
	}

	void reportStuck(String what) {
		this.journal.violation(what + ": " + this.scheduler.threads(),
				this.scheduler.threads().toArray(SimulatedThread[]::new));
	}

}
