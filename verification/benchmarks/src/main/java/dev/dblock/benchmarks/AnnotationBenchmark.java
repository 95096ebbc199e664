package dev.dblock.benchmarks;

import dev.dblock.DistributedLock;
import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.WhenUnavailable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import org.jspecify.annotations.Nullable;

/**
 * Requests a lock that this process already holds, through the annotation and through the
 * template. Neither throws an exception: the method is skipped, and the template falls
 * back to {@code null}.
 */
@State(Scope.Benchmark)
public class AnnotationBenchmark {

	private static final String NAME = "annotated";

	private final DblockLocks application = UnderTest.get(Lab.class).application(Annotated.class);

	private final LockTemplate template = this.application.template();

	private final Annotated annotated = this.application.bean(Annotated.class);

	private final LockHandle held = this.template.acquire(NAME);

	/**
	 * Call the annotated method.
	 * @return {@code null}, for JMH to consume
	 */
	@Benchmark
	public @Nullable Object annotated() {
		return this.annotated.work();
	}

	/**
	 * Call the template.
	 * @return {@code null}, for JMH to consume
	 */
	@Benchmark
	// NullAway treats the type variable as non-null
	@SuppressWarnings("NullAway")
	public @Nullable Object template() {
		return this.template.<@Nullable Object>execute(NAME, LockOptions.defaults(), () -> NAME, (refusal) -> null);
	}

	/**
	 * Close the application.
	 */
	@TearDown(Level.Trial)
	public void close() {
		this.held.close();
		this.application.close();
	}

	/**
	 * Bean with a locked method.
	 */
	public static class Annotated {

		/**
		 * Do nothing, under the lock.
		 * @return a value, if the method is run
		 */
		@DistributedLock(name = NAME, whenUnavailable = WhenUnavailable.SKIP)
		public @Nullable String work() {
			return NAME;
		}

	}

}
