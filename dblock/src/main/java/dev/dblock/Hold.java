package dev.dblock;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One acquisition and those who work under it. Work that goes on elsewhere after a method
 * has returned may outlive the work that it was begun in, so the last one to end gives
 * the lock back.
 */
final class Hold {

	private static final Logger logger = LoggerFactory.getLogger(Hold.class);

	private final LockEngine engine;

	private final LockHandle handle;

	private final boolean owned;

	private final Set<Runnable> toBeTold = new LinkedHashSet<>(2);

	private int users = 1;

	private boolean joined;

	/** What the handle was given to tell of a loss. */
	private @Nullable Runnable follower;

	private boolean lost;

	private Hold(LockEngine engine, LockHandle handle, boolean owned) {
		this.engine = engine;
		this.handle = handle;
		this.owned = owned;
	}

	/**
	 * The hold of whoever acquired the lock, and has to give it back.
	 */
	static Hold owned(LockEngine engine, LockHandle handle) {
		return new Hold(engine, handle, true);
	}

	/**
	 * A hold that ends when somebody else says so.
	 */
	static Hold borrowed(LockEngine engine, LockHandle handle) {
		return new Hold(engine, handle, false);
	}

	/**
	 * The lock of that name under which this thread works already.
	 */
	static @Nullable Hold ofThread(LockEngine engine, String fullName) {
		Hold found = LockContext.find(engine, fullName);
		if (found != null) {
			return found;
		}
		LockHandle other = ThreadHold.handle(engine, fullName);
		if (other == null) {
			other = engine.keptByTransaction(fullName).orElse(null);
		}
		return (other != null) ? borrowed(engine, other) : null;
	}

	LockEngine engine() {
		return this.engine;
	}

	LockHandle handle() {
		return this.handle;
	}

	/**
	 * Whether those who hold the lock have to give it back.
	 */
	boolean isOwned() {
		return this.owned;
	}

	/**
	 * The hold of each lock, where several are held as one.
	 */
	List<Hold> parts() {
		return (this.handle instanceof LockHandleSet set) ? set.parts() : List.of(this);
	}

	/**
	 * Have the lock held for one more piece of work.
	 * @return {@code false} when it was given back before, or when that is not in the
	 * hands of those who hold it
	 */
	synchronized boolean join() {
		boolean open = this.owned && this.users > 0;
		if (open) {
			this.users++;
			this.joined = true;
		}
		return open;
	}

	/**
	 * Whether more work has ever begun under the lock, which may keep it for longer.
	 */
	synchronized boolean wasJoined() {
		return this.joined;
	}

	/**
	 * The hold for one more piece of work that may outlive what it was begun in.
	 * @return {@code null} when it was given back before; where that is in the hands of
	 * somebody else, the work goes on under the lock for as long as they hold it
	 */
	@Nullable Hold shared() {
		if (!this.owned) {
			return borrowed(this.engine, this.handle);
		}
		return join() ? this : null;
	}

	/**
	 * A piece of work has ended, which another thread is going to say.
	 */
	void aboutToLeave() {
		if (this.owned && !isShared()) {
			this.engine.aboutToRelease(this.handle);
		}
	}

	/**
	 * The current thread begins to work under the lock, see {@link LockEngine#attach}.
	 */
	void attach() {
		this.engine.attach(this.handle);
	}

	/**
	 * The current thread goes on to other work, see {@link LockEngine#detach}.
	 */
	void detach() {
		this.engine.detach(this.handle);
	}

	/**
	 * The thread begins to work under several locks: also under those that somebody else
	 * holds for it.
	 */
	void enterThread() {
		if (this.handle instanceof LockHandleSet set) {
			set.enterThread();
		}
	}

	/**
	 * The acquiring thread has done its part. What it does next is not done under the
	 * lock, even if the lock is held on.
	 */
	void leaveThread() {
		if (this.handle instanceof LockHandleSet set) {
			set.leaveThread();
		}
		else if (isShared()) {
			detach();
		}
	}

	private synchronized boolean isShared() {
		return this.users > 1;
	}

	/** Whether no other work goes on under the lock, which is released after this. */
	private synchronized boolean isAlone() {
		return this.owned && this.users == 1;
	}

	private synchronized boolean isLast() {
		return --this.users == 0 && this.owned;
	}

	/**
	 * Notify a piece of work of a loss, in the calling thread if the lock is lost already
	 * and otherwise in a thread of its own. However many share a hold, its handle knows
	 * of one of them.
	 * @param news what to do, once or twice
	 */
	void onLost(Runnable news) {
		Runnable first = null;
		boolean late;
		synchronized (this) {
			this.toBeTold.add(news);
			late = this.lost;
			if (this.follower == null) {
				first = this::tellOfLoss;
				this.follower = first;
			}
		}
		if (first != null) {
			this.handle.onLost(first);
			// The work may have ended, and been forgotten, before the handle knew of it
			if (!isFollowedBy(first)) {
				this.engine.forget(this.handle, first);
			}
		}
		else if (late) {
			news.run();
		}
	}

	private synchronized boolean isFollowedBy(Runnable candidate) {
		return this.follower == candidate;
	}

	private void tellOfLoss() {
		List<Runnable> all;
		synchronized (this) {
			this.lost = true;
			all = List.copyOf(this.toBeTold);
		}
		if (all.size() == 1) {
			all.get(0).run();
		}
		else {
			all.forEach(LockThreads::executeCallback);
		}
	}

	/**
	 * A piece of work has ended and needs no news any more. A handle that somebody else
	 * gives back may be held for much longer, and be borrowed for each piece of work.
	 */
	void forget(Runnable news) {
		Runnable last = null;
		synchronized (this) {
			this.toBeTold.remove(news);
			if (!this.owned && this.toBeTold.isEmpty()) {
				last = this.follower;
				this.follower = null;
			}
		}
		if (last != null) {
			this.engine.forget(this.handle, last);
		}
	}

	/**
	 * One piece of work has ended.
	 * @throws LockLostException when the lease was lost while it went on
	 */
	void leave() {
		if (isLast()) {
			this.handle.close();
			return;
		}
		try {
			this.handle.ensureHeld();
		}
		catch (LockLostException ex) {
			throw ex;
		}
		catch (RuntimeException ex) {
			logger.debug("Nobody says whether the lock '{}' is still held; whoever ends last will hear",
					this.handle.name(), ex);
		}
	}

	/**
	 * The work that the lock was acquired for has not begun.
	 */
	void giveBack() {
		if (isLast()) {
			this.engine.giveBack(this.handle);
		}
	}

	/**
	 * One piece of work has ended, and says so by hand.
	 * @return whether the lock was still held
	 */
	boolean release() {
		return isLast() ? this.handle.release() : this.handle.isHeld();
	}

	/**
	 * One piece of work has ended, well or not.
	 * @param thrown what it threw, or {@code null}
	 * @return what its caller is to be told of, or {@code null}
	 */
	@Nullable Throwable end(@Nullable Throwable thrown) {
		if (thrown != null) {
			return leaveAfter(thrown);
		}
		try {
			leave();
			return null;
		}
		catch (RuntimeException | Error ex) {
			return ex;
		}
	}

	/**
	 * Record that the run of a job failed. Work within it that fails is no failure of the
	 * run, which may catch it.
	 */
	void recordFailure(Throwable thrown) {
		if (isAlone()) {
			this.handle.runFailed(thrown);
		}
	}

	/**
	 * One piece of work has failed. A lost lease outranks what the work threw, since only
	 * it says that somebody else may have been at the same work; neither an {@link Error}
	 * nor an exception that tells of the loss already is hidden by it.
	 * @return what to throw
	 */
	Throwable leaveAfter(Throwable thrown) {
		recordFailure(thrown);
		try {
			leave();
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

}
