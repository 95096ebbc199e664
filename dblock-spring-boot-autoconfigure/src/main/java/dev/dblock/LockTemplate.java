package dev.dblock;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * The bean for code that decides by hand what to lock:
 *
 * <pre class="code">
 * lockTemplate.execute("stock", () -&gt; reserve(item));
 *
 * try (LockHandle lock = lockTemplate.acquire("stock", LockOptions.lease(ofSeconds(20)).waitUpTo(ofSeconds(5)))) {
 *     repository.save(order, lock.token());
 *     lock.ensureHeld();
 * }
 * </pre>
 *
 * Safe for use by any number of threads.
 */
public final class LockTemplate implements LockOperations {

	private final LockEngine engine;

	public LockTemplate(LockEngine engine) {
		this.engine = engine;
	}

	/**
	 * The engine that this template stands on.
	 * @return the engine
	 */
	public LockEngine engine() {
		return this.engine;
	}

	@Override
	public <T extends @Nullable Object, E extends Throwable> T execute(String name, LockOptions options,
			LockedAction<T, E> action, LockedFallback<T, E> fallback) throws E {
		String fullName = this.engine.fullName(name);
		Optional<LockHandle> entered = LockContext.current(this.engine, fullName);
		if (entered.isEmpty()) {
			entered = this.engine.keptByTransaction(fullName);
		}
		if (entered.isPresent()) {
			entered.get().ensureHeld();
			return within(entered.get(), action);
		}
		LockAttempt attempt = this.engine.acquire(name, options);
		if (attempt instanceof LockRefusal refusal) {
			return fallback.unavailable(refusal);
		}
		return executeAndClose(((LockGrant) attempt).handle(), action);
	}

	private <T extends @Nullable Object, E extends Throwable> T within(LockHandle handle, LockedAction<T, E> action)
			throws E {
		try (LockContext.Scope scope = LockContext.enter(this.engine, handle)) {
			return action.run();
		}
	}

	@SuppressWarnings("unchecked")
	private <T extends @Nullable Object, E extends Throwable> T executeAndClose(LockHandle handle,
			LockedAction<T, E> action) throws E {
		T result;
		try {
			result = within(handle, action);
		}
		catch (Throwable ex) {
			throw (E) closeAfter(handle, ex);
		}
		handle.close();
		return result;
	}

	/**
	 * A lost lease outranks what the work threw, since only it says that somebody else
	 * may have been at the same work; neither an {@link Error} nor an exception that
	 * tells of the loss already is hidden by it.
	 */
	private static Throwable closeAfter(LockHandle handle, Throwable thrown) {
		try {
			handle.close();
			return thrown;
		}
		catch (LockLostException lost) {
			if (thrown instanceof Error || thrown instanceof LockLostException) {
				thrown.addSuppressed(lost);
				return thrown;
			}
			lost.addSuppressed(thrown);
			return lost;
		}
		catch (RuntimeException | Error ex) {
			thrown.addSuppressed(ex);
			return thrown;
		}
	}

	@Override
	public Optional<LockHandle> tryAcquire(String name, LockOptions options) {
		LockAttempt attempt = (options.waitUpTo() != null) ? this.engine.acquire(name, options)
				: this.engine.acquire(name, options, Duration.ZERO);
		return (attempt instanceof LockGrant grant) ? Optional.of(grant.handle()) : Optional.empty();
	}

	@Override
	public LockHandle acquire(String name, LockOptions options) {
		LockAttempt attempt = this.engine.acquire(name, options);
		if (attempt instanceof LockRefusal refusal) {
			throw refusal.toException();
		}
		return ((LockGrant) attempt).handle();
	}

	@Override
	public Optional<LockInfo> inspect(String name) {
		return this.engine.inspect(name);
	}

	@Override
	public List<LockInfo> list() {
		return this.engine.list();
	}

	@Override
	public boolean forceRelease(String name) {
		return this.engine.forceRelease(name);
	}

	@Override
	public boolean forceReleaseNow(String name) {
		return this.engine.forceReleaseNow(name);
	}

}
