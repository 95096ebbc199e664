package dev.dblock.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import dev.dblock.benchmarks.ServerCounters.Rates;
import dev.dblock.benchmarks.WorkerMain.Job;
import org.bson.Document;

/**
 * P6: very many threads wait for a lock that is held for a long time.
 */
final class WaitersCase implements BenchmarkCase {

	private static final int PROCESSES = 4;

	private static final String NAME = "long-hold";

	private static final String ACQUISITION = "findAndModify";

	@Override
	public String id() {
		return "P6";
	}

	@Override
	public String title() {
		return "waiting threads in %d JVMs behind one long hold: commands from clients".formatted(PROCESSES);
	}

	@Override
	public List<Line> run(Bench bench) throws Exception {
		int threads = bench.pick(250, 50);
		List<Worker> workers = bench.workers(PROCESSES);
		Workers.callAll(workers, Job.DISCONNECT.order());
		Locks locks = bench.lab().locks(Subject.DBLOCK);
		try (ServerCounters counters = new ServerCounters(bench.addresses())) {
			// Wait until the disconnected clients are gone, and until a release stream
			// opened by other cases is closed
			TimeUnit.SECONDS.sleep(bench.pick(35, 1));
			Rates idle = counters.watch(bench.pick(15, 2));
			Locks.Section section = locks.enter(NAME);
			Workers.callAll(workers, Job.WAIT.order().append("name", NAME).append("threads", threads));
			TimeUnit.SECONDS.sleep(bench.pick(3, 1));
			Rates waiting = counters.watch(bench.pick(20, 3));
			long before = counters.count(ACQUISITION);
			section.leave();
			TimeUnit.SECONDS.sleep(1);
			long winners = sum(Workers.callAll(workers, Job.GRANTED.order()), "granted");
			long asked = counters.count(ACQUISITION) - before;
			long start = System.nanoTime();
			long passed = sum(Workers.callAll(workers, Job.PROCEED.order()), "passed");
			double nanos = System.nanoTime() - start;
			List<Line> lines = new ArrayList<>();
			lines.add(Line.absolute(id(), "%,d %s".formatted(threads * PROCESSES, title()),
					Quantity.perSecond(waiting.total() - idle.total()), Bound.atMost(10),
					"by the servers' counters: %s while they wait, less %s before any of the four JVMs had connected"
						.formatted(waiting, idle)));
			lines.add(Line.absolute(id(), "let in by one release, a second after it", Quantity.count(winners),
					Bound.exactly(1), ""));
			lines.add(Line.absolute(id(), "acquisitions sent for one release, until a second after it",
					Quantity.count(asked), Bound.atMost(PROCESSES),
					"%s, by the servers' counters: who is woken asks".formatted(ACQUISITION)));
			lines.add(Line.absolute(id(), "let in when each leaves at once", Quantity.count(passed),
					Bound.exactly(threads * PROCESSES), "after another " + Quantity.nanos(nanos)));
			return lines;
		}
	}

	private static long sum(List<Document> answers, String key) {
		return answers.stream().mapToLong((answer) -> Numbers.integer(answer, key)).sum();
	}

}
