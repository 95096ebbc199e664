package dev.dblock.console;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import dev.dblock.micrometer.LockObservationContext;
import dev.dblock.observation.LockObserver.Activity;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;

/**
 * Knows the waiting threads of this instance from the observation {@code dblock.wait}.
 */
final class WaitingThreads implements ObservationHandler<LockObservationContext> {

	private static final int MOST = 200;

	private final Map<Observation.Context, ConsoleState.Waiting> waiting = new ConcurrentHashMap<>();

	@Override
	public boolean supportsContext(Observation.Context context) {
		return context instanceof LockObservationContext lock && lock.activity() == Activity.WAIT;
	}

	@Override
	public void onStart(LockObservationContext context) {
		String name = context.subject().name();
		if (name != null) {
			this.waiting.put(context, new ConsoleState.Waiting(name, Thread.currentThread().getName(), Instant.now()));
		}
	}

	@Override
	public void onStop(LockObservationContext context) {
		this.waiting.remove(context);
	}

	List<ConsoleState.Waiting> list() {
		return this.waiting.values()
			.stream()
			.sorted(Comparator.comparing(ConsoleState.Waiting::since))
			.limit(MOST)
			.toList();
	}

}
