package dev.dblock.execution;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import dev.dblock.LockHandle;
import dev.dblock.LockHandles;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LossReason;
import dev.dblock.engine.HeldLock;
import dev.dblock.support.FailureLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Several locks that are held as one. A lock under which the acquiring thread already
 * worked is shared with the outer work, and released by the last of the two to end.
 */
final class LockHandleSet implements LockHandles, HeldLock {

	private static final Logger logger = LoggerFactory.getLogger(LockHandleSet.class);

	private final Map<String, Hold> holds;

	private final Collection<Hold> acquired;

	private final Collection<Runnable> reentries;

	private final AtomicBoolean closed = new AtomicBoolean();

	/** The locks that were left. */
	private final Set<Hold> left = ConcurrentHashMap.newKeySet();

	private final List<Consumer<LossReason>> news = new CopyOnWriteArrayList<>();

	private int attached;

	/**
	 * Create a set of locks.
	 * @param holds the hold of each lock by name, in the order of acquisition
	 * @param acquired the holds that were acquired for this set
	 * @param reentries each ends the re-entry of one of the other locks
	 */
	LockHandleSet(Map<String, Hold> holds, Collection<Hold> acquired, Collection<Runnable> reentries) {
		this.holds = new LinkedHashMap<>(holds);
		this.acquired = List.copyOf(acquired);
		this.reentries = List.copyOf(reentries);
	}

	List<Hold> parts() {
		return List.copyOf(this.holds.values());
	}

	private List<LockHandle> all() {
		return this.holds.values().stream().map(Hold::handle).toList();
	}

	@Override
	public Map<String, LockHandle> handles() {
		Map<String, LockHandle> handles = new LinkedHashMap<>();
		this.holds.forEach((name, hold) -> handles.put(name, hold.handle()));
		return Collections.unmodifiableMap(handles);
	}

	@Override
	public String name() {
		return all().stream().map(LockHandle::name).collect(Collectors.joining(", "));
	}

	@Override
	public int permit() {
		return lastFirst().get(0).handle().permit();
	}

	/**
	 * Return the token of the last of the locks, since the set has none of its own.
	 */
	@Override
	public long token() {
		return lastFirst().get(0).handle().token();
	}

	@Override
	public long token(String name) {
		Hold hold = this.holds.get(name);
		if (hold == null) {
			throw new IllegalArgumentException("The lock '%s' is not one of the locks that were acquired here: %s"
				.formatted(name, this.holds.keySet()));
		}
		return hold.handle().token();
	}

	@Override
	public boolean isHeld() {
		return !this.closed.get() && all().stream().allMatch(LockHandle::isHeld);
	}

	@Override
	public Duration remaining() {
		return this.closed.get() ? Duration.ZERO
				: all().stream().map(LockHandle::remaining).min(Duration::compareTo).orElse(Duration.ZERO);
	}

	@Override
	public void ensureHeld() {
		requireOpen();
		each(all(), LockHandle::ensureHeld);
	}

	private void requireOpen() {
		if (this.closed.get()) {
			LockHandle first = all().get(0);
			throw new LockLostException(first.name(), first.token(), LossReason.RELEASED);
		}
	}

	@Override
	public void renew() {
		requireOpen();
		each(all(), LockHandle::renew);
	}

	@Override
	public void extend(Duration atLeast) {
		HeldLock.super.extend(atLeast);
	}

	@Override
	public void extend(Duration atLeast, Duration minHold) {
		ensureHeld();
		each(all(), (handle) -> handle.extend(atLeast, minHold));
	}

	@Override
	public void extendExactly(Duration duration, Duration minHold) {
		ensureHeld();
		each(all(), (handle) -> Objects.requireNonNull(HeldLock.of(handle)).extendExactly(duration, minHold));
	}

	@Override
	public void startRenewal() {
		ensureHeld();
		each(all(), LockHandle::startRenewal);
	}

	@Override
	public void stopRenewal() {
		each(all(), LockHandle::stopRenewal);
	}

	@Override
	public void onLost(Consumer<LossReason> callback) {
		AtomicBoolean notified = new AtomicBoolean();
		Consumer<LossReason> news = (reason) -> {
			if (!this.closed.get() && notified.compareAndSet(false, true)) {
				notifyOfLoss(callback, reason);
			}
		};
		this.news.add(news);
		this.holds.values().forEach((hold) -> hold.onLost(news));
		if (this.closed.get()) {
			forgetNews();
		}
	}

	private void notifyOfLoss(Consumer<LossReason> callback, LossReason reason) {
		try {
			callback.accept(reason);
		}
		catch (Throwable ex) {
			FailureLog.warn(logger, ex,
					"One of the locks '{}' was lost, and their holder's onLost callback failed. Other callbacks"
							+ " and listeners run anyway; fix the callback",
					name());
		}
	}

	@Override
	public void keepUntilShutdown() {
		this.acquired.forEach((hold) -> hold.handle().keepUntilShutdown());
		if (this.closed.get()) {
			return;
		}
		// Otherwise, the outer work would not be the last to leave them
		each(lastFirst(), (hold) -> {
			if (!this.acquired.contains(hold) && this.left.add(hold)) {
				hold.release();
			}
		});
	}

	private boolean end() {
		boolean first = this.closed.compareAndSet(false, true);
		if (first) {
			forgetNews();
			this.reentries.forEach(Runnable::run);
		}
		return first;
	}

	/**
	 * Remove the callbacks, since a hold that is shared with the outer work can be
	 * long-lived.
	 */
	private void forgetNews() {
		this.news.forEach((news) -> this.holds.values().forEach((hold) -> hold.forget(news)));
	}

	/**
	 * Return nothing, since only the holder of a single lock is asked.
	 */
	@Override
	public Optional<String> closeRequests(@Nullable String seen) {
		return Optional.empty();
	}

	/**
	 * Begin to work under the locks in the current thread.
	 */
	@Override
	public synchronized void attach() {
		this.attached++;
		this.holds.values().forEach(Hold::attach);
	}

	/**
	 * Turn the current thread to other work. Detaches it from all locks if it was
	 * attached to them, and otherwise from those that were acquired for this set. The
	 * thread still works under the locks that it shares with the outer work.
	 */
	@Override
	public synchronized void detach() {
		boolean wasAttached = this.attached > 0;
		this.attached -= wasAttached ? 1 : 0;
		(wasAttached ? this.holds.values() : this.acquired).forEach(Hold::detach);
	}

	@Override
	public Runnable reenter(LockOptions options) {
		ensureHeld();
		return () -> {
		};
	}

	@Override
	public void aboutToRelease() {
		parts().forEach(Hold::aboutToLeave);
	}

	/**
	 * Has no effect: the callbacks of a set end with the set.
	 */
	@Override
	public void forget(Consumer<LossReason> callback) {
	}

	/**
	 * End the part of the acquiring thread.
	 */
	void leaveThread() {
		this.acquired.forEach(Hold::leaveThread);
		parts().stream().filter((hold) -> !hold.isOwned()).forEach(Hold::detach);
	}

	@Override
	public boolean release() {
		if (!end()) {
			return false;
		}
		List<Hold> lost = new ArrayList<>();
		each(toLeave(), (hold) -> {
			if (!hold.release()) {
				lost.add(hold);
			}
		});
		return lost.isEmpty();
	}

	@Override
	public void close() {
		if (end()) {
			each(toLeave(), Hold::leave);
		}
	}

	/**
	 * Release the locks that were acquired for this set, since its work has not begun.
	 * The shared locks are only left, since the outer work under them has begun.
	 */
	@Override
	public void releaseUnused() {
		if (end()) {
			each(toLeave(), (hold) -> {
				if (this.acquired.contains(hold)) {
					hold.releaseUnused();
				}
				else {
					hold.leave();
				}
			});
		}
	}

	/**
	 * Return the locks that the caller has to leave, each to one caller only.
	 */
	private List<Hold> toLeave() {
		return lastFirst().stream().filter(this.left::add).toList();
	}

	private List<Hold> lastFirst() {
		List<Hold> reversed = new ArrayList<>(this.holds.values());
		Collections.reverse(reversed);
		return reversed;
	}

	/**
	 * Apply an action to each lock, regardless of failures for the others. A lost lock
	 * takes precedence over a failed request.
	 */
	private static <T> void each(Iterable<T> locks, Consumer<T> action) {
		List<RuntimeException> failures = new ArrayList<>();
		for (T lock : locks) {
			try {
				action.accept(lock);
			}
			catch (RuntimeException ex) {
				failures.add(ex);
			}
		}
		if (!failures.isEmpty()) {
			RuntimeException gravest = failures.stream()
				.filter(LockLostException.class::isInstance)
				.findFirst()
				.orElse(failures.get(0));
			failures.stream().filter((failure) -> failure != gravest).forEach(gravest::addSuppressed);
			throw gravest;
		}
	}

	@Override
	public String toString() {
		return all().toString();
	}

}
