package dev.dblock.benchmarks;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.job.JobFiring;

/**
 * P11: a job whose last twenty runs are recorded, compared with a plain lock of the same
 * build; and a planned time that has already been run, compared with a raw request that
 * changes nothing.
 */
final class JobCase implements BenchmarkCase {

	private static final String PLAIN = "plain";

	private static final String JOB = "job";

	private static final String REFUSED = "refused";

	private static final String RAW = "raw";

	private static final int RUNS = 20;

	/** As for an annotated method, whose reason is known without a look at the stack. */
	private static final LockOptions OPTIONS = LockOptions.defaults().why("com.acme.Invoices#invoice");

	@Override
	public String id() {
		return "P11";
	}

	@Override
	public String title() {
		return "acquire + release of a job with twenty recorded runs";
	}

	@Override
	public List<Line> run(Bench bench) throws Exception {
		try (DblockLocks application = bench.lab().application()) {
			PlannedRuns runs = new PlannedRuns(application.template(), "job");
			for (int i = 0; i < RUNS; i++) {
				runs.next();
			}
			Instant done = Instant.now().minusSeconds(60);
			application.template().acquire("done", OPTIONS.claim(JobFiring.at(done))).close();
			Locks raw = bench.lab().locks(Subject.RAW);
			Scores granted = measure(bench, new Turns(
					Map.of(PLAIN, () -> application.template().acquire("plain", OPTIONS).close(), JOB, runs::next)));
			// Measured separately, since the members still replicate after a grant
			Scores refused = measure(bench, new Turns(
					Map.of(REFUSED, () -> refuse(application.template(), done), RAW, () -> raw.tryEnter("done"))));
			return List.of(line(granted, title(), JOB, "a plain lock", PLAIN, 1.10), line(refused,
					"a planned time that was run, refused", REFUSED, "raw no-op findAndModify", RAW, 1.7));
		}
	}

	private static Scores measure(Bench bench, Turns turns) throws Exception {
		return new Rounds(bench.pick(10, 2), bench.pick(60, 5), Duration.ofMillis(500)).run(turns);
	}

	private static void refuse(LockTemplate template, Instant done) {
		if (template.tryAcquire("done", OPTIONS.claim(JobFiring.at(done))).isPresent()) {
			throw new IllegalStateException("A planned time was granted twice");
		}
	}

	private Line line(Scores scores, String what, String key, String against, String reference, double atMost) {
		return Line.compared(id(), what, Quantity.nanos(Spread.of(scores.of(key)).median()), against,
				Quantity.nanos(Spread.of(scores.of(reference)).median()),
				Spread.ofRatios(scores.of(key), scores.of(reference)), Bound.atMost(atMost));
	}

	/**
	 * Runs of a job, one after another, each for its own planned time in the past.
	 */
	private static final class PlannedRuns {

		private final LockTemplate template;

		private final String name;

		private Instant planned = Instant.now().minus(Duration.ofDays(300));

		PlannedRuns(LockTemplate template, String name) {
			this.template = template;
			this.name = name;
		}

		void next() {
			this.planned = this.planned.plusSeconds(1);
			try (LockHandle handle = this.template.acquire(this.name, OPTIONS.claim(JobFiring.at(this.planned)))) {
				handle.ensureHeld();
			}
		}

	}

}
