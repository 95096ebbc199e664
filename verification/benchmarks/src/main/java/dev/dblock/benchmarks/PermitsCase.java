package dev.dblock.benchmarks;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.benchmarks.WorkerMain.Job;
import org.bson.Document;

/**
 * P15: permits. A free one compared with a plain lock of the same build, and threads of
 * several JVMs that compete for a few permits.
 */
final class PermitsCase implements BenchmarkCase {

	private static final int PROCESSES = 4;

	private static final int THREADS = 16;

	private static final int PERMITS = 8;

	private static final int SECTION_MILLIS = 50;

	private static final String PLAIN = "plain";

	private static final String THREE = "three";

	private static final String HUNDRED = "hundred";

	/** As for an annotated method, whose reason is known without a look at the stack. */
	private static final LockOptions OPTIONS = LockOptions.defaults().why("com.acme.Export#export");

	@Override
	public String id() {
		return "P15";
	}

	@Override
	public String title() {
		return "acquire + release of a free permit";
	}

	@Override
	public List<Line> run(Bench bench) throws Exception {
		List<Line> lines = new ArrayList<>();
		try (DblockLocks application = bench.lab().application()) {
			LockTemplate template = application.template();
			// So that the documents of all permits exist
			holdAll(template, HUNDRED, 100);
			holdAll(template, THREE, 3);
			Scores scores = new Rounds(bench.pick(10, 2), bench.pick(60, 5), Duration.ofMillis(500))
				.run(new Turns(Map.of(PLAIN, () -> template.acquire(PLAIN, OPTIONS).close(), THREE,
						() -> template.acquire(THREE, OPTIONS.permits(3)).close(), HUNDRED,
						() -> template.acquire(HUNDRED, OPTIONS.permits(100)).close())));
			lines.add(line(scores, title() + " of 3", THREE, 1.15));
			lines.add(line(scores, title() + " of 100", HUNDRED, 1.3));
		}
		lines.addAll(compete(bench));
		return lines;
	}

	private static void holdAll(LockTemplate template, String name, int permits) {
		List<LockHandle> handles = new ArrayList<>();
		for (int i = 0; i < permits; i++) {
			handles.add(template.acquire(name, OPTIONS.permits(permits)));
		}
		handles.forEach(LockHandle::close);
	}

	private Line line(Scores scores, String what, String key, double atMost) {
		return Line.compared(id(), what, Quantity.nanos(Spread.of(scores.of(key)).median()), "a plain lock",
				Quantity.nanos(Spread.of(scores.of(PLAIN)).median()), Spread.ofRatios(scores.of(key), scores.of(PLAIN)),
				Bound.atMost(atMost));
	}

	private List<Line> compete(Bench bench) throws IOException {
		List<Worker> workers = bench.workers(PROCESSES);
		List<Double> used = new ArrayList<>();
		List<Double> shares = new ArrayList<>();
		long overlaps = 0;
		for (int round = 0; round <= bench.pick(3, 1); round++) {
			int millis = bench.pick(10_000, 2000);
			List<Document> answers = Workers.callAll(workers, order("permits-" + round, millis));
			overlaps += overlaps(answers);
			if (round > 0) {
				List<Double> each = answers.stream().map((answer) -> Numbers.real(answer, "heldNanos")).toList();
				double total = each.stream().mapToDouble(Double::doubleValue).sum();
				used.add(total / (PERMITS * millis * 1e6));
				shares.add(each.stream().mapToDouble((one) -> one * PROCESSES / total).min().orElse(0));
			}
		}
		String what = "%d JVMs of %d threads, %d permits, sections of %d ms: ".formatted(PROCESSES, THREADS, PERMITS,
				SECTION_MILLIS);
		return List.of(
				Line.absolute(id(), what + "least share of the permits in use in 10 s", ratio(used), Bound.atLeast(0.9),
						""),
				Line.absolute(id(), what + "least share of one JVM in its fair share", ratio(shares),
						Bound.atLeast(0.7), "1 would be even"),
				Line.absolute(id(), what + "sections under one permit that overlap", Quantity.count(overlaps),
						Bound.atMost(0), ""));
	}

	private static Quantity ratio(List<Double> values) {
		return new Quantity(values.stream().mapToDouble(Double::doubleValue).min().orElse(0), Unit.RATIO);
	}

	private static Document order(String name, int millis) {
		return Job.PERMITS.order()
			.append("name", name)
			.append("threads", THREADS)
			.append("permits", PERMITS)
			.append("sectionMillis", SECTION_MILLIS)
			.append("fromNanos", System.nanoTime() + Duration.ofSeconds(1).toNanos())
			.append("millis", millis);
	}

	/**
	 * Count the sections that began before an earlier one under the same permit had
	 * ended. The clocks of the JVMs are the same.
	 */
	private static long overlaps(List<Document> answers) {
		List<List<Number>> sections = new ArrayList<>();
		for (Document answer : answers) {
			for (List<?> section : answer.getList("sections", List.class)) {
				sections.add(section.stream().map(Number.class::cast).toList());
			}
		}
		sections.sort(Comparator.<List<Number>>comparingLong((section) -> section.get(0).longValue())
			.thenComparingLong((section) -> section.get(1).longValue()));
		long overlaps = 0;
		for (int i = 1; i < sections.size(); i++) {
			boolean same = sections.get(i).get(0).equals(sections.get(i - 1).get(0));
			overlaps += (same && sections.get(i).get(1).longValue() < sections.get(i - 1).get(2).longValue()) ? 1 : 0;
		}
		return overlaps;
	}

}
