package dev.dblock.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * P4: all threads of one JVM compete for one lock.
 */
final class ContendedCase implements BenchmarkCase {

	private static final int THREADS = 64;

	private static final List<Subject> SUBJECTS = List.of(Subject.FAIR_LOCK, Subject.DBLOCK, Subject.REDISSON,
			Subject.SHEDLOCK);

	@Override
	public String id() {
		return "P4";
	}

	@Override
	public String title() {
		return THREADS + " threads of one JVM, one name";
	}

	@Override
	public List<Line> run(Bench bench) throws Exception {
		Guard ofDblock = new Guard();
		Scores scores = new Scores();
		int warmups = bench.pick(2, 1);
		int rounds = bench.pick(9, 2);
		for (int round = -warmups; round < rounds; round++) {
			for (Subject subject : SUBJECTS) {
				if (bench.has(subject)) {
					Guard guard = (subject == Subject.DBLOCK) ? ofDblock : new Guard();
					double score = measure(bench, subject, round, guard);
					if (round >= 0) {
						scores.add(subject, score);
					}
				}
			}
		}
		List<Line> lines = new ArrayList<>();
		lines.add(scores.line(id(), title(), Unit.PER_SECOND, Subject.FAIR_LOCK, Bound.atLeast(0.4)));
		lines.add(scores.line(id(), title(), Unit.PER_SECOND, Subject.REDISSON, Bound.atLeast(10)));
		lines.add(scores.line(id(), title(), Unit.PER_SECOND, Subject.SHEDLOCK, Bound.atLeast(100)));
		String sections = "%,d sections".formatted(ofDblock.sections());
		lines.add(Line.absolute(id(), "two threads inside at a time", Quantity.count(ofDblock.overlaps()),
				Bound.atMost(0), sections));
		lines.add(Line.absolute(id(), "tokens not above the one before", Quantity.count(ofDblock.disorders()),
				Bound.atMost(0), sections));
		lines.add(arrivals(bench));
		return lines;
	}

	private static double measure(Bench bench, Subject subject, int round, Guard guard) throws Exception {
		// ShedLock enters so rarely that one second is too short
		int millis = (subject == Subject.SHEDLOCK) ? bench.pick(2000, 500) : bench.pick(1000, 300);
		long start = System.nanoTime() + Duration.ofMillis(bench.pick(200, 50)).toNanos();
		return new Crowd(bench.lab().locks(subject), "crowded-" + round, THREADS, guard).sectionsPerSecond(start,
				Duration.ofMillis(millis));
	}

	private Line arrivals(Bench bench) throws InterruptedException {
		int lines = bench.pick(50, 5);
		Locks locks = bench.lab().locks(Subject.DBLOCK);
		int overtaken = 0;
		for (int i = 0; i < lines; i++) {
			overtaken += new WaitingLine(locks, "line", THREADS).overtaken();
		}
		return Line.absolute(id(), "served before one that waited longer", Quantity.count(overtaken), Bound.atMost(0),
				"%,d lines of %d threads that arrived one after another".formatted(lines, THREADS));
	}

}
