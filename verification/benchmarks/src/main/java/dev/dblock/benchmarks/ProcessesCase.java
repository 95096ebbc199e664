package dev.dblock.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import dev.dblock.benchmarks.WorkerMain.Job;
import org.bson.Document;

/**
 * P5: several JVMs with many threads each compete for one lock.
 */
final class ProcessesCase implements BenchmarkCase {

	private static final int PROCESSES = 4;

	private static final int THREADS = 16;

	private static final List<Subject> SUBJECTS = List.of(Subject.DBLOCK, Subject.REDISSON);

	@Override
	public String id() {
		return "P5";
	}

	@Override
	public String title() {
		return "%d JVMs of %d threads, one name".formatted(PROCESSES, THREADS);
	}

	@Override
	public List<Line> run(Bench bench) throws Exception {
		List<Worker> workers = bench.workers(PROCESSES);
		Scores totals = new Scores();
		Scores shares = new Scores();
		long wrong = 0;
		for (int round = 0; round <= bench.pick(3, 1); round++) {
			for (Subject subject : SUBJECTS) {
				if (bench.has(subject)) {
					boolean warmup = round == 0;
					int millis = warmup ? bench.pick(3000, 500) : bench.pick(10_000, 2000);
					List<Document> answers = Workers.callAll(workers, order(subject, "processes-" + round, millis));
					wrong += answers.stream().mapToLong((answer) -> Numbers.integer(answer, "wrong")).sum();
					if (!warmup) {
						add(totals, shares, subject, answers);
					}
				}
			}
		}
		List<Line> lines = new ArrayList<>();
		lines.add(totals.line(id(), title(), Unit.PER_SECOND, Subject.REDISSON, Bound.atLeast(3)));
		double least = least(shares, Subject.DBLOCK);
		String note = "1 would be even; in each of %d rounds".formatted(shares.of(Subject.DBLOCK).size());
		lines.add(Line.absolute(id(), "least share of one JVM in its fair share, in 10 s",
				new Quantity(least, Unit.RATIO), Bound.atLeast(0.5), bench.has(Subject.REDISSON)
						? note + "; Redisson's " + Unit.RATIO.format(least(shares, Subject.REDISSON)) : note));
		lines.add(Line.absolute(id(), "two threads of a JVM inside, or a token too low", Quantity.count(wrong),
				Bound.atMost(0), ""));
		return lines;
	}

	private static Document order(Subject subject, String name, int millis) {
		return Job.CROWD.order(subject)
			.append("name", name)
			.append("threads", THREADS)
			.append("fromNanos", System.nanoTime() + Duration.ofSeconds(1).toNanos())
			.append("millis", millis);
	}

	private static void add(Scores totals, Scores shares, Subject subject, List<Document> answers) {
		List<Double> each = answers.stream().map((answer) -> Numbers.real(answer, "perSecond")).toList();
		double total = each.stream().mapToDouble(Double::doubleValue).sum();
		totals.add(subject, total);
		shares.add(subject, each.stream().mapToDouble((one) -> one * PROCESSES / total).min().orElse(0));
	}

	private static double least(Scores shares, Subject subject) {
		return shares.of(subject).stream().mapToDouble(Double::doubleValue).min().orElse(0);
	}

}
