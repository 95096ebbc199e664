package dev.dblock.simulation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import dev.dblock.LockTemplate;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.core.EngineRemains;
import dev.dblock.core.SimulatedEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.settings.EngineSettings;
import dev.dblock.simulation.scheduler.SimulatedProcess;
import dev.dblock.simulation.scheduler.SimulatedThread;
import org.jspecify.annotations.Nullable;

import org.springframework.context.ConfigurableApplicationContext;

/**
 * A simulated application: a process with an engine, and threads that work under locks.
 */
final class Instance {

	/** What {@link DefaultLockEngine#close()} promises, and as much for stalls. */
	private static final long LONGEST_CLOSE_NANOS = TimeUnit.SECONDS.toNanos(26);

	private static final long SHUTDOWN_NOTICE_NANOS = 500_000_000;

	private static final long OBSERVED_NANOS = TimeUnit.SECONDS.toNanos(8);

	private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final World world;

	private final SimulatedProcess process;

	private final DefaultLockEngine engine;

	private final LockTemplate template;

	private @Nullable ConfigurableApplicationContext application;

	private final List<SimulatedThread> workers = new ArrayList<>();

	private final Map<String, Integer> waiting = new HashMap<>();

	private int working;

	private int resting;

	private long stops;

	private long clocksChangedNanos = Long.MIN_VALUE / 2;

	private boolean closing;

	/**
	 * Create the engine of a process. Called in a thread of this process.
	 */
	Instance(World world, SimulatedProcess process) {
		this.world = world;
		this.process = process;
		this.engine = SimulatedEngine.create(world.store().open(this), EngineSettings.defaults(process.name()),
				ScheduledWork.counting(world));
		this.template = new DefaultLockTemplate(this.engine);
	}

	void startWorkers(int count) {
		for (int i = 0; i < count; i++) {
			this.working++;
			this.workers.add(this.world.scheduler().start(this.process, "worker-" + i, this::work));
		}
	}

	/**
	 * Start an application with scheduled jobs.
	 */
	void startJobs() {
		this.world.scheduler().initialize(() -> this.application = ScheduledWork.start(this.world, this));
	}

	private void work() {
		Work work = new Work(this.world, this, this.world.scheduler().requireCurrent());
		while (!this.closing && this.world.beginSection()) {
			rest();
			work.section();
		}
		this.working--;
	}

	private void rest() {
		this.resting++;
		while (this.world.isHeld() && !this.closing) {
			this.world.scheduler().pause(REST_NANOS);
		}
		this.resting--;
	}

	/**
	 * Whether no worker is in a section.
	 */
	boolean isResting() {
		return this.resting == this.working;
	}

	String name() {
		return this.process.name();
	}

	SimulatedProcess process() {
		return this.process;
	}

	DefaultLockEngine engine() {
		return this.engine;
	}

	LockTemplate template() {
		return this.template;
	}

	/**
	 * Interrupt any of the workers, from another thread.
	 */
	void interruptWorker() {
		if (!this.workers.isEmpty()) {
			SimulatedThread worker = this.workers.get(this.world.scheduler().random().nextInt(this.workers.size()));
			this.world.journal().count("interrupts");
			this.world.scheduler().start(this.process, "interrupt", () -> {
				this.world.journal().add("interrupt " + worker.name());
				worker.thread().interrupt();
			});
		}
	}

	boolean isClosing() {
		return this.closing;
	}

	boolean isIdle() {
		return this.working == 0;
	}

	/**
	 * Count threads that wait for a lock.
	 */
	void waiting(String name, int change) {
		this.waiting.merge(name, change, Integer::sum);
	}

	boolean wants(String name) {
		return !this.closing && !this.process.isStopped() && this.waiting.getOrDefault(name, 0) > 0;
	}

	/**
	 * Return how often this process has been stopped.
	 */
	long stops() {
		return this.stops;
	}

	/**
	 * Stop the process for a while.
	 * @param suspended whether its monotonic clock stands still meanwhile, as that of a
	 * suspended machine does
	 */
	void stop(long nanos, boolean suspended) {
		if (this.process.isStopped()) {
			return;
		}
		this.stops++;
		this.process.setStopped(true);
		this.world.journal().add((suspended ? "suspend " : "stop ") + name());
		this.world.scheduler().after(nanos, () -> {
			if (suspended) {
				this.process.suspended(nanos);
				clocksChanged();
			}
			this.process.setStopped(false);
			this.process.troubled(this.world.scheduler().now());
			this.world.journal().add("continue " + name());
		});
	}

	/**
	 * Record that a clock was stepped, or stood still.
	 */
	void clocksChanged() {
		this.clocksChangedNanos = this.world.scheduler().now();
		this.process.troubled(this.clocksChangedNanos);
	}

	/**
	 * Whether the engine has had time to observe the last change of its clocks. A change
	 * that follows at once could hide the one before, which nothing can detect.
	 */
	boolean hasObservedClocks() {
		return this.world.scheduler().now() - this.clocksChangedNanos > OBSERVED_NANOS;
	}

	/**
	 * Close the engine as an application does that shuts down, in a thread of its own.
	 * @param announced whether waiting threads are refused a moment before
	 * @param then is called when it is closed
	 */
	void close(boolean announced, Runnable then) {
		this.closing = true;
		this.world.journal().add("shut down " + name());
		this.world.scheduler().start(this.process, "shutdown", () -> {
			if (announced) {
				this.engine.refuseWaiters();
				this.world.scheduler().pause(SHUTDOWN_NOTICE_NANOS);
			}
			long began = this.world.scheduler().now();
			long before = this.stops;
			if (this.application != null) {
				this.application.close();
			}
			this.engine.close();
			long took = this.world.scheduler().now() - began;
			if (took > LONGEST_CLOSE_NANOS && this.stops == before) {
				this.world.journal()
					.violation("the engine of %s was closed in %d ms".formatted(name(), took / 1_000_000));
			}
			this.world.journal().add("closed " + name());
			this.world.judge().shutDown(this);
			then.run();
		});
	}

	/**
	 * Return what the engine has kept though no work uses it.
	 */
	String remains() {
		return EngineRemains.of(this.engine, this.closing);
	}

}
