package dev.dblock.actuate;

import java.util.Map;
import java.util.function.Supplier;

import dev.dblock.core.DefaultLockEngine;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Health indicator of the locks for Spring Boot 4. The health types are in other packages
 * in Spring Boot 3, for which there is {@link Boot3LockHealthIndicator}.
 */
public final class LockHealthIndicator extends AbstractHealthIndicator {

	private final Supplier<@Nullable DefaultLockEngine> engine;

	private final Supplier<Map<String, DefaultLockEngine>> others;

	/**
	 * Create an indicator.
	 * @param engine the default engine, or {@code null} while there is none
	 * @param others the other engines, by the names of their databases
	 */
	public LockHealthIndicator(Supplier<@Nullable DefaultLockEngine> engine,
			Supplier<Map<String, DefaultLockEngine>> others) {
		super((ex) -> "The lock store is not healthy: " + ex.getMessage());
		this.engine = engine;
		this.others = others;
	}

	@Override
	protected void doHealthCheck(Health.Builder builder) {
		LockHealth health = LockHealth.of(this.engine.get(), this.others.get());
		builder.status(health.status()).withDetails(health.details());
		if (health.error() != null) {
			builder.withException(health.error());
		}
	}

}
