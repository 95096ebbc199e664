package dev.dblock.execution;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LossReason;
import dev.dblock.engine.HeldLock;
import dev.dblock.engine.LockEngine;
import dev.dblock.support.CallThreads;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One acquisition and the work that shares it. Work that continues elsewhere after a
 * method has returned can outlive the work in which it was started. So the last piece of
 * work to end releases the lock.
 */
public final class Hold {

	private static final Logger logger = LoggerFactory.getLogger(Hold.class);

	private static final Runnable NOTHING = () -> {
	};

	private final LockEngine engine;

	private final LockHandle handle;

	/** The handle, unless it is one of another library, as in tests of applications. */
	private final @Nullable HeldLock held;

	private final boolean owned;

	private final Set<Consumer<LossReason>> lossCallbacks = new LinkedHashSet<>(2);

	private int users = 1;

	private boolean joined;

	/** How many of the users have announced that they are about to leave, or fewer. */
	private int leaving;

	/** The callback that was registered with the handle to be notified of a loss. */
	private @Nullable Consumer<LossReason> follower;

	private @Nullable LossReason lost;

	private Hold(LockEngine engine, LockHandle handle, boolean owned) {
		this.engine = engine;
		this.handle = handle;
		this.held = HeldLock.of(handle);
		this.owned = owned;
	}

	/**
	 * Create the hold of the caller that acquired the lock and has to release it.
	 */
	public static Hold owned(LockEngine engine, LockHandle handle) {
		return new Hold(engine, handle, true);
	}

	/**
	 * Create a hold of a lock that its owner releases.
	 */
	public static Hold borrowed(LockEngine engine, LockHandle handle) {
		return new Hold(engine, handle, false);
	}

	/**
	 * Return the hold of the lock with the given name under which this thread already
	 * works, or {@code null} if there is none.
	 */
	static @Nullable Hold ofThread(LockEngine engine, String fullName) {
		Hold found = WorkScope.find(engine, fullName);
		if (found != null) {
			return found;
		}
		return otherOfThread(engine, fullName);
	}

	/**
	 * Return the hold of the lock with the given name that this thread has locked
	 * manually, or that a transaction of the thread keeps, or {@code null} if there is
	 * none.
	 */
	static @Nullable Hold otherOfThread(LockEngine engine, String fullName) {
		LockHandle other = ReentrantHold.handle(engine, fullName);
		if (other == null) {
			other = engine.keptByTransaction(fullName).orElse(null);
		}
		return (other != null) ? borrowed(engine, other) : null;
	}

	public LockEngine engine() {
		return this.engine;
	}

	public LockHandle handle() {
		return this.handle;
	}

	/**
	 * Whether the users of this hold have to release the lock.
	 */
	boolean isOwned() {
		return this.owned;
	}

	/**
	 * Return the hold of each lock, if several are held as one.
	 */
	public List<Hold> parts() {
		return (this.handle instanceof LockHandleSet set) ? set.parts() : List.of(this);
	}

	/**
	 * Share the lock with one more piece of work.
	 * @return {@code false} if the lock was already released, or if the users of this
	 * hold do not release it
	 */
	synchronized boolean join() {
		boolean open = this.owned && addUser();
		this.joined |= open;
		return open;
	}

	/**
	 * Share the lock with a nested call, which has to {@linkplain #removeUser leave it}.
	 * @return {@code false} if the lock was already released
	 */
	synchronized boolean addUser() {
		boolean open = this.users > 0;
		this.users += open ? 1 : 0;
		return open;
	}

	/**
	 * End the part of a nested call, which does not announce that it leaves.
	 * @return whether the caller has to close the handle
	 */
	boolean removeUser() {
		boolean last;
		boolean othersLeave;
		synchronized (this) {
			this.users--;
			last = this.users == 0;
			othersLeave = this.leaving >= this.users;
		}
		if (this.held != null && othersLeave && !last) {
			this.held.aboutToRelease();
		}
		return last;
	}

	/**
	 * Whether work that can outlive its caller has ever begun under the lock, in addition
	 * to the work that acquired it.
	 */
	synchronized boolean wasJoined() {
		return this.joined;
	}

	/**
	 * Return the hold for one more piece of work that can outlive the work in which it
	 * was started.
	 * @return {@code null} if the lock was already released. If another owner releases
	 * it, the work runs under the lock for as long as that owner holds it
	 */
	public @Nullable Hold shared() {
		if (!this.owned) {
			return borrowed(this.engine, this.handle);
		}
		return join() ? this : null;
	}

	/**
	 * Announce that a piece of work has ended and that another thread is about to leave
	 * this hold for it.
	 */
	public void aboutToLeave() {
		boolean last;
		synchronized (this) {
			this.leaving++;
			last = this.owned && this.leaving >= this.users;
		}
		if (this.held != null && last) {
			this.held.aboutToRelease();
		}
	}

	/**
	 * Begin work under the lock in addition to the work that acquired it.
	 * @return ends the re-entry
	 * @see HeldLock#reenter
	 */
	public Runnable reenter(String name, LockOptions options) {
		LockOptions completed = this.engine.complete(name, options);
		if (this.held != null) {
			return this.held.reenter(completed);
		}
		this.handle.ensureHeld();
		return NOTHING;
	}

	/**
	 * Refuse requests to run once more, see {@link HeldLock#closeRequests}.
	 */
	Optional<String> closeRequests(@Nullable String seen) {
		return (this.held != null) ? this.held.closeRequests(seen) : Optional.empty();
	}

	/**
	 * Begin to work under the lock in the current thread, see {@link HeldLock#attach}.
	 */
	public void attach() {
		if (this.held != null) {
			this.held.attach();
		}
	}

	/**
	 * Turn the current thread to other work, see {@link HeldLock#detach}.
	 */
	public void detach() {
		if (this.held != null) {
			this.held.detach();
		}
	}

	/**
	 * Begin to work under several locks in the current thread, including those that are
	 * borrowed from another owner.
	 */
	void enterThread() {
		parts().stream().filter((part) -> !part.isOwned()).forEach(Hold::attach);
	}

	/**
	 * End the part of the acquiring thread. Its further work does not run under the lock,
	 * even if the lock is still held.
	 */
	void leaveThread() {
		if (this.handle instanceof LockHandleSet set) {
			set.leaveThread();
		}
		else if (isShared()) {
			detach();
		}
	}

	/**
	 * Whether more than one piece of work uses the lock.
	 */
	synchronized boolean isShared() {
		return this.users > 1;
	}

	/** Leave if no other work shares the lock, and return whether this was so. */
	private synchronized boolean leaveIfAlone() {
		boolean alone = this.owned && this.users == 1;
		if (alone) {
			this.users = 0;
		}
		return alone;
	}

	private synchronized boolean isLast() {
		// Never too many are counted, even if this work has not announced that it leaves
		this.leaving -= (this.leaving > 0) ? 1 : 0;
		return --this.users == 0 && this.owned;
	}

	/**
	 * Register a callback for a loss of the lock. It runs in the calling thread if the
	 * lock is already lost, and otherwise in a thread of its own. The handle has a single
	 * callback for each hold, regardless of how much work shares the hold.
	 * @param news the callback; it can run twice
	 */
	public void onLost(Consumer<LossReason> news) {
		Consumer<LossReason> first = null;
		LossReason late;
		synchronized (this) {
			this.lossCallbacks.add(news);
			late = this.lost;
			if (this.follower == null) {
				first = this::notifyOfLoss;
				this.follower = first;
			}
		}
		if (first != null) {
			this.handle.onLost(first);
			// The work may have ended, and removed its callback, before the handle had it
			if (this.held != null && !isFollowedBy(first)) {
				this.held.forget(first);
			}
		}
		else if (late != null) {
			news.accept(late);
		}
	}

	private synchronized boolean isFollowedBy(Consumer<LossReason> candidate) {
		return this.follower == candidate;
	}

	private void notifyOfLoss(LossReason reason) {
		List<Consumer<LossReason>> all;
		synchronized (this) {
			this.lost = reason;
			all = List.copyOf(this.lossCallbacks);
		}
		if (all.size() == 1) {
			all.get(0).accept(reason);
		}
		else {
			all.forEach((news) -> CallThreads.executeCallback(() -> news.accept(reason)));
		}
	}

	/**
	 * Remove the callback of a piece of work that has ended. A handle that another owner
	 * releases can be held for much longer, and be borrowed for each piece of work.
	 */
	public void forget(Consumer<LossReason> news) {
		Consumer<LossReason> last = null;
		synchronized (this) {
			this.lossCallbacks.remove(news);
			if (!this.owned && this.lossCallbacks.isEmpty()) {
				last = this.follower;
				this.follower = null;
			}
		}
		if (this.held != null && last != null) {
			this.held.forget(last);
		}
	}

	/**
	 * End one piece of work.
	 * @throws LockLostException if the lease was lost while the work was in progress
	 */
	public void leave() {
		if (leaveIfAlone()) {
			this.handle.close();
			return;
		}
		try {
			// Before leaving, since other work can release the lock right afterwards
			this.handle.ensureHeld();
		}
		catch (LockLostException ex) {
			throw ex;
		}
		catch (RuntimeException ex) {
			logger.debug("It is unknown whether the lock '{}' is still held; the last work under it will notice a loss",
					this.handle.name(), ex);
		}
		finally {
			if (isLast()) {
				this.handle.close();
			}
		}
	}

	/**
	 * Release the lock, since the work that it was acquired for has not begun.
	 */
	public void releaseUnused() {
		if (!isLast()) {
			return;
		}
		if (this.held != null) {
			this.held.releaseUnused();
		}
		else {
			this.handle.release();
		}
	}

	/**
	 * End one piece of work by an explicit release.
	 * @return whether the lock was still held
	 */
	boolean release() {
		// Before leaving, since other work can release the lock right afterwards
		boolean held = this.handle.isHeld();
		return isLast() ? this.handle.release() : held;
	}

	/**
	 * End one piece of work, successful or not.
	 * @param thrown what the work threw, or {@code null}
	 * @return the exception for the caller, or {@code null}
	 */
	public @Nullable Throwable end(@Nullable Throwable thrown) {
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
	 * Record that the run of a job failed. Must be called only for the work that acquired
	 * the lock, since a failure of other work under it is not a failure of the run.
	 */
	public void recordFailure(Throwable thrown) {
		if (this.owned) {
			this.handle.runFailed(thrown);
		}
	}

	/**
	 * End one piece of work that failed. A lost lease takes precedence over the exception
	 * of the work, since only the loss shows that another holder may have done the same
	 * work. It does not hide an {@link Error} or an exception that already reports the
	 * loss.
	 * @return the exception to throw
	 */
	Throwable leaveAfter(Throwable thrown) {
		return endAfter(thrown, this::leave);
	}

	/**
	 * Close the handle after work that failed, see {@link #leaveAfter}.
	 * @return the exception to throw
	 */
	Throwable closeAfter(Throwable thrown) {
		return endAfter(thrown, this.handle::close);
	}

	private static Throwable endAfter(Throwable thrown, Runnable leave) {
		try {
			leave.run();
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
