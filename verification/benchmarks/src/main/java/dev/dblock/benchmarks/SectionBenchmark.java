package dev.dblock.benchmarks;

import java.util.concurrent.atomic.AtomicLong;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/**
 * Empty section under one of many names.
 */
@State(Scope.Benchmark)
public class SectionBenchmark {

	private static final AtomicLong counter = new AtomicLong();

	/**
	 * Subject that provides the section.
	 */
	@Param("DBLOCK")
	public Subject subject = Subject.DBLOCK;

	/**
	 * Number of names, which are used in turn.
	 */
	@Param("10000")
	public int names = 10_000;

	private final Lab lab = UnderTest.get(Lab.class);

	/**
	 * Enter a section and leave it.
	 * @throws InterruptedException if JMH gives up
	 */
	@Benchmark
	public void enterAndLeave() throws InterruptedException {
		this.lab.locks(this.subject).enter(name(counter.getAndIncrement() % this.names)).leave();
	}

	static String name(long number) {
		return "name-" + number;
	}

}
