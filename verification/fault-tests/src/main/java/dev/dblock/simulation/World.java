package dev.dblock.simulation;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import com.mongodb.MongoOperationTimeoutException;
import com.mongodb.MongoSocketException;
import com.mongodb.ServerAddress;
import dev.dblock.LockInfo;
import dev.dblock.job.JobRun;
import dev.dblock.simulation.SimulationOptions.Mode;
import dev.dblock.simulation.SimulationOptions.StoreKind;
import dev.dblock.simulation.scheduler.Scheduler;
import dev.dblock.simulation.scheduler.SimulatedProcess;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.QueryTimeoutException;

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

	private final RequestedRuns requestedRuns;

	private final PlannedTimes plannedTimes;

	private final List<Instance> instances = new ArrayList<>();

	private final List<Instance> closed = new ArrayList<>();

	private final boolean versions;

	private @Nullable Store store;

	private int begun;

	private int processes;

	private boolean held;

	private boolean ending;

	World(SimulationOptions options, Scheduler scheduler, Journal journal) {
		this.options = options;
		this.scheduler = scheduler;
		this.journal = journal;
		this.server = scheduler.process("server", 1);
		this.network = (options.store() == StoreKind.MEMORY)
				? new Network(scheduler, journal, this.server, QueryTimeoutException::new,
						DataAccessResourceFailureException::new)
				: new Network(scheduler, journal, this.server, MongoOperationTimeoutException::new,
						(message) -> new MongoSocketException(message, new ServerAddress()));
		this.versions = options.mode() == Mode.JOBS && options.store() != StoreKind.MEMORY
				&& scheduler.random().nextBoolean();
		this.judge = new Judge(scheduler, journal, this::stored);
		this.requestedRuns = new RequestedRuns(scheduler, journal, this.judge);
		this.plannedTimes = new PlannedTimes(scheduler, journal, this::storedRuns, this::serverTime);
	}

	/**
	 * Start the server, and instances that use it.
	 */
	void start(int count) {
		this.scheduler.start(this.server, "server", () -> {
			this.store = (this.options.store() == StoreKind.MEMORY) ? new MemoryStore(this)
					: new MongoStore(this, this.options.store() == StoreKind.MONGODB);
			for (int i = 0; i < count; i++) {
				startInstance();
			}
			while (!this.ending) {
				this.scheduler.pause(OBSERVATION_NANOS);
				this.scheduler.atomically(this::observe);
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
		return this.scheduler.in(this.server, () -> store().remaining(name));
	}

	private List<JobRun> storedRuns(String job) {
		return this.scheduler.in(this.server, () -> store().runs(job));
	}

	private boolean observe() {
		for (LockInfo lock : store().locks()) {
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
		this.plannedTimes.gone(instance.name());
		this.instances.remove(instance);
		this.closed.add(instance);
		instance.close(this.scheduler.random().nextBoolean(), this::startInstance);
	}

	/**
	 * Let an instance disappear, and replace it a little later.
	 */
	void kill(Instance instance) {
		this.journal.add("kill " + instance.name());
		this.plannedTimes.gone(instance.name());
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

	RequestedRuns requestedRuns() {
		return this.requestedRuns;
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
		return this.scheduler.in(this.server, () -> store().time());
	}

	void disturbReports(Instance instance) {
		store().disturbReports(instance);
	}

	/**
	 * Whether the instances are of two versions of an application.
	 */
	boolean hasVersions() {
		return this.versions;
	}

	Store store() {
		if (this.store == null) {
			throw new IllegalStateException("The server is not started");
		}
		return this.store;
	}

}
