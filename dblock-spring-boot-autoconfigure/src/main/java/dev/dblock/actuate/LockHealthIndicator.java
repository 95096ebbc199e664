package dev.dblock.actuate;

import java.util.function.Supplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Health indicator of the locks for Spring Boot 4. The health types are in other packages
 * in Spring Boot 3, for which there is {@link Boot3LockHealthIndicator}.
 */
final class LockHealthIndicator extends AbstractHealthIndicator {

	private static final Logger logger = LoggerFactory.getLogger(LockHealthIndicator.class);

	private final Supplier<LockHealth> health;

	LockHealthIndicator(Supplier<LockHealth> health) {
		this.health = health;
	}

	@Override
	protected void doHealthCheck(Health.Builder builder) {
		LockHealth health = this.health.get();
		builder.status(health.status()).withDetails(health.details());
		Throwable error = health.error();
		if (error != null) {
			// Spring Boot would log an exception of the builder with its stack trace, at
			// each check
			builder.withDetail("error", error.getClass().getName() + ": " + error.getMessage());
			logger.warn("The lock store is not healthy: {}", error.getMessage());
			logger.debug("The lock store is not healthy", error);
		}
	}

}
