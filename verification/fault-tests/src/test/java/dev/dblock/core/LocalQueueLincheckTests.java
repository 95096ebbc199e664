package dev.dblock.core;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

import dev.dblock.core.queue.LocalQueue;
import org.jetbrains.kotlinx.lincheck.Actor;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.lincheck.datastructures.ManagedStrategyGuarantee;
import org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Options;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Has Lincheck look for an order of the single steps of two threads, or for a run on the
 * processors there are, whose results no order of whole calls explains, after which
 * something is left behind, or in which somebody waits for ever. It tries a bounded
 * number of orders, so calls under the queue's monitor count as one step. Of a scenario,
 * what comes before a colon is done first, and then what is on either side of a bar at
 * the same time. It stands here and not beside the queue's other tests because Lincheck
 * transforms every class that was loaded in its JVM, which with Spring's takes it
 * minutes.
 */
@Timeout(300)
class LocalQueueLincheckTests {

	private static final long LONGEST_INVOCATION_MILLIS = 120_000;

	private static final int INTERLEAVINGS = 100;

	private static final int RUNS = 500;

	@ParameterizedTest
	@ValueSource(strings = { "visit go | visit go", "visit | visit go", "visit | giveBack go", "visit go | giveBack go",
			"waitInLine go | visit go" })
	void theQueueStaysWhileSomebodyIsThereAndNoLonger(String scenario) {
		check(SharedQueues.class, SharedQueues.InSequence.class, scenario);
	}

	@ParameterizedTest
	@ValueSource(strings = { "work | work", "takeElsewhere : giveBackElsewhere | work",
			"takeElsewhere : queueUp giveBackElsewhere giveUp | work", "workUntilTheEndOfTheLease | work",
			"workIfFree | work" })
	void everybodyGetsTheLockAlone(String scenario) {
		check(SharedLock.class, SharedLock.InSequence.class, scenario);
	}

	private static void check(Class<?> concurrent, Class<?> sequential, String scenario) {
		check(concurrent, sequential, scenario,
				new ModelCheckingOptions().invocationsPerIteration(INTERLEAVINGS)
					.addGuarantee(underTheMonitor(LocalQueue.class))
					.addGuarantee(underTheMonitor(SharedLock.Store.class)));
		check(concurrent, sequential, scenario, new StressOptions().invocationsPerIteration(RUNS));
	}

	private static void check(Class<?> concurrent, Class<?> sequential, String scenario, Options<?, ?> options) {
		// By default, ten seconds count as a hang, for which a busy machine can stand
		// still
		options.invocationTimeout$lincheck(LONGEST_INVOCATION_MILLIS);
		options.iterations(0)
			.addCustomScenario(scenario(concurrent, scenario))
			.sequentialSpecification(sequential)
			.minimizeFailedScenario(false)
			.check(concurrent);
	}

	private static ManagedStrategyGuarantee underTheMonitor(Class<?> type) {
		String[] methods = Arrays.stream(type.getDeclaredMethods())
			.filter((method) -> Modifier.isSynchronized(method.getModifiers()))
			.map(Method::getName)
			.toArray(String[]::new);
		return ManagedStrategyGuaranteeKt.forClasses(type.getName()).methods(methods).treatAsAtomic();
	}

	private static ExecutionScenario scenario(Class<?> type, String text) {
		int colon = text.indexOf(':');
		String[] threads = text.substring(colon + 1).split("\\|");
		return new ExecutionScenario(actors(type, text.substring(0, Math.max(0, colon)), 0),
				IntStream.range(0, threads.length).mapToObj((thread) -> actors(type, threads[thread], thread)).toList(),
				List.of(), null);
	}

	private static List<Actor> actors(Class<?> type, String calls, int thread) {
		return Arrays.stream(calls.trim().split(" ")).filter((call) -> !call.isEmpty()).map((call) -> {
			Method method = Arrays.stream(type.getMethods())
				.filter((candidate) -> candidate.getName().equals(call))
				.findFirst()
				.orElseThrow();
			return new Actor(method, (method.getParameterCount() > 0) ? List.of(thread) : List.of());
		}).toList();
	}

}
