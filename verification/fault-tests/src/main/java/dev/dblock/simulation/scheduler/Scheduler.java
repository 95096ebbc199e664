package dev.dblock.simulation.scheduler;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Runs the threads of all simulated processes, one at a time, in the thread that calls
 * {@link #run}. A random number generator decides which of them continues, and where it
 * is stalled. Time advances when no thread can continue. There is one scheduler at a
 * time.
 */
public final class Scheduler {

	private static final long START_NANOS = 1_000_000_000_000L;

	/** Otherwise a thread that waits by reading a clock would wait forever. */
	private static final long READING_NANOS = 50;

	private static final long RARE_ONE_OF = 2000;

	private static final int RARE_WEIGHT = 16;

	private static final long NOTICEABLE_NANOS = 50_000_000;

	private static final int FEWEST_METHODS_BETWEEN_STALLS = 100;

	private static @Nullable Scheduler active;

	private final Random random;

	private final List<SimulatedThread> ready = new ArrayList<>();

	private final NavigableSet<Timer> timers = new TreeSet<>(
			Comparator.comparingLong(Timer::at).thenComparingLong(Timer::number));

	private final Set<SimulatedThread> threads = new LinkedHashSet<>();

	private final Map<Object, SimulatedMonitor> monitors = new IdentityHashMap<>();

	private final List<Object> kept = new ArrayList<>();

	private final BiConsumer<SimulatedThread, Throwable> uncaught;

	private final @Nullable BiConsumer<SimulatedThread, String> trace;

	private @Nullable SimulatedThread running;

	private long now = START_NANOS;

	private long timerCount;

	private int threadCount;

	private final Map<String, int[]> calls = new HashMap<>();

	private long methods;

	private final int methodsBetweenStalls;

	private int methodsLeft;

	private boolean stalled = true;

	private @Nullable SimulatedProcess watched;

	private Runnable watcher = () -> {
	};

	private long steps;

	private long hash = 17;

	/**
	 * Create the only scheduler from now on.
	 * @param seed determines the order of all steps
	 * @param uncaught is called with a thread that ended by an exception
	 * @param trace is called before each step with the thread and the place where it
	 * continues; {@code null} for no trace
	 */
	public Scheduler(long seed, BiConsumer<SimulatedThread, Throwable> uncaught,
			@Nullable BiConsumer<SimulatedThread, String> trace) {
		this.random = new Random(seed);
		this.methodsBetweenStalls = FEWEST_METHODS_BETWEEN_STALLS << this.random.nextInt(6);
		this.uncaught = uncaught;
		this.trace = trace;
		active = this;
	}

	/**
	 * Return the thread that calls this method, if it is simulated.
	 */
	static @Nullable SimulatedThread current() {
		Scheduler scheduler = active;
		SimulatedThread running = (scheduler != null) ? scheduler.running : null;
		return (running != null && running.thread() == Thread.currentThread()) ? running : null;
	}

	static Scheduler active() {
		Scheduler scheduler = active;
		if (scheduler == null) {
			throw new IllegalStateException("There is no simulation");
		}
		return scheduler;
	}

	/**
	 * Return a time as seconds since the beginning.
	 */
	public static String readable(long nanos) {
		long micros = (nanos - START_NANOS) / 1000;
		return "%d.%06d".formatted(micros / 1_000_000, micros % 1_000_000);
	}

	public Random random() {
		return this.random;
	}

	public long now() {
		return this.now;
	}

	public long elapsedNanos() {
		return this.now - START_NANOS;
	}

	public long steps() {
		return this.steps;
	}

	/**
	 * Return a number that depends on the order and the times of all steps.
	 */
	public long hash() {
		return this.hash;
	}

	/**
	 * Return the threads that have not ended. One that was at a server when its process
	 * was killed is not among them, though it may only have parked since.
	 */
	public Set<SimulatedThread> threads() {
		this.threads.removeIf((thread) -> thread.process().isKilled());
		return this.threads;
	}

	public SimulatedProcess process(String name, double clockRate) {
		return new SimulatedProcess(name, this.now, clockRate);
	}

	/**
	 * Start a thread.
	 */
	public SimulatedThread start(SimulatedProcess process, String name, Runnable task) {
		SimulatedThread thread = create(process, name, task);
		thread.thread().start();
		return thread;
	}

	SimulatedThread create(SimulatedProcess process, String name, Runnable task) {
		SimulatedThread thread = new SimulatedThread(this, process, this.threadCount++, name, task);
		thread.thread().setUncaughtExceptionHandler((ended, ex) -> this.uncaught.accept(thread, ex));
		return thread;
	}

	/**
	 * Run an action between two steps.
	 * @param nanos the time until then
	 */
	public void after(long nanos, Runnable action) {
		add(nanos, action);
	}

	private Timer add(long nanos, Runnable action) {
		Timer timer = new Timer(this.now + nanos, this.timerCount++, action);
		this.timers.add(timer);
		return timer;
	}

	/**
	 * Set whether threads are stalled for some time where they enter methods. Otherwise,
	 * only others come first there.
	 */
	public void setStalled(boolean stalled) {
		this.stalled = stalled;
	}

	/**
	 * Call something wherever a thread of a process enters a method, and can be killed.
	 */
	public void watch(SimulatedProcess process, Runnable watcher) {
		this.watched = process;
		this.watcher = watcher;
	}

	/**
	 * Let a process disappear.
	 */
	public void kill(SimulatedProcess process) {
		process.kill();
		this.ready.removeIf((thread) -> thread.process() == process);
		this.threads.removeIf((thread) -> thread.process() == process);
		for (SimulatedMonitor monitor : List.copyOf(this.monitors.values())) {
			SimulatedThread owner = monitor.owner();
			if (owner != null && owner.process() == process) {
				monitor.free().forEach(this::retry);
			}
		}
	}

	/**
	 * Run threads until a condition is met.
	 * @param done the condition, which is checked between two steps
	 * @param until the latest time
	 * @return whether it is met
	 */
	public boolean run(BooleanSupplier done, long until) {
		while (!done.getAsBoolean()) {
			SimulatedThread next = takeReady();
			if (next != null) {
				step(next);
			}
			else if (this.timers.isEmpty() || this.timers.first().at() > until) {
				this.now = Math.max(this.now, until);
				return done.getAsBoolean();
			}
			else {
				fire();
			}
		}
		return true;
	}

	private @Nullable SimulatedThread takeReady() {
		int candidates = 0;
		for (SimulatedThread thread : this.ready) {
			candidates += thread.process().isRunning() ? 1 : 0;
		}
		if (candidates == 0) {
			return null;
		}
		int chosen = this.random.nextInt(candidates);
		for (Iterator<SimulatedThread> all = this.ready.iterator(); all.hasNext();) {
			SimulatedThread thread = all.next();
			if (thread.process().isRunning() && chosen-- == 0) {
				all.remove();
				return thread;
			}
		}
		throw new IllegalStateException();
	}

	private void step(SimulatedThread thread) {
		this.steps++;
		if (this.random.nextInt(20) == 0) {
			advance(this.random.nextInt(3_000_000));
		}
		this.hash = (this.hash * 31 + thread.number()) * 31 + this.now;
		if (this.trace != null) {
			this.trace.accept(thread, thread.place());
		}
		this.threads.add(thread);
		this.running = thread;
		try {
			thread.proceed();
		}
		finally {
			this.running = null;
		}
	}

	/**
	 * Advance the time, but not beyond a timer.
	 */
	private void advance(long nanos) {
		if (this.timers.isEmpty() || this.timers.first().at() > this.now + nanos) {
			this.now += nanos;
		}
	}

	private void fire() {
		Timer timer = this.timers.pollFirst();
		if (timer != null) {
			this.now = Math.max(this.now, timer.at());
			timer.action().run();
		}
	}

	void canContinue(SimulatedThread thread) {
		if (thread.process().isKilled() || thread.contended() != null) {
			// May have been at a server when its process was killed
			this.threads.removeIf((killed) -> killed == thread && thread.process().isKilled());
			return;
		}
		long delay = thread.takeDelay();
		if (delay > 0) {
			add(delay, () -> canContinue(thread));
		}
		else {
			this.ready.add(thread);
		}
	}

	void ended(SimulatedThread thread) {
		this.threads.remove(thread);
	}

	void keep(Object object) {
		this.kept.add(object);
	}

	/**
	 * Read the clock, which takes time.
	 */
	long read(SimulatedThread thread) {
		if (!thread.isInitializing()) {
			this.now += READING_NANOS;
		}
		return this.now;
	}

	/**
	 * Stall the thread now and then when it enters a method, and more often in methods
	 * that are rarely called.
	 */
	void entered(SimulatedThread thread, String place) {
		thread.at(place);
		if (thread.isInitializing()) {
			return;
		}
		if (thread.process() == this.watched && thread.isInterruptible()) {
			this.watcher.run();
			if (thread.process().isKilled()) {
				// It never continues
				stall(thread, 0);
			}
		}
		int[] calls = this.calls.computeIfAbsent(place, (key) -> new int[1]);
		this.methodsLeft -= (calls[0]++ * RARE_ONE_OF < this.methods++) ? RARE_WEIGHT : 1;
		if (this.methodsLeft <= 0) {
			this.methodsLeft = 1 + this.random.nextInt(2 * this.methodsBetweenStalls);
			if (thread.isInterruptible()) {
				locate(thread);
				stall(thread, stallNanos());
			}
		}
	}

	private long stallNanos() {
		int kind = this.random.nextInt(100);
		if (kind < 60 || !this.stalled) {
			return 0;
		}
		return (kind < 85) ? this.random.nextInt(3_000_000)
				: (kind < 98) ? this.random.nextInt(300_000_000) : this.random.nextInt(2_000_000_000);
	}

	/**
	 * Let others run, without the use of the permit that the thread may be waiting for.
	 */
	void stall(SimulatedThread thread, long nanos) {
		if (nanos > NOTICEABLE_NANOS) {
			thread.process().troubled(this.now + nanos);
		}
		delay(thread, nanos);
	}

	private void delay(SimulatedThread thread, long nanos) {
		thread.delay(nanos);
		Thread.yield();
		thread.takeDelay();
	}

	void park(SimulatedThread thread, @Nullable Object blocker) {
		locate(thread);
		LockSupport.park(blocker);
	}

	void park(SimulatedThread thread, @Nullable Object blocker, long nanos) {
		if (nanos > 0) {
			locate(thread);
			Timer timer = add(thread.process().simulatedNanos(nanos), () -> LockSupport.unpark(thread.thread()));
			LockSupport.park(blocker);
			this.timers.remove(timer);
		}
	}

	/**
	 * Wait without regard to interrupts, whose status is kept.
	 * @param nanos how long to wait
	 */
	public void pause(long nanos) {
		SimulatedThread thread = requireCurrent();
		thread.at("pause");
		delay(thread, nanos);
	}

	void enter(SimulatedThread thread, Object object) {
		while (true) {
			SimulatedMonitor monitor = this.monitors.computeIfAbsent(object, (key) -> new SimulatedMonitor());
			if (monitor.tryEnter(thread)) {
				return;
			}
			locate(thread);
			monitor.await(thread);
			thread.contend(monitor);
			Thread.yield();
			if (thread.contended() != null) {
				throw new IllegalStateException(thread + " waits for a monitor, but cannot be unmounted");
			}
		}
	}

	void leave(SimulatedThread thread, Object object) {
		SimulatedMonitor monitor = this.monitors.get(object);
		if (monitor == null) {
			throw new IllegalMonitorStateException(thread + " leaves a monitor that was freed");
		}
		monitor.leave(thread).forEach(this::retry);
		if (monitor.isUnused()) {
			this.monitors.remove(object);
		}
	}

	private void retry(SimulatedThread waiting) {
		waiting.contend(null);
		canContinue(waiting);
	}

	/**
	 * Replace the place of a thread by the line where it stops, for a trace.
	 */
	private void locate(SimulatedThread thread) {
		if (this.trace != null) {
			thread.at(StackWalker.getInstance()
				.walk((frames) -> frames.filter((frame) -> isOfInterest(frame.getClassName()))
					.findFirst()
					.map((frame) -> frame.getClassName() + "." + frame.getMethodName()
							+ ((frame.getLineNumber() > 0) ? ":" + frame.getLineNumber() : ""))
					.orElse("the JDK")));
		}
	}

	private static boolean isOfInterest(String className) {
		return className.startsWith("dev.dblock.") && !className.startsWith("dev.dblock.simulation.scheduler.");
	}

	/**
	 * Run code of another process, such as a server, in the current thread, which is not
	 * stalled meanwhile.
	 */
	public <T extends @Nullable Object> T in(SimulatedProcess process, Supplier<T> code) {
		SimulatedThread thread = requireCurrent();
		SimulatedProcess before = thread.enter(process);
		try {
			return atomically(code);
		}
		finally {
			thread.enter(before);
		}
	}

	/**
	 * Run code in the current thread that takes other steps the first time than later,
	 * since it initializes classes. It takes no time.
	 */
	public void initialize(Runnable code) {
		SimulatedThread thread = requireCurrent();
		thread.initializing(1);
		try {
			code.run();
		}
		finally {
			thread.initializing(-1);
		}
	}

	/**
	 * Run code in the current thread without stalling it.
	 */
	public <T extends @Nullable Object> T atomically(Supplier<T> code) {
		SimulatedThread thread = requireCurrent();
		thread.uninterruptible(1);
		try {
			return code.get();
		}
		finally {
			thread.uninterruptible(-1);
		}
	}

	/**
	 * Return the thread that calls this method.
	 */
	public SimulatedThread requireCurrent() {
		SimulatedThread thread = current();
		if (thread == null) {
			throw new IllegalStateException(Thread.currentThread() + " is not simulated");
		}
		return thread;
	}

	/**
	 * An action at a time. Those of the same time are done in the order of their numbers.
	 */
	private record Timer(long at, long number, Runnable action) {
	}

}
