package dev.dblock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Several locks that are held as one. Those under which the acquiring thread worked
 * already are shared with the work around, so that they are given back by whoever ends
 * last.
 */
final class LockHandleSet implements LockHandles, LockHandle {

	private static final Logger logger = LoggerFactory.getLogger(LockHandleSet.class);

	private final Map<String, Hold> holds;

	private final Collection<Hold> acquired;

	private final Collection<Runnable> reentries;

	private final AtomicBoolean closed = new AtomicBoolean();

	private final List<Runnable> news = new CopyOnWriteArrayList<>();

	private int attached;

	/**
	 * Put locks together.
	 * @param holds the hold of each by name, in the order in which they were acquired
	 * @param acquired those that were acquired for this set
	 * @param reentries each ends what the re-entry of another one has begun
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

	/**
	 * That of the last of the locks, since there is none of them all.
	 */
	@Override
	public long token() {
		List<LockHandle> all = all();
		return all.get(all.size() - 1).token();
	}

	@Override
	public long token(String name) {
		Hold hold = this.holds.get(name);
		if (hold == null) {
			throw new IllegalArgumentException("The lock '%s' is not one of those that were acquired here: %s"
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
		ensureHeld();
		each(all(), (handle) -> handle.extend(atLeast));
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
	public void onLost(Runnable callback) {
		AtomicBoolean told = new AtomicBoolean();
		Runnable news = () -> {
			if (!this.closed.get() && told.compareAndSet(false, true)) {
				tell(callback);
			}
		};
		this.news.add(news);
		this.holds.values().forEach((hold) -> hold.onLost(news));
		if (this.closed.get()) {
			forgetNews();
		}
	}

	private void tell(Runnable callback) {
		try {
			callback.run();
		}
		catch (Throwable ex) {
			logger.warn("One of the locks '{}' was lost, and what their holder wanted done then (onLost) failed. Other"
					+ " callbacks and listeners run nevertheless; fix the callback", name(), ex);
		}
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
	 * What is shared with the work around may live on for long.
	 */
	private void forgetNews() {
		this.news.forEach((news) -> this.holds.values().forEach((hold) -> hold.forget(news)));
	}

	/**
	 * The current thread begins to work under the locks.
	 */
	synchronized void attach() {
		this.attached++;
		this.holds.values().forEach(Hold::attach);
	}

	/**
	 * The current thread goes on to other work: what it was attached to, or what it has
	 * acquired. What it shares with the work around is not over for it.
	 */
	synchronized void detach() {
		boolean wasAttached = this.attached > 0;
		this.attached -= wasAttached ? 1 : 0;
		(wasAttached ? this.holds.values() : this.acquired).forEach(Hold::detach);
	}

	/**
	 * The thread begins to work under the locks that somebody else holds for it.
	 */
	void enterThread() {
		borrowed().forEach(Hold::attach);
	}

	/**
	 * The acquiring thread has done its part.
	 */
	void leaveThread() {
		this.acquired.forEach(Hold::leaveThread);
		borrowed().forEach(Hold::detach);
	}

	private Stream<Hold> borrowed() {
		return this.holds.values().stream().filter((hold) -> !hold.isOwned());
	}

	@Override
	public boolean release() {
		if (!end()) {
			return false;
		}
		List<Hold> lost = new ArrayList<>();
		each(lastFirst(), (hold) -> {
			if (!hold.release()) {
				lost.add(hold);
			}
		});
		return lost.isEmpty();
	}

	@Override
	public void close() {
		if (end()) {
			each(lastFirst(), Hold::leave);
		}
	}

	/**
	 * The work that the locks were acquired for has not begun. Under those that are
	 * shared, the work around has.
	 */
	void giveBack() {
		if (end()) {
			each(lastFirst(), (hold) -> {
				if (this.acquired.contains(hold)) {
					hold.giveBack();
				}
				else {
					hold.leave();
				}
			});
		}
	}

	private List<Hold> lastFirst() {
		List<Hold> reversed = new ArrayList<>(this.holds.values());
		Collections.reverse(reversed);
		return reversed;
	}

	/**
	 * Do something with each lock, whatever becomes of the others. That one was lost is
	 * more than that a server could not be asked.
	 */
	private static <T> void each(Iterable<T> locks, Consumer<T> action) {
		RuntimeException gravest = null;
		for (T lock : locks) {
			try {
				action.accept(lock);
			}
			catch (RuntimeException ex) {
				boolean graver = ex instanceof LockLostException && !(gravest instanceof LockLostException);
				RuntimeException lesser = graver ? gravest : ex;
				gravest = (graver || gravest == null) ? ex : gravest;
				if (lesser != null && lesser != gravest) {
					gravest.addSuppressed(lesser);
				}
			}
		}
		if (gravest != null) {
			throw gravest;
		}
	}

	@Override
	public String toString() {
		return all().toString();
	}

}
