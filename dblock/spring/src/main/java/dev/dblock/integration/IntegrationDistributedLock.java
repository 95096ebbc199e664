package dev.dblock.integration;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.springframework.integration.support.locks.DistributedLock;

/**
 * The {@link IntegrationLock} for Spring Integration 7 and later, whose locks accept a
 * time to live.
 */
final class IntegrationDistributedLock extends IntegrationLock implements DistributedLock {

	IntegrationDistributedLock(IntegrationRegistry registry, String name) {
		super(registry, name);
	}

	@Override
	public void lock(Duration ttl) {
		with(options().withLease(ttl)).lock();
	}

	@Override
	public boolean tryLock(Duration waitTime, Duration ttl) throws InterruptedException {
		return with(options().withLease(ttl)).tryLock(TimeUnit.NANOSECONDS.convert(waitTime), TimeUnit.NANOSECONDS);
	}

}
