package dev.dblock.benchmarks;

import java.util.List;

import dev.dblock.benchmarks.WorkerMain.Job;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.StartedServer;
import org.bson.Document;

/**
 * P10: one process uses very many names once each. The case measures the memory of that
 * process, so a standalone server is sufficient, and it handles that many writes faster.
 */
final class UsedNamesCase implements BenchmarkCase {

	private static final long MOST_BYTES = 500_000;

	@Override
	public String id() {
		return "P10";
	}

	@Override
	public String title() {
		return "different names used once each";
	}

	@Override
	public List<Line> run(Bench bench) throws Exception {
		int count = bench.pick(1_000_000, 20_000);
		Document answer;
		try (StartedServer server = StartedServer.start(MongoServerKind.STANDALONE);
				Worker worker = Worker.start(new Addresses(server.server().uri(), "benchmarks", null))) {
			answer = worker.call(Job.USE_NAMES.order().append("count", count));
		}
		String what = "%,d %s: ".formatted(count, title());
		Document objects = answer.get("moreObjects", Document.class);
		long moreObjects = objects.keySet().stream().mapToLong((type) -> Numbers.integer(objects, type)).sum();
		return List.of(Line.absolute(id(), what + "growth of the heap",
				Quantity.bytes(Numbers.real(answer, "moreBytes")), Bound.atMost(MOST_BYTES),
				"after collection, from %,d B after the first tenth; on a single server, %s".formatted(
						Numbers.integer(answer, "bytes"), Quantity.perSecond(Numbers.real(answer, "perSecond")))),
				Line.absolute(id(), what + "objects of dblock's that were not there after the first tenth",
						Quantity.count(moreObjects), Bound.atMost(0),
						(moreObjects > 0) ? objects.toJson() : "queues, leases, entries of caches and all others"),
				Line.absolute(id(), what + "threads that were not",
						Quantity.count(Numbers.integer(answer, "moreThreads")), Bound.atMost(0),
						"of %,d".formatted(Numbers.integer(answer, "threads"))));
	}

}
