package dev.dblock.simulation;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import dev.dblock.LockException;
import dev.dblock.LockHandle;
import dev.dblock.LockHandles;
import dev.dblock.LockOptions;
import dev.dblock.engine.HeldLock;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobRun;
import dev.dblock.simulation.SimulationOptions.Mode;
import dev.dblock.simulation.SimulationOptions.StoreKind;
import dev.dblock.simulation.scheduler.Scheduler;
import dev.dblock.simulation.server.SimulatedServer;
import org.jspecify.annotations.Nullable;

/**
 * A scenario of three instances, one of which is killed where it enters a method. The
 * others have to get the lock as soon as its lease ends. Nothing else is disturbed.
 */
final class Kills {

	private static final Duration LEASE = Duration.ofSeconds(2);

	private static final Duration EXTENDED = Duration.ofSeconds(6);

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	private static final int PERIOD_MILLIS = 1000;

	/**
	 * The longest pause between two requests, a period, and the other instances' turns.
	 */
	private static final Duration BOUND = Duration.ofSeconds(3);

	private final Scenario scenario;

	private final long killedAt;

	private final Simulation simulation;

	private final World world;

	private final Scheduler scheduler;

	private @Nullable Instance killed;

	private long entered;

	/** Whether the first instance has ended its work, or was killed. */
	private boolean over;

	private int competitors;

	/**
	 * Create a case.
	 * @param killedAt the number of the method at which the instance is killed
	 */
	Kills(Scenario scenario, long seed, long killedAt, boolean traced) {
		this.scenario = scenario;
		this.killedAt = killedAt;
		this.simulation = new Simulation(new SimulationOptions(seed, 0, Mode.SAFETY, scenario.store, traced));
		this.world = this.simulation.world();
		this.scheduler = this.world.scheduler();
	}

	/**
	 * Run a scenario once without a kill, and once for each method.
	 * @param only the only kill; 0 for all
	 * @return whether no promise was broken
	 */
	static boolean all(Scenario scenario, long seed, long only, boolean traced) {
		String name = scenario.name().toLowerCase(Locale.ROOT);
		Kills undisturbed = new Kills(scenario, seed, Long.MAX_VALUE, traced && only == 0);
		int failures = undisturbed.run().passed() ? 0 : 1;
		long methods = undisturbed.entered;
		long hash = 17;
		for (long step = Math.max(1, only); step <= ((only > 0) ? only : methods); step++) {
			Result result = new Kills(scenario, seed, step, traced).run();
			hash = hash * 31 + result.hash();
			if (!result.passed()) {
				failures++;
				System.out.printf("replay: scripts/simulate --kills --scenario %s --seed %d --step %d --trace%n", name,
						seed, step);
			}
		}
		System.out.printf("seed %d: %s, %s, %d kills, hash %016x%n", seed,
				(failures == 0) ? "passed" : failures + " VIOLATIONS", name, (only > 0) ? 1 : methods, hash);
		return failures == 0;
	}

	private Result run() {
		this.world.start(3);
		this.world.network().setFaulty(false);
		this.scheduler.setStalled(false);
		this.scheduler.run(() -> this.world.instances().size() == 3, Long.MAX_VALUE);
		List<Instance> all = List.copyOf(this.world.instances());
		begin(all.get(0));
		for (Instance other : all.subList(1, all.size())) {
			this.competitors++;
			this.scheduler.after(this.scheduler.random().nextInt(1_000_000_000),
					() -> this.scheduler.start(other.process(), "competitor", () -> compete(other)));
		}
		await(() -> this.over, PATIENCE, "the work does not end");
		Duration allowance = NetworkRepository.KEPT.plus(this.scenario.lease.dividedBy(1000));
		await(() -> this.competitors == 0, this.scenario.lease.plus(allowance).plus(BOUND),
				"the others do not get the lock");
		boolean[] checked = new boolean[1];
		this.world.atServer(() -> {
			this.world.plannedTimes().requireRepeated(Long.MAX_VALUE);
			checked[0] = true;
		});
		await(() -> checked[0], PATIENCE, "the check does not end");
		this.simulation.finish();
		return this.simulation.result(0);
	}

	private void await(BooleanSupplier condition, Duration limit, String otherwise) {
		if (!this.scheduler.run(condition, this.scheduler.now() + limit.toNanos())) {
			this.simulation.reportStuck(otherwise);
		}
	}

	private void begin(Instance instance) {
		this.killed = instance;
		this.scheduler.watch(instance.process(), this::step);
		this.scheduler.start(instance.process(), "work", () -> {
			work(instance, this.scenario.work);
			this.over = true;
		});
	}

	private void step() {
		if (!this.over && this.killed != null && ++this.entered == this.killedAt) {
			this.world.kill(this.killed);
			this.over = true;
		}
	}

	/**
	 * Acquire the lock again and again, and once more when the work is over.
	 */
	private void compete(Instance instance) {
		boolean last;
		do {
			last = this.over;
			work(instance, this.scenario.competition);
			this.scheduler.pause(this.scheduler.random().nextInt(400_000_000));
		}
		while (!last);
		this.competitors--;
	}

	private void work(Instance instance, Part part) {
		try {
			part.run(this, instance);
		}
		catch (LockException ex) {
			this.world.journal().violation(instance.name() + " failed with " + ex, this.scheduler.requireCurrent());
		}
	}

	private ObservedLock acquire(Instance instance, LockOptions options) {
		LockHandle handle = instance.template().acquire("orders", options.waitUpTo(PATIENCE));
		return this.world.judge().entered(instance, handle);
	}

	private void hold(ObservedLock lock, int millis) {
		for (int i = 0; i < 4; i++) {
			if (lock.instance() == this.killed) {
				// Its work enters no method that is observed
				step();
			}
			this.scheduler.pause(TimeUnit.MILLISECONDS.toNanos(millis) / 4);
			this.world.judge().isHeld(lock);
		}
	}

	private void close(ObservedLock lock) {
		lock.handle().close();
		this.world.judge().closed(lock, false);
	}

	private void section(Instance instance, int millis) {
		ObservedLock lock = acquire(instance, LockOptions.lease(LEASE));
		hold(lock, millis);
		close(lock);
	}

	private void shortly(Instance instance) {
		section(instance, 100);
	}

	private void acquireAndRelease(Instance instance) {
		section(instance, 300);
	}

	private void renew(Instance instance) {
		section(instance, 2200);
	}

	/**
	 * Two further threads get the lock from the first one, within the process.
	 */
	private void handOver(Instance instance) {
		int[] threads = { 2 };
		for (int i = 0; i < 2; i++) {
			this.scheduler.start(instance.process(), "successor", () -> {
				work(instance, Kills::shortly);
				threads[0]--;
			});
		}
		section(instance, 200);
		while (threads[0] > 0) {
			this.scheduler.pause(10_000_000);
		}
	}

	private void extend(Instance instance) {
		ObservedLock lock = acquire(instance, LockOptions.lease(LEASE));
		lock.handle().extend(EXTENDED);
		hold(lock, 100);
		((HeldLock) lock.handle()).extendExactly(LEASE, Duration.ZERO);
		hold(lock, 100);
		close(lock);
	}

	private void holdAtLeast(Instance instance) {
		ObservedLock lock = acquire(instance, LockOptions.lease(LEASE).minHold(Duration.ofSeconds(1)));
		close(lock);
	}

	private void future(Instance instance) {
		CompletionStage<Integer> stage = instance.template()
			.executeAsync("orders", LockOptions.lease(LEASE).waitUpTo(PATIENCE), () -> {
				CompletableFuture<Integer> future = new CompletableFuture<>();
				this.scheduler.start(instance.process(), "future", () -> {
					this.scheduler.pause(100_000_000);
					future.complete(1);
				});
				return future;
			});
		while (stage != null && !stage.toCompletableFuture().isDone()) {
			this.scheduler.pause(10_000_000);
		}
	}

	private void several(Instance instance) {
		try (LockHandles handles = instance.template()
			.acquireAll(List.of("stock", "orders"), LockOptions.lease(LEASE).waitUpTo(PATIENCE))) {
			this.scheduler.pause(100_000_000);
			handles.ensureHeld();
		}
	}

	private void shutDown(Instance instance) {
		this.scheduler.start(instance.process(), "holder", () -> work(instance, Kills::acquireAndRelease));
		this.scheduler.pause(400_000_000);
		instance.engine().close();
	}

	private void commit(Instance instance) {
		Ledger ledger = Objects.requireNonNull(this.world.store().ledger(instance));
		ObservedLock lock = acquire(instance, LockOptions.lease(LEASE));
		ledger.write(lock, false, () -> hold(lock, 40));
		close(lock);
	}

	private void runOnce(Instance instance) {
		run(instance, false);
	}

	private void runAgain(Instance instance) {
		run(instance, true);
	}

	/**
	 * Run the latest planned time, or the next one that no other instance has.
	 */
	private void run(Instance instance, boolean rerun) {
		while (true) {
			long now = this.world.serverTime().toEpochMilli();
			Schedule planned = new Schedule.Planned(Instant.ofEpochMilli(now - now % PERIOD_MILLIS));
			LockHandle handle = instance.template()
				.tryAcquire("report", LockOptions.lease(LEASE).claim(JobFiring.of(null, planned, rerun)))
				.orElse(null);
			if (handle != null) {
				ObservedLock lock = this.world.judge().entered(instance, handle);
				PlannedTimes.Run run = this.world.plannedTimes()
					.begun(instance, JobRun.of(handle).orElseThrow(), rerun, true);
				hold(lock, 300);
				run.done();
				close(lock);
				return;
			}
			this.scheduler.pause(100_000_000);
		}
	}

	/**
	 * A scenario.
	 */
	enum Scenario {

		ACQUIRE(Kills::acquireAndRelease, LEASE), RENEW(Kills::renew, LEASE), HAND_OVER(Kills::handOver, LEASE),
		EXTEND(Kills::extend, EXTENDED), HOLD_AT_LEAST(Kills::holdAtLeast, LEASE), FUTURE(Kills::future, LEASE),
		SEVERAL(Kills::several, LEASE), SHUT_DOWN(Kills::shutDown, LEASE), RUN(Kills::runOnce, Kills::runOnce, LEASE),
		RERUN(Kills::runAgain, Kills::runAgain, LEASE), FENCED_COMMIT(Kills::commit, Kills::commit,
				LEASE.plusMillis(SimulatedServer.TRANSACTION_MILLIS), StoreKind.MONGODB);

		private final Part work;

		private final Part competition;

		/** The longest lease or transaction that the work can leave. */
		private final Duration lease;

		private final StoreKind store;

		Scenario(Part work, Duration lease) {
			this(work, Kills::shortly, lease);
		}

		Scenario(Part work, Part competition, Duration lease) {
			this(work, competition, lease, StoreKind.MEMORY);
		}

		Scenario(Part work, Part competition, Duration lease, StoreKind store) {
			this.work = work;
			this.competition = competition;
			this.lease = lease;
			this.store = store;
		}

	}

	/**
	 * What one thread of an instance does.
	 */
	@FunctionalInterface
	private interface Part {

		void run(Kills kills, Instance instance);

	}

}
