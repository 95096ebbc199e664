package dev.dblock.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LossReason;
import dev.dblock.settings.LeaseTerms;

/**
 * A handle of the {@link UnlockedEngine}, which is held until it is released and never
 * lost.
 */
final class UnlockedHandle implements LockHandle {

	private final String name;

	private final long token;

	private final Duration lease;

	private final AtomicBoolean held = new AtomicBoolean(true);

	UnlockedHandle(String name, long token, Duration lease) {
		this.name = name;
		this.token = token;
		this.lease = lease;
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public long token() {
		return this.token;
	}

	@Override
	public boolean isHeld() {
		return this.held.get();
	}

	@Override
	public Duration remaining() {
		return isHeld() ? this.lease : Duration.ZERO;
	}

	@Override
	public void ensureHeld() {
		if (!isHeld()) {
			throw new LockLostException(this.name, this.token, LossReason.RELEASED);
		}
	}

	@Override
	public void renew() {
		ensureHeld();
	}

	@Override
	public void extend(Duration atLeast, Duration minHold) {
		LeaseTerms.checkExtension(atLeast, minHold);
		ensureHeld();
	}

	@Override
	public void startRenewal() {
		ensureHeld();
	}

	@Override
	public void stopRenewal() {
	}

	@Override
	public void onLost(Consumer<LossReason> callback) {
	}

	@Override
	public void keepUntilShutdown() {
	}

	@Override
	public boolean release() {
		return this.held.compareAndSet(true, false);
	}

	@Override
	public void close() {
		release();
	}

	@Override
	public String toString() {
		return "lock '%s', not locked because locking is switched off".formatted(this.name);
	}

}
