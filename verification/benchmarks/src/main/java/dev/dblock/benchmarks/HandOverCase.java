package dev.dblock.benchmarks;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import dev.dblock.benchmarks.WorkerMain.Job;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * P3: hand-over from one process to another and back. Both processes read the clock
 * behind {@link System#nanoTime()}, which on Linux is the same for all processes.
 */
final class HandOverCase implements BenchmarkCase {

	private static final int TURNS_PER_ROUND = 20;

	/**
	 * A polling subject acquires at any point of its polling interval. The pause has to
	 * cover that interval, so such a subject gets fewer turns.
	 */
	private static final int TURNS_PER_POLLED_ONE = 5;

	private static final Duration POLLED_PAUSE = Duration.ofMillis(60);

	private static final Duration SHORTEST_PAUSE = Duration.ofMillis(15);

	@Override
	public String id() {
		return "P3";
	}

	@Override
	public String title() {
		return "hand-over between two processes";
	}

	@Override
	public List<Line> run(Bench bench) throws Exception {
		List<Worker> workers = bench.workers(2);
		warmUp(workers, bench.pick(1000, 20));
		Pair pair = new Pair(workers);
		List<Subject> subjects = List.of(Subject.DBLOCK, Subject.REDISSON, Subject.SHEDLOCK)
			.stream()
			.filter(bench::has)
			.toList();
		for (Subject subject : subjects) {
			pair.begin(subject);
		}
		pair.warmUp(subjects, bench.pick(200, 5));
		Scores scores = new Scores();
		List<Double> all = new ArrayList<>();
		List<Double> allRaw = new ArrayList<>();
		for (int round = 0; round < bench.pick(30, 3); round++) {
			Scores turns = pair.round(subjects);
			all.addAll(turns.of(Subject.DBLOCK));
			allRaw.addAll(turns.of(Subject.RAW));
			turns.addMediansTo(scores);
		}
		for (Subject subject : subjects) {
			pair.end(subject);
		}
		double raw = scores.median(Subject.RAW);
		double rawTail = Spread.percentile(allRaw, 99);
		return List.of(scores.line(id(), title(), Unit.NANOS, Subject.RAW, Bound.atMost(1.2)),
				tail(all, Subject.RAW.label(), raw, Bound.atMost(3)).withNote(slow("hand-overs", all, raw)),
				tail(all, Subject.RAW.label() + ", 99th percentile", rawTail, null)
					.withNote(slow("pairs of raw writes", allRaw, raw)),
				scores.line(id(), title(), Unit.NANOS, Subject.UNREPEATED),
				scores.line(id(), title(), Unit.NANOS, Subject.REDISSON),
				scores.line(id(), title(), Unit.NANOS, Subject.SHEDLOCK));
	}

	/**
	 * Compare the 99th percentile with a reference: the usual raw writes, against which a
	 * hand-over is judged, or the slowest raw writes, which show how much of the time is
	 * due to the machine.
	 */
	private Line tail(List<Double> all, String against, double reference, @Nullable Bound bound) {
		double slowest = Spread.percentile(all, 99);
		return Line.compared(id(), title() + ", 99th percentile", Quantity.nanos(slowest), against,
				Quantity.nanos(reference), Spread.of(List.of(slowest / reference)), bound);
	}

	private static String slow(String what, List<Double> all, double raw) {
		long slow = all.stream().filter((nanos) -> nanos > 3 * raw).count();
		return "%,d of %,d %s took more than three times as long as two raw writes usually do".formatted(slow,
				all.size(), what);
	}

	/**
	 * Warm up the processes under the same names, so that the measured code is compiled:
	 * noticing a release by another process, and waking up. Raw writes would only disturb
	 * each other, so each process does them alone. ShedLock only polls here, and the
	 * pause is most of its time.
	 */
	private static void warmUp(List<Worker> workers, int times) throws IOException {
		for (Worker worker : workers) {
			worker.call(warmUp(Subject.RAW, times));
			worker.call(warmUp(Subject.UNREPEATED, times));
		}
		for (Worker worker : workers) {
			worker.send(warmUp(Subject.DBLOCK, times));
		}
		for (Worker worker : workers) {
			worker.receive();
		}
	}

	private static Document warmUp(Subject subject, int times) {
		return Job.WARM_UP.order().append("subjects", List.of(subject.name())).append("times", times);
	}

	/**
	 * Two processes, one of which is in the section.
	 */
	private static final class Pair {

		private final List<Worker> workers;

		private final Map<Subject, Integer> inside = new EnumMap<>(Subject.class);

		private double rawNanos = SHORTEST_PAUSE.toNanos() / 3.0;

		Pair(List<Worker> workers) {
			this.workers = workers;
		}

		void begin(Subject subject) throws IOException {
			this.workers.get(0).call(Job.ENTER.order(subject).append("name", "hand-over"));
			this.inside.put(subject, 0);
		}

		void end(Subject subject) throws IOException {
			holder(subject).call(Job.LEAVE.order(subject));
		}

		void warmUp(List<Subject> subjects, int turns) throws Exception {
			for (int i = 0; i < turns; i++) {
				rawWrites(Subject.RAW);
				rawWrites(Subject.UNREPEATED);
				for (Subject subject : subjects) {
					if (subject != Subject.SHEDLOCK) {
						handOver(subject);
					}
				}
			}
		}

		Scores round(List<Subject> subjects) throws Exception {
			Scores scores = new Scores();
			for (int turn = 0; turn < TURNS_PER_ROUND; turn++) {
				scores.add(Subject.RAW, rawWrites(Subject.RAW));
				scores.add(Subject.UNREPEATED, rawWrites(Subject.UNREPEATED));
				for (Subject subject : subjects) {
					if (subject != Subject.SHEDLOCK || turn % TURNS_PER_POLLED_ONE == 0) {
						scores.add(subject, handOver(subject));
					}
				}
			}
			this.rawNanos = scores.median(Subject.RAW);
			return scores;
		}

		/**
		 * Measure raw writes after the same pause as a hand-over. The writes of a
		 * hand-over follow an idle period, and writes that follow others at once are
		 * faster.
		 */
		private double rawWrites(Subject subject) throws IOException, InterruptedException {
			TimeUnit.NANOSECONDS.sleep(pauseNanos(subject));
			return Numbers.integer(holder(Subject.DBLOCK).call(Job.RAW_WRITES.order(subject)), "nanos");
		}

		private double handOver(Subject subject) throws IOException, InterruptedException {
			Worker from = holder(subject);
			int next = 1 - inside(subject);
			Worker to = this.workers.get(next);
			to.send(Job.ENTER.order(subject).append("name", "hand-over"));
			TimeUnit.NANOSECONDS.sleep(pauseNanos(subject));
			long left = Numbers.integer(from.call(Job.LEAVE.order(subject)), "nanos");
			long entered = Numbers.integer(to.receive(), "nanos");
			this.inside.put(subject, next);
			return entered - left;
		}

		/**
		 * Return a pause in which the other process can ask, be refused and begin to
		 * wait.
		 */
		private long pauseNanos(Subject subject) {
			long shortest = Math.max(SHORTEST_PAUSE.toNanos(), (long) (3 * this.rawNanos));
			long more = (subject == Subject.SHEDLOCK) ? POLLED_PAUSE.toNanos() : SHORTEST_PAUSE.toNanos() / 3;
			return shortest + ThreadLocalRandom.current().nextLong(more);
		}

		private Worker holder(Subject subject) {
			return this.workers.get(inside(subject));
		}

		private int inside(Subject subject) {
			Integer number = this.inside.get(subject);
			if (number == null) {
				throw new IllegalStateException("No thread has entered");
			}
			return number;
		}

	}

}
