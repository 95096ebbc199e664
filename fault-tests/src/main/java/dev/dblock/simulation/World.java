package dev.dblock.simulation;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import dev.dblock.LockInfo;
import dev.dblock.job.JobInfo.JobStatus;
import dev.dblock.job.JobRun;
import dev.dblock.local.LocalLockRepository;
import dev.dblock.local.LocalLockStore;
import dev.dblock.simulation.SimulationOptions.Mode;
import dev.dblock.simulation.scheduler.Scheduler;
import dev.dblock.simulation.scheduler.SimulatedProcess;
import dev.dblock.store.ListRequest;
import dev.dblock.store.ReleaseFeed;
import org.jspecify.annotations.Nullable;

/**
 * The server, the network and the instances of one simulation.
 */
final class World {

	private static final int WORKERS = 4;

	private static final int CLOCKS_MILLIS = 1000;

	/** Several periods. */
	private static final int JOB_CLOCKS_MILLIS = 10_000;

	private static final long OBSERVATION_NANOS = 1_000_000_000;

	private final SimulationOptions options;

	private final Scheduler scheduler;

	private final Journal journal;

	private final SimulatedProcess server;

	private final Network network;

	private final Judge judge;

	private final PlannedTimes plannedTimes;

	private final List<Instance> instances = new ArrayList<>();

	private final List<Instance> closed = new ArrayList<>();

	private @Nullable LocalLockStore store;

	private int begun;

	private int processes;

	private boolean held;

	private boolean ending;

	World(SimulationOptions options, Scheduler scheduler, Journal journal) {
		this.options = options;
		this.scheduler = scheduler;
		this.journal = journal;
		this.server = scheduler.process("server", 1);
		this.network = new Network(scheduler, journal, this.server);
		this.judge = new Judge(scheduler, journal, this::stored);
		this.plannedTimes = new PlannedTimes(scheduler, journal, this::storedRuns);
	}

	/**
	 * Start the server, and instances that use it.
	 */
	void start(int count) {
		this.scheduler.start(this.server, "server", () -> {
			LocalLockStore created = new LocalLockStore();
			this.store = created;
			new LocalLockRepository(created).releases().open(new Releases());
			for (int i = 0; i < count; i++) {
				startInstance();
			}
			while (!this.ending) {
				this.scheduler.pause(OBSERVATION_NANOS);
				this.scheduler.atomically(() -> observe(new LocalLockRepository(created)));
			}
		});
	}

	/**
	 * Start another process, whose clocks differ from those of the others.
	 */
	void startInstance() {
		double rate = 1 + (this.scheduler.random().nextDouble() - 0.5) / 1000;
		SimulatedProcess process = this.scheduler.process("instance-" + this.processes++, rate);
		int most = isWithJobs() ? JOB_CLOCKS_MILLIS : CLOCKS_MILLIS;
		process.stepWallClock(this.scheduler.random().nextInt(2 * most) - most);
		this.scheduler.start(process, "main", () -> {
			Instance instance = new Instance(this, process);
			this.instances.add(instance);
			if (isWithJobs()) {
				instance.startJobs();
			}
			else {
				instance.startWorkers(WORKERS);
			}
		});
	}

	private boolean isWithJobs() {
		return this.options.mode() == Mode.JOBS;
	}

	private Duration stored(String name) {
		return this.scheduler.in(this.server,
				() -> new LocalLockRepository(store()).find(name).map(LockInfo::remaining).orElse(Duration.ZERO));
	}

	private List<JobRun> storedRuns(String job) {
		return this.scheduler.in(this.server,
				() -> new LocalLockRepository(store()).findJob(job, job).map(JobStatus::runs).orElse(List.of()));
	}

	private boolean observe(LocalLockRepository all) {
		for (LockInfo lock : all.findAll(ListRequest.all("")).locks()) {
			boolean wanted = !this.network.isDown()
					&& this.instances.stream().anyMatch((instance) -> instance.wants(lock.name()));
			this.judge.observed(lock, wanted);
			this.judge.changed(lock.name());
		}
		return true;
	}

	/**
	 * Shut an instance down, and replace it.
	 */
	void restart(Instance instance) {
		this.instances.remove(instance);
		this.closed.add(instance);
		instance.close(this.scheduler.random().nextBoolean(), this::startInstance);
	}

	/**
	 * Let an instance disappear, and replace it a little later.
	 */
	void kill(Instance instance) {
		this.journal.add("kill " + instance.name());
		this.instances.remove(instance);
		this.scheduler.kill(instance.process());
		this.judge.killed(instance);
		this.scheduler.after(this.scheduler.random().nextInt(2_000_000_000), this::startInstance);
	}

	/**
	 * Count a section.
	 * @return whether it can begin
	 */
	boolean beginSection() {
		return !this.ending && this.begun++ < this.options.sections();
	}

	/**
	 * Set whether no section begins for now.
	 */
	void hold(boolean held) {
		this.held = held;
	}

	boolean isHeld() {
		return this.held;
	}

	/**
	 * Whether no thread of an instance is in a section.
	 */
	boolean isQuiet() {
		return this.instances.stream().allMatch(Instance::isResting) && this.closed.stream().allMatch(Instance::isIdle);
	}

	int sections() {
		return Math.min(this.begun, this.options.sections());
	}

	/**
	 * Let no more sections begin.
	 */
	void end() {
		this.ending = true;
	}

	/**
	 * Whether all sections have ended, also those of instances that were shut down.
	 */
	boolean isIdle() {
		return this.processes > 0 && this.begun >= this.options.sections()
				&& this.instances.stream().allMatch(Instance::isIdle)
				&& this.closed.stream().allMatch(Instance::isIdle);
	}

	List<Instance> instances() {
		return this.instances;
	}

	/**
	 * Return the instances that were shut down, not those that were killed.
	 */
	List<Instance> closedInstances() {
		return this.closed;
	}

	SimulationOptions options() {
		return this.options;
	}

	Scheduler scheduler() {
		return this.scheduler;
	}

	Journal journal() {
		return this.journal;
	}

	Network network() {
		return this.network;
	}

	Judge judge() {
		return this.judge;
	}

	PlannedTimes plannedTimes() {
		return this.plannedTimes;
	}

	/**
	 * Run code in a thread of the server, which is not stalled.
	 */
	void atServer(Runnable code) {
		this.scheduler.start(this.server, "check", () -> this.scheduler.atomically(() -> {
			code.run();
			return true;
		}));
	}

	/**
	 * Return the time of the server.
	 */
	Instant serverTime() {
		return this.scheduler.in(this.server,
				() -> new LocalLockRepository(store()).time(Duration.ZERO).orElseThrow().notAfter());
	}

	LocalLockStore store() {
		if (this.store == null) {
			throw new IllegalStateException("The server is not started");
		}
		return this.store;
	}

	/**
	 * Passes the releases in the store on to all instances.
	 */
	private final class Releases implements ReleaseFeed.Listener {

		@Override
		public void listening() {
		}

		@Override
		public void released(String name) {
			World.this.instances.forEach((instance) -> instance.feed().released(name));
			World.this.closed.forEach((instance) -> instance.feed().released(name));
		}

		@Override
		public void interrupted(String reason) {
		}

		@Override
		public void unsupported(String reason) {
		}

	}

}
