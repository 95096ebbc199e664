package dev.dblock.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Runs JMH in short rounds in this JVM. By default JMH measures one benchmark after
 * another, minutes and processes apart. On a shared machine the ratio of two benchmarks
 * would then reflect the machine more than the benchmarks.
 *
 * @param warmups the number of rounds that are discarded
 * @param rounds the number of rounds that count
 * @param time the length of one iteration
 */
record Rounds(int warmups, int rounds, Duration time) {

	/**
	 * Run one iteration per round, in which operations take turns. The operations must
	 * take long enough to be timed one by one.
	 * @param turns the operations
	 * @return the medians of each round
	 * @throws RunnerException if JMH cannot measure
	 */
	Scores run(Turns turns) throws RunnerException {
		Scores scores = new Scores();
		UnderTest.set(turns);
		Trial trial = new Trial("turns", "TurnsBenchmark.takeAll", Map.of(), Mode.AverageTime, 1);
		for (int round = -this.warmups; round < this.rounds; round++) {
			measure(trial);
			turns.addMediansTo((round >= 0) ? scores : new Scores());
		}
		return scores;
	}

	/**
	 * Run one iteration per round for each of several benchmarks, in alternating order.
	 * @param lab the subjects
	 * @param trials the benchmarks
	 * @return the scores that JMH measured in each round
	 * @throws RunnerException if JMH cannot measure
	 */
	Scores run(Lab lab, List<Trial> trials) throws RunnerException {
		Scores scores = new Scores();
		UnderTest.set(lab);
		List<Trial> order = new ArrayList<>(trials);
		for (int round = -this.warmups; round < this.rounds; round++) {
			for (Trial trial : order) {
				double score = measure(trial);
				if (round >= 0) {
					scores.add(trial.key(), score);
				}
			}
			Collections.reverse(order);
		}
		return scores;
	}

	private double measure(Trial trial) throws RunnerException {
		// Ignore JMH's machine-wide lock: rounds already separate our own measurements
		System.setProperty("jmh.ignoreLock", "true");
		ChainedOptionsBuilder options = new OptionsBuilder().include("\\." + trial.method().replace(".", "\\.") + "$")
			.mode(trial.mode())
			.timeUnit((trial.mode() == Mode.Throughput) ? TimeUnit.SECONDS : TimeUnit.NANOSECONDS)
			.threads(trial.threads())
			.forks(0)
			.warmupIterations(0)
			.measurementIterations(1)
			.measurementTime(TimeValue.nanoseconds(this.time.toNanos()))
			.shouldFailOnError(true)
			.shouldDoGC(false)
			.verbosity(VerboseMode.SILENT);
		trial.parameters().forEach(options::param);
		return new Runner(options.build()).runSingle().getPrimaryResult().getScore();
	}

}
