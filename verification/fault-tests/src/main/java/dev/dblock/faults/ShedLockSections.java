package dev.dblock.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;

import dev.dblock.testing.Cluster;

/**
 * Ten thousand sections under one lock during a rolling update, on three undisturbed
 * servers: half of the processes use ShedLock's provider, and half use that of dblock
 * beside it. Each section checks that it is alone, and increments a counter in shared
 * memory that loses counts if two sections overlap.
 */
final class ShedLockSections {

	private static final Duration LIMIT = Duration.ofMinutes(30);

	private static final List<String> JVM = List.of("-Xmx256m", "-XX:+UseSerialGC", "-cp",
			System.getProperty("java.class.path"));

	private ShedLockSections() {
	}

	/**
	 * Run the sections.
	 * @return whether no sections overlapped and both halves had some
	 */
	static boolean run(Path mongod, Path folder, Options options) throws IOException, InterruptedException {
		long sections = options.number("sections", 10_000);
		int processes = (int) options.number("processes", 4);
		int threads = (int) options.number("threads", 2);
		Files.createDirectories(folder);
		try (Cluster cluster = Cluster.start(mongod)) {
			SectionRegister register = new SectionRegister(folder, processes);
			long start = System.nanoTime();
			List<Child> workers = IntStream.range(0, processes)
				.mapToObj((process) -> Child.startJvm("worker-" + (process + 1), folder, JVM, Map.of(),
						ShedLockWorker.class,
						List.of(folder.toString(), cluster.uri(), Integer.toString(process),
								Integer.toString(processes), Integer.toString(threads), Long.toString(sections))))
				.toList();
			try {
				Child.awaitAll(workers, LIMIT, register::count);
			}
			finally {
				workers.forEach(Child::kill);
			}
			long seconds = Math.max(1, Duration.ofNanos(System.nanoTime() - start).toSeconds());
			System.out.printf(Locale.ROOT, "%,d sections in %d processes of %d threads, %,d s%n", register.count(),
					processes, threads, seconds);
			return judge(sections, processes, register);
		}
	}

	private static boolean judge(long sections, int processes, SectionRegister register) {
		long entered = 0;
		long overlaps = 0;
		boolean passed = true;
		for (int process = 0; process < processes; process++) {
			entered += register.entered(process);
			overlaps += register.overlaps(process);
			passed &= check(
					"sections of worker %d, with %s".formatted(process + 1,
							ShedLockWorker.isOld(process) ? "ShedLock's provider" : "both providers"),
					register.entered(process), register.entered(process) > 0);
		}
		passed &= check("sections by the processes' own counts", entered, entered == sections);
		passed &= check("sections by the counter in shared memory", register.count(), register.count() == sections);
		return passed & check("overlaps", overlaps, overlaps == 0);
	}

	private static boolean check(String what, long actual, boolean right) {
		System.out.printf(Locale.ROOT, "%s  %s: %,d%n", right ? "ok    " : "FAILED", what, actual);
		return right;
	}

	/**
	 * What the processes share in addition to the lock. No change is atomic, so only the
	 * lock keeps the count correct.
	 */
	static final class SectionRegister {

		private static final int COUNT = 0;

		private static final int OCCUPANT = 1;

		private static final int OWN = 2;

		private final SharedLongs longs;

		SectionRegister(Path folder, int processes) {
			this.longs = new SharedLongs(folder.resolve("register"), OWN + 2 * processes);
		}

		long count() {
			return this.longs.get(COUNT);
		}

		void count(long count) {
			this.longs.set(COUNT, count);
		}

		long occupant() {
			return this.longs.get(OCCUPANT);
		}

		void occupant(long occupant) {
			this.longs.set(OCCUPANT, occupant);
		}

		long entered(int process) {
			return this.longs.get(OWN + 2 * process);
		}

		long overlaps(int process) {
			return this.longs.get(OWN + 2 * process + 1);
		}

		void report(int process, long entered, long overlaps) {
			this.longs.set(OWN + 2 * process, entered);
			this.longs.set(OWN + 2 * process + 1, overlaps);
		}

	}

}
