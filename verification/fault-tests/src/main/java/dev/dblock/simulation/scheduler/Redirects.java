package dev.dblock.simulation.scheduler;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * Called by instrumented code in place of methods of the JDK. A thread that is not
 * simulated calls the original method.
 */
public final class Redirects {

	private Redirects() {
	}

	public static long nanoTime() {
		SimulatedThread thread = Scheduler.current();
		return (thread != null) ? thread.process().nanoTime(Scheduler.active().read(thread)) : System.nanoTime();
	}

	public static long currentTimeMillis() {
		SimulatedThread thread = Scheduler.current();
		return (thread != null) ? thread.process().wallMillis(Scheduler.active().read(thread))
				: System.currentTimeMillis();
	}

	/**
	 * Return the wall clock, in nanoseconds after a number of seconds.
	 */
	public static long getNanoTimeAdjustment(long seconds) {
		return TimeUnit.MILLISECONDS.toNanos(currentTimeMillis() - TimeUnit.SECONDS.toMillis(seconds));
	}

	public static void park() {
		park(null);
	}

	public static void park(@Nullable Object blocker) {
		SimulatedThread thread = Scheduler.current();
		if (thread != null) {
			Scheduler.active().park(thread, blocker);
		}
		else {
			LockSupport.park(blocker);
		}
	}

	public static void parkNanos(long nanos) {
		parkNanos(null, nanos);
	}

	public static void parkNanos(@Nullable Object blocker, long nanos) {
		SimulatedThread thread = Scheduler.current();
		if (thread != null) {
			Scheduler.active().park(thread, blocker, nanos);
		}
		else {
			LockSupport.parkNanos(blocker, nanos);
		}
	}

	public static void sleep(long millis) throws InterruptedException {
		sleep(Duration.ofMillis(millis));
	}

	public static void sleep(long millis, int nanos) throws InterruptedException {
		sleep(Duration.ofMillis(millis).plusNanos(nanos));
	}

	public static void sleep(Duration duration) throws InterruptedException {
		if (Scheduler.current() == null) {
			Thread.sleep(duration.toMillis(), duration.toNanosPart() % 1_000_000);
			return;
		}
		long start = nanoTime();
		for (long left = duration.toNanos(); left > 0; left = duration.toNanos() - (nanoTime() - start)) {
			if (Thread.interrupted()) {
				throw new InterruptedException();
			}
			parkNanos(left);
		}
	}

	/**
	 * Create the thread of a pool or another factory.
	 */
	public static @Nullable Thread newThread(ThreadFactory factory, Runnable task) {
		SimulatedThread thread = Scheduler.current();
		Thread real = factory.newThread(task);
		return (thread != null) ? Scheduler.active().create(thread.process(), real.getName(), task).thread() : real;
	}

	/**
	 * Create a thread in place of a constructor.
	 */
	public static Thread thread(Runnable task, String name) {
		SimulatedThread thread = Scheduler.current();
		return (thread != null) ? Scheduler.active().create(thread.process(), name, task).thread()
				: new Thread(task, name);
	}

	public static Thread thread(@Nullable ThreadGroup group, Runnable task, String name, long stack, boolean inherit) {
		return (Scheduler.current() != null) ? thread(task, name) : new Thread(group, task, name, stack, inherit);
	}

	/**
	 * Execute a task. Executors that start a thread for each task use no thread factory.
	 */
	public static void execute(Executor executor, Runnable task) {
		SimulatedThread thread = Scheduler.current();
		if (thread != null && executor.getClass().getSimpleName().equals("SimpleAsyncTaskExecutor")) {
			Scheduler.active().start(thread.process(), "call", task);
		}
		else {
			executor.execute(task);
		}
	}

	public static long nextLong(Random random, long origin, long bound) {
		return (Scheduler.current() != null) ? Scheduler.active().random().nextLong(origin, bound)
				: random.nextLong(origin, bound);
	}

	public static void shuffle(List<?> list) {
		if (Scheduler.current() != null) {
			Collections.shuffle(list, Scheduler.active().random());
		}
		else {
			Collections.shuffle(list);
		}
	}

	public static UUID randomUUID() {
		if (Scheduler.current() == null) {
			return UUID.randomUUID();
		}
		Random random = Scheduler.active().random();
		return new UUID(random.nextLong(), random.nextLong());
	}

	/**
	 * Keep an object to which a weak reference is created, since otherwise the garbage
	 * collection of the real JVM would have a part in the simulation.
	 */
	public static void keep(Object referent) {
		if (Scheduler.current() != null) {
			Scheduler.active().keep(referent);
		}
	}

	/**
	 * Called when a method of dblock begins.
	 */
	public static void entered(String place) {
		SimulatedThread thread = Scheduler.current();
		if (thread != null) {
			Scheduler.active().entered(thread, place);
		}
	}

	/**
	 * Enter the monitor of an object of dblock. Threads that are not simulated have no
	 * competitors, since they run while no simulated thread does.
	 */
	public static void enterMonitor(Object object) {
		SimulatedThread thread = Scheduler.current();
		if (thread != null) {
			Scheduler.active().enter(thread, object);
		}
	}

	public static void leaveMonitor(Object object) {
		SimulatedThread thread = Scheduler.current();
		if (thread != null) {
			Scheduler.active().leave(thread, object);
		}
	}

	/**
	 * Called when a monitor of the JDK is about to be entered.
	 */
	public static void beginMonitor() {
		uninterruptible(1);
	}

	public static void endMonitor() {
		uninterruptible(-1);
	}

	private static void uninterruptible(int change) {
		SimulatedThread thread = Scheduler.current();
		if (thread != null) {
			thread.uninterruptible(change);
		}
	}

	public static void beginInitializer() {
		initializing(1);
	}

	public static void endInitializer() {
		initializing(-1);
	}

	private static void initializing(int change) {
		SimulatedThread thread = Scheduler.current();
		if (thread != null) {
			thread.initializing(change);
		}
	}

}
