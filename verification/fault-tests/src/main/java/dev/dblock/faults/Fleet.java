package dev.dblock.faults;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * Workers of a run, by their numbers, which begin with 1.
 */
final class Fleet implements AutoCloseable {

	private static final List<String> JVM = List.of("-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
			"-Xshare:auto");

	/**
	 * The worker with an adjustable clock, if clocks can be set. Reading such a clock is
	 * expensive.
	 */
	static final int WITH_CLOCK = 1;

	private static final Duration START_LIMIT = Duration.ofMinutes(5);

	private static final int STOP_SECONDS = 120;

	private final Path folder;

	private final List<String> properties;

	private final long seed;

	private final @Nullable FakeTime clocks;

	private final String classPath;

	private final Program program;

	private final Map<Integer, Child> workers = new HashMap<>();

	private final List<Life> lives = new ArrayList<>();

	Fleet(Path folder, String uri, long seed, @Nullable FakeTime clocks, String classPath, List<String> properties) {
		this(folder, uri, seed, clocks, classPath, properties, new Program(FaultWorker.class,
				(worker) -> worker == WITH_CLOCK, (life) -> Records.haveBegun(folder, life.worker, life.life)));
	}

	Fleet(Path folder, String uri, long seed, @Nullable FakeTime clocks, String classPath, List<String> properties,
			Program program) {
		this.program = program;
		this.folder = folder;
		this.seed = seed;
		this.clocks = clocks;
		this.classPath = classPath;
		this.properties = new ArrayList<>(properties);
		this.properties.addAll(List.of("--spring.main.banner-mode=off",
				"--dblock.clock-allowance=" + LockName.CLOCK_ALLOWANCE.toMillis() + "ms", "--faults.uri=" + uri));
	}

	/**
	 * Return the address at which a worker reaches the servers.
	 */
	static String route(int worker) {
		return "127.0." + worker + ".1";
	}

	static String name(int worker) {
		return "worker-" + worker;
	}

	synchronized void start(int worker) {
		int life = (int) this.lives.stream().filter((other) -> other.worker == worker).count() + 1;
		String name = name(worker);
		List<String> options = new ArrayList<>(JVM);
		options.addAll(List.of("-cp", this.classPath));
		List<String> arguments = new ArrayList<>(List.of(this.folder.toString(), Integer.toString(worker),
				Integer.toString(life), Long.toString(this.seed)));
		arguments.addAll(this.properties);
		arguments.addAll(List.of("--dblock.acquirer=" + name + "-" + life, "--faults.route=" + route(worker),
				"--spring.mongodb.uri=${faults.uri}&appName=" + name));
		Map<String, String> environment = (this.clocks != null && this.program.hasClock.test(worker))
				? this.clocks.environment(name) : Map.of();
		this.workers.put(worker, Child.startJvm(name, this.folder, options, environment, this.program.main, arguments));
		this.lives.add(new Life(worker, life, 0));
	}

	Child worker(int worker) {
		Child child = this.workers.get(worker);
		if (child == null) {
			throw new IllegalStateException("worker " + worker + " was never started");
		}
		return child;
	}

	/**
	 * Kill a worker.
	 */
	synchronized void kill(int worker) {
		worker(worker).kill();
		this.lives.replaceAll((life) -> (life.worker == worker && life.endNanos == 0)
				? new Life(worker, life.life, System.nanoTime()) : life);
	}

	synchronized List<Life> lives() {
		return List.copyOf(this.lives);
	}

	/**
	 * Return whether the current process of a worker has begun to work.
	 */
	boolean isWorking(int worker) {
		return hasBegun(
				lives().stream().filter((life) -> life.worker == worker).reduce((one, next) -> next).orElseThrow());
	}

	/**
	 * Wait until all workers have begun to work.
	 */
	void awaitWorking() throws InterruptedException {
		long end = System.nanoTime() + START_LIMIT.toNanos();
		for (int worker : numbers()) {
			while (!isWorking(worker)) {
				if (!worker(worker).isAlive() || System.nanoTime() > end) {
					throw new IllegalStateException("worker " + worker + " does not work; its log says why");
				}
				Thread.sleep(50);
			}
		}
	}

	/**
	 * Stop all workers.
	 * @return the processes that never began to work, or did not end
	 */
	List<String> stop(Stamps stamps) throws InterruptedException {
		stamps.stop();
		List<String> stuck = new ArrayList<>(idle());
		for (int number : numbers()) {
			Child child = worker(number);
			if (!child.await(STOP_SECONDS)) {
				child.dumpThreads();
				child.await(2);
				stuck.add(child.name());
			}
		}
		return stuck;
	}

	/**
	 * Return the processes that never began to work.
	 */
	List<String> idle() {
		return lives().stream()
			.filter((life) -> !hasBegun(life))
			.map((life) -> "worker-%s (life %s), which never began".formatted(life.worker, life.life))
			.toList();
	}

	private boolean hasBegun(Life life) {
		return this.program.hasBegun.test(life);
	}

	/**
	 * Return the folder of the workers' records.
	 */
	Path folder() {
		return this.folder;
	}

	List<Integer> numbers() {
		return this.workers.keySet().stream().sorted().toList();
	}

	@Override
	public void close() {
		this.workers.values().forEach(Child::kill);
	}

	/**
	 * Process of a worker.
	 *
	 * @param worker the number of the worker
	 * @param life the number of the worker's process
	 * @param endNanos when it was killed; zero if it was not
	 */
	record Life(int worker, int life, long endNanos) {
	}

	/**
	 * Program of the workers.
	 *
	 * @param main the main class
	 * @param hasClock which workers have adjustable clocks
	 * @param hasBegun whether a process has begun to work
	 */
	record Program(Class<?> main, IntPredicate hasClock, Predicate<Life> hasBegun) {
	}

}
