package dev.dblock.actuate;

import java.util.function.Supplier;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Health indicator of the locks for Spring Boot 4. The health types are in other packages
 * in Spring Boot 3, for which there is {@link Boot3LockHealthIndicator}.
 */
final class LockHealthIndicator extends AbstractHealthIndicator {

	private final Supplier<LockHealth> health;

	LockHealthIndicator(Supplier<LockHealth> health) {
		super((ex) -> "The lock store is not healthy: " + ex.getMessage());
		this.health = health;
	}

	@Override
	protected void doHealthCheck(Health.Builder builder) {
		LockHealth health = this.health.get();
		builder.status(health.status()).withDetails(health.details());
		if (health.error() != null) {
			builder.withException(health.error());
		}
	}

}
