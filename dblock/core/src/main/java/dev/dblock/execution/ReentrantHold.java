package dev.dblock.execution;

import java.util.ArrayDeque;
import java.util.ConcurrentModificationException;
import java.util.Deque;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.engine.LockEngine;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state of one name that a thread has locked through a {@link ReentrantLockView}: how
 * often, and under which grant. Known only to its thread, and removed with the last
 * unlock.
 * <p>
 * A thread that was notified of a loss can lock again without having unlocked the lost
 * lock, as a leader candidate does. The unlocks of the lost lock are then still owed, and
 * each of them fails.
 */
final class ReentrantHold extends LockContext {

	private static final Logger logger = LoggerFactory.getLogger(ReentrantHold.class);

	private final LockEngine engine;

	private final String fullName;

	private @Nullable LockHandle handle;

	private boolean owned;

	/** The re-entries of the locks that are not unlocked yet, the last one first. */
	private final Deque<Runnable> entries = new ArrayDeque<>();

	private boolean lossReported;

	private int owed;

	private ReentrantHold(LockEngine engine, String fullName) {
		this.engine = engine;
		this.fullName = fullName;
	}

	/**
	 * Return the lock that this thread has locked, or still has to unlock.
	 */
	static @Nullable ReentrantHold find(LockEngine engine, String fullName) {
		return find(ReentrantHold.class, (hold) -> hold.engine.id() == engine.id() && hold.fullName.equals(fullName));
	}

	/**
	 * Return the grant under which this thread has locked a name.
	 */
	static @Nullable LockHandle handle(LockEngine engine, String fullName) {
		ReentrantHold hold = find(engine, fullName);
		return (hold != null) ? hold.handle() : null;
	}

	/**
	 * Begin the hold of a lock that this thread has acquired. The last unlock releases
	 * it.
	 * @param handle the grant
	 */
	static void begin(LockEngine engine, LockHandle handle) {
		begin(engine, handle, true, () -> {
		});
	}

	/**
	 * Begin the hold of a lock under which this thread already works. The thread still
	 * works under it after the last unlock.
	 * @param handle the grant
	 * @param reentry ends the re-entry
	 */
	static void beginInside(LockEngine engine, LockHandle handle, Runnable reentry) {
		begin(engine, handle, false, reentry);
		Hold.borrowed(engine, handle).attach();
	}

	private static void begin(LockEngine engine, LockHandle handle, boolean owned, Runnable entry) {
		ReentrantHold hold = find(engine, handle.name());
		if (hold == null) {
			hold = new ReentrantHold(engine, handle.name());
			hold.enter();
		}
		hold.handle = handle;
		hold.owned = owned;
		hold.entries.push(entry);
	}

	/**
	 * Return the grant, or {@code null} once the thread was notified of its loss.
	 */
	@Override
	protected @Nullable LockHandle handle() {
		return this.lossReported ? null : this.handle;
	}

	@Override
	protected boolean isWork() {
		return false;
	}

	/**
	 * Lock once more.
	 * @param name the name as used by the application
	 * @param options how the lock would be acquired
	 * @return {@code false} if the thread has to acquire the lock, since only the unlocks
	 * of a lost one are left
	 * @throws LockLostException if the lock was lost; thrown once
	 */
	boolean reenter(String name, LockOptions options) {
		LockHandle current = handle();
		if (current == null) {
			writeOff();
			return false;
		}
		try {
			this.entries.push(Hold.borrowed(this.engine, current).reenter(name, options));
		}
		catch (LockLostException ex) {
			this.lossReported = true;
			throw ex;
		}
		return true;
	}

	/**
	 * Close the lost grant, since the thread locks again. Until then, it prevents the
	 * commit of transactions that began under it.
	 */
	private void writeOff() {
		LockHandle lost = this.handle;
		if (lost == null) {
			return;
		}
		this.owed += this.entries.size();
		this.entries.clear();
		this.handle = null;
		this.lossReported = false;
		if (!this.owned) {
			Hold.borrowed(this.engine, lost).detach();
			return;
		}
		try {
			lost.close();
		}
		catch (LockLostException ex) {
			logger.trace("The thread was notified before", ex);
		}
	}

	/**
	 * Unlock once.
	 * @throws ConcurrentModificationException if the lock had been lost before
	 */
	void unlock() {
		LockHandle current = this.handle;
		if (current == null) {
			this.owed--;
			forgetIfOver();
			throw lost(null);
		}
		this.entries.pop().run();
		boolean last = this.entries.isEmpty();
		if (last) {
			this.handle = null;
			this.lossReported = false;
			forgetIfOver();
			if (!this.owned) {
				Hold.borrowed(this.engine, current).detach();
			}
		}
		Hold grant = (last && this.owned) ? Hold.owned(this.engine, current) : Hold.borrowed(this.engine, current);
		try {
			grant.leave();
		}
		catch (LockLostException ex) {
			throw lost(ex);
		}
	}

	private ConcurrentModificationException lost(@Nullable LockLostException loss) {
		return new ConcurrentModificationException((loss != null) ? loss.getMessage()
				: "The lock '%s' was lost before it was unlocked; this thread was notified when it locked it again"
					.formatted(this.fullName),
				loss);
	}

	private void forgetIfOver() {
		if (this.handle == null && this.owed == 0) {
			leave();
		}
	}

}
