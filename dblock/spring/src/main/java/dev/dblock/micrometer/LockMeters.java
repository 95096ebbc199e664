package dev.dblock.micrometer;

import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

import dev.dblock.LossReason;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.core.EngineState;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.jspecify.annotations.Nullable;

/**
 * Binds the counts of the engine to meters. They are read when a registry requests them,
 * so no registry is called while a lock is acquired or a lease is renewed.
 */
public final class LockMeters implements MeterBinder {

	private final Supplier<@Nullable DefaultLockEngine> engine;

	private final Supplier<? extends Collection<DefaultLockEngine>> others;

	/**
	 * Create the meters of an engine.
	 * @param engine the engine, or {@code null} while there is none
	 */
	public LockMeters(Supplier<@Nullable DefaultLockEngine> engine) {
		this(engine, List::of);
	}

	/**
	 * Create the meters of all engines of an application together.
	 * @param engine the default engine, or {@code null} while there is none
	 * @param others the other engines
	 */
	public LockMeters(Supplier<@Nullable DefaultLockEngine> engine,
			Supplier<? extends Collection<DefaultLockEngine>> others) {
		this.engine = engine;
		this.others = others;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		gauge(registry, LockMeterDocumentation.HELD, "Locks that this process holds", EngineState::held);
		gauge(registry, LockMeterDocumentation.WAITING, "Threads that wait for a lock", EngineState::waiting);
		EngineState.attempts()
			.forEach((cause,
					attempts) -> counter(LockMeterDocumentation.ATTEMPTS,
							"Attempts of waiting threads to acquire their lock", attempts)
						.tag(LockMeterDocumentation.Keys.CAUSE.asString(), cause)
						.register(registry));
		for (LossReason reason : EnumSet.complementOf(EnumSet.of(LossReason.RELEASED))) {
			counter(LockMeterDocumentation.LOST, "Leases lost while their holders relied on them",
					(state) -> state.lost(reason))
				.tag(LockMeterDocumentation.Keys.REASON.asString(), reason.name().toLowerCase(Locale.ROOT))
				.register(registry);
		}
		counter(LockMeterDocumentation.RENEWED_LATE, "Leases renewed with less than a third of them left",
				EngineState::renewedLate)
			.register(registry);
		counter(LockMeterDocumentation.NOT_RENEWED, "Leases that a failed request should have renewed",
				EngineState::notRenewed)
			.register(registry);
	}

	private void gauge(MeterRegistry registry, LockMeterDocumentation meter, String description,
			ToLongFunction<EngineState> value) {
		Gauge.builder(meter.getName(), this, (meters) -> meters.read(value))
			.description(description)
			.register(registry);
	}

	private FunctionCounter.Builder<LockMeters> counter(LockMeterDocumentation meter, String description,
			ToLongFunction<EngineState> value) {
		return FunctionCounter.builder(meter.getName(), this, (meters) -> meters.read(value)).description(description);
	}

	private double read(ToLongFunction<EngineState> value) {
		DefaultLockEngine engine = this.engine.get();
		long sum = (engine != null) ? value.applyAsLong(engine.state()) : 0;
		for (DefaultLockEngine other : this.others.get()) {
			sum += value.applyAsLong(other.state());
		}
		return sum;
	}

}
