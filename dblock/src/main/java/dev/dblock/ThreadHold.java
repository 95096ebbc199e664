package dev.dblock;

import java.util.ArrayDeque;
import java.util.ConcurrentModificationException;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one thread has locked of one name through a {@link LockView}: how often, and under
 * which grant. Known to its thread alone, and forgotten with the last unlock.
 * <p>
 * A thread that was told of a loss may lock anew (as one that wants to lead again does,
 * without ever unlocking what it has lost). The unlocks of what was lost are owed then,
 * and each of them fails.
 */
final class ThreadHold {

	private static final Logger logger = LoggerFactory.getLogger(ThreadHold.class);

	private static final ThreadLocal<@Nullable Map<Key, ThreadHold>> HOLDS = new ThreadLocal<>();

	private final Key key;

	private @Nullable LockHandle handle;

	private boolean owned;

	/** What each lock that was not unlocked yet has begun, the last one first. */
	private final Deque<Runnable> entries = new ArrayDeque<>();

	private boolean toldOfLoss;

	private int owed;

	private ThreadHold(Key key) {
		this.key = key;
	}

	/**
	 * What this thread has locked, or has yet to unlock.
	 */
	static @Nullable ThreadHold find(LockEngine engine, String fullName) {
		Map<Key, ThreadHold> holds = HOLDS.get();
		return (holds != null) ? holds.get(new Key(engine, fullName)) : null;
	}

	/**
	 * The grant under which this thread has locked a name.
	 */
	static @Nullable LockHandle handle(LockEngine engine, String fullName) {
		ThreadHold hold = find(engine, fullName);
		return (hold != null) ? hold.live() : null;
	}

	/**
	 * The grant under which this thread has locked a name, of whatever engine.
	 */
	static @Nullable LockHandle handle(String fullName) {
		Map<Key, ThreadHold> holds = HOLDS.get();
		if (holds != null) {
			for (ThreadHold hold : holds.values()) {
				LockHandle handle = hold.live();
				if (handle != null && hold.key.fullName().equals(fullName)) {
					return handle;
				}
			}
		}
		return null;
	}

	/**
	 * This thread has acquired a lock, which the last unlock releases.
	 * @param handle the grant
	 */
	static void begin(LockEngine engine, LockHandle handle) {
		begin(engine, handle, true, () -> {
		});
	}

	/**
	 * This thread has locked a name under which it works already, and goes on to do so
	 * after the last unlock.
	 * @param handle the grant
	 * @param reentry ends what the re-entry has begun
	 */
	static void beginInside(LockEngine engine, LockHandle handle, Runnable reentry) {
		begin(engine, handle, false, reentry);
		engine.attach(handle);
	}

	private static void begin(LockEngine engine, LockHandle handle, boolean owned, Runnable entry) {
		Map<Key, ThreadHold> holds = HOLDS.get();
		if (holds == null) {
			holds = new HashMap<>();
			HOLDS.set(holds);
		}
		ThreadHold hold = holds.computeIfAbsent(new Key(engine, handle.name()), ThreadHold::new);
		hold.handle = handle;
		hold.owned = owned;
		hold.entries.push(entry);
	}

	/**
	 * Nothing that counts is locked once the thread was told of its loss.
	 */
	private @Nullable LockHandle live() {
		return this.toldOfLoss ? null : this.handle;
	}

	/**
	 * Lock once more.
	 * @param name the name as the application says it
	 * @param options how the lock would be acquired
	 * @return {@code false} when the thread has to acquire the lock: it has nothing but
	 * unlocks left of one that it was told to have lost
	 * @throws LockLostException when the lock was lost, once
	 */
	boolean reenter(String name, LockOptions options) {
		LockHandle current = live();
		if (current == null) {
			writeOff();
			return false;
		}
		try {
			this.entries.push(this.key.engine().reenter(current, name, options));
		}
		catch (LockLostException ex) {
			this.toldOfLoss = true;
			throw ex;
		}
		return true;
	}

	/**
	 * Until the thread locks anew, what it had lost stands in the way of the commits of
	 * what it did under it.
	 */
	private void writeOff() {
		LockHandle lost = this.handle;
		if (lost == null) {
			return;
		}
		this.owed += this.entries.size();
		this.entries.clear();
		this.handle = null;
		this.toldOfLoss = false;
		if (!this.owned) {
			this.key.engine().detach(lost);
			return;
		}
		try {
			lost.close();
		}
		catch (LockLostException ex) {
			logger.trace("The thread was told before", ex);
		}
	}

	/**
	 * Unlock once.
	 * @throws ConcurrentModificationException when the lock had been lost before
	 */
	void leave() {
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
			this.toldOfLoss = false;
			forgetIfOver();
			if (!this.owned) {
				this.key.engine().detach(current);
			}
		}
		try {
			if (last && this.owned) {
				current.close();
			}
			else {
				check(current);
			}
		}
		catch (LockLostException ex) {
			throw lost(ex);
		}
	}

	private static void check(LockHandle handle) {
		try {
			handle.ensureHeld();
		}
		catch (LockLostException ex) {
			throw ex;
		}
		catch (RuntimeException ex) {
			logger.debug("Nobody says whether the lock '{}' is still held; whoever gives it back will hear",
					handle.name(), ex);
		}
	}

	private ConcurrentModificationException lost(@Nullable LockLostException loss) {
		return new ConcurrentModificationException((loss != null) ? loss.getMessage()
				: "The lock '%s' had been lost before it was unlocked, as this thread was told when it locked it once more"
					.formatted(this.key.fullName()),
				loss);
	}

	private void forgetIfOver() {
		Map<Key, ThreadHold> holds = HOLDS.get();
		if (this.handle == null && this.owed == 0 && holds != null) {
			holds.remove(this.key);
			if (holds.isEmpty()) {
				HOLDS.remove();
			}
		}
	}

	private record Key(LockEngine engine, String fullName) {
	}

}
