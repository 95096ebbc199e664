package dev.dblock.faults;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.dblock.testing.Cluster;

/**
 * A million sections under one lock, shared by the threads of several processes, on three
 * undisturbed servers. Each section checks that it is alone and that its token is the
 * highest so far. Each is counted twice, by counters that lose counts if two sections
 * overlap. One counter is in shared memory and is updated at once. The other is in a
 * document of the same servers, to which a process adds its sections at the first section
 * after each grant, and otherwise some hundred at a time.
 */
final class MillionSections {

	private static final Duration LIMIT = Duration.ofMinutes(30);

	/** So long that a busy machine causes no election. */
	private static final Duration ELECTION_TIMEOUT = Duration.ofSeconds(20);

	private static final List<String> JVM = List.of("-Xmx256m", "-XX:+UseSerialGC", "-cp",
			System.getProperty("java.class.path"));

	private MillionSections() {
	}

	/**
	 * Run the sections.
	 * @return whether all checks passed
	 */
	static boolean run(Path mongod, Path folder, Options options) throws IOException, InterruptedException {
		long sections = options.number("sections", 1_000_000);
		int processes = (int) options.number("processes", 4);
		int threads = (int) options.number("threads", 4);
		Files.createDirectories(folder);
		try (Cluster cluster = Cluster.start(mongod); MongoClient client = MongoClients.create(cluster.uri())) {
			MillionCounter counter = new MillionCounter(
					client.getDatabase(MillionWorker.DATABASE).getCollection(MillionCounter.COLLECTION));
			counter.create();
			cluster.setElectionTimeout(ELECTION_TIMEOUT);
			long term = cluster.term();
			FaultLog log = new FaultLog();
			MillionRegister register = new MillionRegister(folder.resolve("register"));
			long start = System.nanoTime();
			List<Child> workers = IntStream.rangeClosed(1, processes)
				.mapToObj((process) -> Child.startJvm("worker-" + process, folder, JVM, Map.of(), MillionWorker.class,
						List.of(folder.toString(), cluster.uri(), Integer.toString(process), Integer.toString(threads),
								Long.toString(sections))))
				.toList();
			try (Standstills standstills = Standstills.watch(log)) {
				Child.awaitAll(workers, LIMIT, register::count);
			}
			finally {
				workers.forEach(Child::kill);
			}
			long seconds = Math.max(1, Duration.ofNanos(System.nanoTime() - start).toSeconds());
			List<Properties> results = results(folder, processes);
			System.out.printf(Locale.ROOT, "%,d sections in %d processes of %d threads, %,d s, %,d a second%n",
					register.count(), processes, threads, seconds, register.count() / seconds);
			boolean disturbed = !log.windows().isEmpty() || cluster.term() != term;
			return judge(sections, register.count(), counter.count(), results, disturbed);
		}
	}

	private static List<Properties> results(Path folder, int processes) throws IOException {
		List<Properties> results = new ArrayList<>();
		for (int process = 1; process <= processes; process++) {
			Properties result = new Properties();
			try (Reader reader = Files.newBufferedReader(folder.resolve("worker-" + process + ".properties"))) {
				result.load(reader);
			}
			results.add(result);
			System.out.printf(Locale.ROOT,
					"worker %d: %,d sections under %,d grants, %,d times after another process, %,d writes to the document; "
							+ "asked the server: first %s, signal %s, expiry %s, poll %s (%s of them although notified), "
							+ "slow poll %s%n",
					process, number(result, "sections"), number(result, "grants"), number(result, "fromOtherProcesses"),
					number(result, "documentWrites"), result.getProperty("asked.FIRST"),
					result.getProperty("asked.SIGNAL"), result.getProperty("asked.EXPIRY"),
					result.getProperty("asked.POLL"), result.getProperty("latePolls"),
					result.getProperty("asked.SLOW_POLL"));
		}
		return results;
	}

	private static long number(Properties result, String name) {
		return Long.parseLong(result.getProperty(name));
	}

	/**
	 * Judge the sections, and unless an election or a standstill of the machine disturbed
	 * the run, also how they were granted.
	 */
	private static boolean judge(long sections, long inMemory, long inDocument, List<Properties> results,
			boolean disturbed) {
		ToLongFunction<String> sum = (name) -> results.stream().mapToLong((result) -> number(result, name)).sum();
		boolean passed = true;
		passed &= check("sections by the processes' own counts", sum.applyAsLong("sections"), sections);
		passed &= check("sections by the counter in shared memory", inMemory, sections);
		passed &= check("sections by the counter in the document", inDocument, sections);
		passed &= check("overlaps", sum.applyAsLong("overlaps"), 0);
		passed &= check("tokens that were not the highest", sum.applyAsLong("staleTokens"), 0);
		passed &= check("processes that were notified of releases", sum.applyAsLong("notified"), results.size());
		boolean smooth = isSmooth(sum, results.size());
		if (!smooth && disturbed) {
			System.out.println("not judged, since the machine stood still or another primary was elected");
		}
		return passed && (smooth || disturbed);
	}

	private static boolean isSmooth(ToLongFunction<String> sum, int processes) {
		boolean passed = true;
		passed &= check("failed sections", sum.applyAsLong("errors"), 0);
		passed &= check("waiters that asked because they were not notified for long",
				sum.applyAsLong("asked.SLOW_POLL"), 0);
		passed &= check("waiters that asked because a lease was over", sum.applyAsLong("asked.EXPIRY"), 0);
		passed &= check("queues that were left", sum.applyAsLong("queuesLeft"), 0);
		// A waiter may be about to poll when its process begins to receive notifications
		passed &= checkAtMost("waiters that polled although they were notified", sum.applyAsLong("latePolls"),
				processes);
		return passed;
	}

	private static boolean checkAtMost(String what, long actual, long most) {
		boolean right = actual <= most;
		System.out.printf(Locale.ROOT, "%s  %s: %,d, at most %,d%n", right ? "ok    " : "FAILED", what, actual, most);
		return right;
	}

	private static boolean check(String what, long actual, long expected) {
		boolean right = actual == expected;
		System.out.printf(Locale.ROOT, "%s  %s: %,d%s%n", right ? "ok    " : "FAILED", what, actual,
				right ? "" : String.format(Locale.ROOT, ", expected %,d", expected));
		return right;
	}

}
