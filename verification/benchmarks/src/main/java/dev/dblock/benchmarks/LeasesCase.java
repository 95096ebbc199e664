package dev.dblock.benchmarks;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import dev.dblock.benchmarks.WorkerMain.Job;
import org.bson.Document;

/**
 * P7: one process holds very many locks.
 */
final class LeasesCase implements BenchmarkCase {

	/**
	 * Half of the lease. A lease is renewed after a third of its time.
	 */
	private static final double LATE_NANOS = 15e9;

	@Override
	public String id() {
		return "P7";
	}

	@Override
	public String title() {
		return "held leases";
	}

	@Override
	public List<Line> run(Bench bench) throws Exception {
		int count = bench.pick(10_000, 1000);
		Document answer;
		try (Worker worker = Worker.start(bench.addresses())) {
			answer = worker
				.call(Job.HOLD_LEASES.order().append("count", count).append("millis", bench.pick(31_000, 11_000)));
		}
		String what = "%,d %s: ".formatted(count, title());
		List<Long> rounds = answer.getList("rounds", Number.class).stream().map(Number::longValue).toList();
		List<Line> lines = new ArrayList<>();
		lines
			.add(Line.absolute(id(), what + "most commands in a renewal round", Quantity.count(Collections.max(rounds)),
					Bound.atMost(10), "all that the process sent in each 10 s: " + rounds));
		lines.add(Line.absolute(id(), what + "least that was left of any of them",
				Quantity.nanos(Numbers.real(answer, "shortestMillis") * 1e6), Bound.atLeast(LATE_NANOS),
				"of 30 s, looked at every 100 ms; due at 20 s"));
		lines.add(Line.absolute(id(), what + "lost", Quantity.count(Numbers.integer(answer, "lost")), Bound.atMost(0),
				""));
		lines.add(Line.absolute(id(), what + "memory for each", Quantity.bytes(Numbers.real(answer, "bytesPerLease")),
				Bound.atMost(2000), "heap after collection, before and while they are held; name and handle included"));
		return lines;
	}

}
