package dev.dblock.simulation.scheduler;

import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;

/**
 * A virtual thread of a simulated process, and the executor that the JDK asks to continue
 * it.
 */
public final class SimulatedThread implements Executor {

	/** The only way to give a virtual thread a scheduler of its own. */
	private static final Constructor<?> VIRTUAL_THREAD = constructor();

	private static final int REMEMBERED_STEPS = 12;

	private final Scheduler scheduler;

	private final int number;

	private final String name;

	private final Thread thread;

	private SimulatedProcess process;

	private @Nullable Runnable continuation;

	private int uninterruptible;

	private int initializers;

	private long delay;

	private @Nullable SimulatedMonitor contended;

	private String place = "start";

	private final String[] places = new String[REMEMBERED_STEPS];

	private final long[] times = new long[REMEMBERED_STEPS];

	private int remembered;

	SimulatedThread(Scheduler scheduler, SimulatedProcess process, int number, String name, Runnable task) {
		this.scheduler = scheduler;
		this.process = process;
		this.number = number;
		this.name = process.name() + "/" + name;
		try {
			this.thread = (Thread) VIRTUAL_THREAD.newInstance(this, this.name, 0, (Runnable) () -> {
				try {
					task.run();
				}
				finally {
					scheduler.ended(this);
				}
			});
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException("This JDK has other virtual threads", ex);
		}
	}

	private static Constructor<?> constructor() {
		try {
			Constructor<?> constructor = Class.forName("java.lang.VirtualThread")
				.getDeclaredConstructor(Executor.class, String.class, int.class, Runnable.class);
			constructor.setAccessible(true);
			return constructor;
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException("This JDK has other virtual threads", ex);
		}
	}

	/**
	 * Called by the JDK when the thread can continue.
	 */
	@Override
	public void execute(Runnable continuation) {
		this.continuation = continuation;
		this.scheduler.canContinue(this);
	}

	void proceed() {
		Runnable next = this.continuation;
		this.continuation = null;
		if (next != null) {
			remember();
			next.run();
		}
	}

	private void remember() {
		int slot = this.remembered++ % REMEMBERED_STEPS;
		this.places[slot] = this.place;
		this.times[slot] = this.scheduler.now();
	}

	/**
	 * Return the last steps of this thread, oldest first.
	 */
	public List<String> lastSteps() {
		List<String> steps = new ArrayList<>();
		for (int i = Math.max(0, this.remembered - REMEMBERED_STEPS); i < this.remembered; i++) {
			steps.add("%s continues after %s".formatted(Scheduler.readable(this.times[i % REMEMBERED_STEPS]),
					this.places[i % REMEMBERED_STEPS]));
		}
		steps.add("last method entered: " + this.place);
		return steps;
	}

	/**
	 * Return the name, which begins with that of the process.
	 */
	public String name() {
		return this.name;
	}

	public Thread thread() {
		return this.thread;
	}

	public SimulatedProcess process() {
		return this.process;
	}

	int number() {
		return this.number;
	}

	String place() {
		return this.place;
	}

	void at(String place) {
		this.place = place;
	}

	SimulatedProcess enter(SimulatedProcess other) {
		SimulatedProcess before = this.process;
		this.process = other;
		return before;
	}

	/**
	 * Whether other threads may run now. While a monitor of the JDK is held, its
	 * scheduling would be up to a thread of the JDK.
	 */
	boolean isInterruptible() {
		return this.uninterruptible == 0 && this.initializers == 0;
	}

	void uninterruptible(int change) {
		this.uninterruptible += change;
	}

	/**
	 * Whether a class is initialized, which happens only once per JVM and therefore must
	 * not influence what follows.
	 */
	boolean isInitializing() {
		return this.initializers > 0;
	}

	void initializing(int change) {
		this.initializers += change;
	}

	void delay(long nanos) {
		this.delay = nanos;
	}

	long takeDelay() {
		long nanos = this.delay;
		this.delay = 0;
		return nanos;
	}

	void contend(@Nullable SimulatedMonitor monitor) {
		this.contended = monitor;
	}

	@Nullable SimulatedMonitor contended() {
		return this.contended;
	}

	@Override
	public String toString() {
		return this.name + "#" + this.number;
	}

}
