package dev.dblock.benchmarks;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/**
 * Benchmark whose call runs one operation of each subject.
 */
@State(Scope.Benchmark)
public class TurnsBenchmark {

	private final Turns turns = UnderTest.get(Turns.class);

	/**
	 * Let each subject take its turn.
	 * @throws Exception if one fails
	 */
	@Benchmark
	public void takeAll() throws Exception {
		this.turns.takeAll();
	}

}
