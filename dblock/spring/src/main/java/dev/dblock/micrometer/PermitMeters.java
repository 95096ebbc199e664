package dev.dblock.micrometer;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import dev.dblock.observation.LockObserver;
import io.micrometer.common.KeyValue;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import org.jspecify.annotations.Nullable;

/**
 * Counts the permits that this process holds, by the label of their lock. A lock has
 * meters once a permit of it was granted here.
 */
public final class PermitMeters implements LockObserver {

	private final Supplier<@Nullable MeterRegistry> registry;

	private final Map<String, Permits> byLabel = new ConcurrentHashMap<>();

	/**
	 * Create the meters.
	 * @param registry the registry of the meters; {@code null} if there is none
	 */
	public PermitMeters(Supplier<@Nullable MeterRegistry> registry) {
		this.registry = registry;
	}

	@Override
	public @Nullable Observed begin(Activity activity, Subject subject) {
		if (activity != Activity.HOLD || subject.permits() == 0) {
			return null;
		}
		String label = (subject.label() != null) ? subject.label() : KeyValue.NONE_VALUE;
		Permits permits = this.byLabel.computeIfAbsent(label, this::register);
		permits.most = subject.permits();
		permits.held.incrementAndGet();
		return (outcome, now, error) -> permits.held.decrementAndGet();
	}

	private Permits register(String label) {
		Permits permits = new Permits();
		MeterRegistry registry = this.registry.get();
		if (registry != null) {
			Gauge.builder(LockMeterDocumentation.PERMITS_HELD.getName(), permits.held, AtomicInteger::get)
				.description("Permits that this process holds")
				.tag(LockMeterDocumentation.Keys.LOCK.asString(), label)
				.register(registry);
			Gauge.builder(LockMeterDocumentation.PERMITS.getName(), permits, (current) -> current.most)
				.description("Permits that the lock has in all processes together")
				.tag(LockMeterDocumentation.Keys.LOCK.asString(), label)
				.register(registry);
		}
		return permits;
	}

	/**
	 * The permits of the locks with one label.
	 */
	private static final class Permits {

		private final AtomicInteger held = new AtomicInteger();

		private volatile int most;

	}

}
