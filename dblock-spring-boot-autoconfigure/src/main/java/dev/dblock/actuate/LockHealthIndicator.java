package dev.dblock.actuate;

import java.util.function.Supplier;

import dev.dblock.core.DefaultLockEngine;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * The health of the locks, as Spring Boot 4 wants it told: the one class here whose super
 * class has another package in Spring Boot 3.
 */
public final class LockHealthIndicator extends AbstractHealthIndicator {

	private final Supplier<@Nullable DefaultLockEngine> engine;

	/**
	 * An indicator.
	 * @param engine the engine, or {@code null} while there is none
	 */
	public LockHealthIndicator(Supplier<@Nullable DefaultLockEngine> engine) {
		super("The locks' health could not be found out");
		this.engine = engine;
	}

	@Override
	protected void doHealthCheck(Health.Builder builder) {
		DefaultLockEngine engine = this.engine.get();
		if (engine == null) {
			builder.unknown().withDetail("reason", "no lock was needed yet, or locking is switched off");
			return;
		}
		LockHealth health = LockHealth.of(engine);
		builder.status(health.up() ? "UP" : "DOWN").withDetails(health.details());
		if (health.error() != null) {
			builder.withException(health.error());
		}
	}

}
