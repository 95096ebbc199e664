package dev.dblock.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import dev.dblock.LockInterruptedException;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LossReason;
import dev.dblock.claim.Claimed;
import dev.dblock.core.lease.Lease;
import dev.dblock.core.lease.LeasedLock;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository;
import dev.dblock.store.RepositoryInterruptedException;
import dev.dblock.support.CallThreads;
import dev.dblock.support.Durations;
import dev.dblock.support.FailureLog;
import dev.dblock.support.LockMdc;
import dev.dblock.transaction.LeaseState;
import dev.dblock.transaction.LockTransactions;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The application's view of a {@link Lease}.
 */
final class LeaseHandle implements LeasedLock {

	private static final Logger logger = LoggerFactory.getLogger(LeaseHandle.class);

	private final Lease lease;

	private final LeaseKeeper keeper;

	// What the application has done with the handle

	private final AtomicBoolean closed = new AtomicBoolean();

	/** The transaction in which the lock was acquired. */
	private volatile LockTransactions.@Nullable Binding transaction;

	/** The callbacks for a loss; {@code null} once they were started. */
	private @Nullable List<Consumer<LossReason>> lostCallbacks = new ArrayList<>();

	LeaseHandle(Lease lease, LeaseKeeper keeper) {
		this.lease = lease;
		this.keeper = keeper;
	}

	@Override
	public Object engine() {
		return this.keeper;
	}

	@Override
	public boolean isClosed() {
		return this.closed.get();
	}

	@Override
	public Lease lease() {
		return this.lease;
	}

	@Override
	public LeaseKey key() {
		return this.lease.key();
	}

	@Override
	public LeaseState state() {
		return this.lease.state();
	}

	@Override
	public LockRepository store() {
		return this.keeper.store();
	}

	@Override
	public LockLostException lose(LossReason reason, String detail) {
		return this.keeper.lose(this.lease, reason, detail);
	}

	LockTransactions.@Nullable Binding keptBy() {
		return this.transaction;
	}

	void keptBy(LockTransactions.@Nullable Binding transaction) {
		this.transaction = transaction;
	}

	@Override
	public String name() {
		return this.lease.key().name();
	}

	@Override
	public int permit() {
		return this.lease.key().permit();
	}

	@Override
	public long token() {
		return this.lease.token();
	}

	@Override
	public @Nullable Claimed claimed() {
		return this.lease.grant().claimed();
	}

	@Override
	public void runFailed(Throwable cause) {
		this.lease.failed(cause);
	}

	@Override
	public boolean isHeld() {
		return this.lease.isHeld();
	}

	@Override
	public Duration remaining() {
		return this.lease.isHeld() ? this.lease.remaining() : Duration.ZERO;
	}

	@Override
	public void ensureHeld() {
		this.keeper.ensureHeld(this.lease);
	}

	@Override
	public void renew() {
		this.keeper.renew(this.lease);
	}

	@Override
	public void extend(Duration atLeast, Duration minHold) {
		this.keeper.extend(this.lease, atLeast, minHold);
	}

	@Override
	public void extendExactly(Duration duration, Duration minHold) {
		this.keeper.extendExactly(this.lease, duration, minHold);
	}

	@Override
	public void startRenewal() {
		this.keeper.startRenewal(this.lease);
	}

	@Override
	public void stopRenewal() {
		this.lease.renewal().stop();
	}

	@Override
	public void onLost(Consumer<LossReason> callback) {
		synchronized (this) {
			if (this.lostCallbacks != null) {
				this.lostCallbacks.add(callback);
				return;
			}
		}
		run(callback);
	}

	@Override
	public synchronized void forget(Consumer<LossReason> callback) {
		if (this.lostCallbacks != null) {
			this.lostCallbacks.remove(callback);
		}
	}

	@Override
	public void runLostCallbacks(Executor threads) {
		List<Consumer<LossReason>> callbacks;
		synchronized (this) {
			callbacks = this.lostCallbacks;
			this.lostCallbacks = null;
		}
		if (callbacks != null) {
			callbacks.forEach((callback) -> CallThreads.execute(threads, () -> run(callback)));
		}
	}

	private void run(Consumer<LossReason> callback) {
		try {
			callback.accept(this.lease.lost().reason());
		}
		catch (Throwable ex) {
			LockMdc.log(name(), token(),
					() -> FailureLog.warn(logger, ex,
							"The lock '{}' (fencing token {}) was lost, and its holder's onLost callback failed. Other"
									+ " callbacks and listeners run anyway; fix the callback",
							name(), token()));
		}
	}

	@Override
	public void keepUntilShutdown() {
		if (this.lease.keep(this)) {
			this.keeper.leave(this);
		}
	}

	@Override
	public Runnable reenter(LockOptions options) {
		requirePermitsOf((options.permits() != null) ? options.permits() : 0);
		try {
			return this.keeper.reenter(this, Objects.requireNonNull(options.lease()),
					Boolean.TRUE.equals(options.autoRenew()));
		}
		catch (RepositoryInterruptedException ex) {
			throw new LockInterruptedException(name(), ex);
		}
	}

	private void requirePermitsOf(int requested) {
		int held = key().permits();
		if (held > 1 && requested < held) {
			throw new IllegalStateException(
					("The lock '%s' is requested %s inside of work that holds only one of its %d permits, so it would"
							+ " not exclude the other holders. Request %d permits there, or use another name")
						.formatted(name(), (requested == 0) ? "as a plain lock" : "with permits = " + requested, held,
								held));
		}
	}

	@Override
	public Optional<String> closeRequests(@Nullable String seen) {
		return this.keeper.closeRequests(this.lease, seen);
	}

	@Override
	public void attach() {
		this.keeper.attach(this);
	}

	@Override
	public void detach() {
		this.keeper.detach(this);
	}

	@Override
	public void aboutToRelease() {
		this.lease.state().aboutToEnd();
	}

	@Override
	public void joinTransaction() {
		this.keeper.joinTransaction(this);
	}

	@Override
	public boolean release() {
		if (!this.closed.compareAndSet(false, true)) {
			return false;
		}
		return this.keeper.completion().release(this);
	}

	@Override
	public void releaseAfterTransactions() {
		try {
			this.keeper.completion().releaseNow(this);
		}
		catch (RuntimeException ex) {
			LockMdc.log(name(), token(), () -> FailureLog.warn(logger, ex,
					"The lock '{}' (fencing token {}) could not be released after the transaction in which it was"
							+ " closed; others wait until its lease ends. Check MongoDB if this happens again",
					name(), token()));
		}
	}

	@Override
	public void releaseUnused() {
		if (this.closed.compareAndSet(false, true)) {
			this.keeper.waive(this);
			releaseOrLog();
		}
	}

	private void releaseOrLog() {
		try {
			this.keeper.completion().release(this);
		}
		catch (RuntimeException ex) {
			LockMdc.log(name(), token(),
					() -> FailureLog.warn(logger, ex,
							"The lock '{}' (fencing token {}) could not be released; it becomes free when its lease"
									+ " ends, in about {}",
							name(), token(), Durations.readable(this.lease.trusted().leftAtStore())));
		}
	}

	@Override
	public void close() {
		if (!this.closed.compareAndSet(false, true)) {
			return;
		}
		releaseOrLog();
		if (this.lease.isLost()) {
			throw this.lease.lost();
		}
	}

	@Override
	public String toString() {
		LossReason end = this.lease.end();
		return "lock '%s', fencing token %d, %s".formatted(name(), token(), (end != null) ? end
				: (isHeld() ? "held for another " + Durations.readable(remaining()) : "not proven to be held"));
	}

}
