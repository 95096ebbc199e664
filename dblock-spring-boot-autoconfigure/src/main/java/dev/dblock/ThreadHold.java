package dev.dblock;

import java.util.ConcurrentModificationException;
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

	private int count;

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
	 * This thread has locked a name.
	 * @param handle the grant
	 * @param owned whether the last unlock gives it back
	 */
	static void begin(LockEngine engine, LockHandle handle, boolean owned) {
		Map<Key, ThreadHold> holds = HOLDS.get();
		if (holds == null) {
			holds = new HashMap<>();
			HOLDS.set(holds);
		}
		ThreadHold hold = holds.computeIfAbsent(new Key(engine, handle.name()), ThreadHold::new);
		hold.handle = handle;
		hold.owned = owned;
		hold.count = 1;
		if (!owned) {
			engine.attach(handle);
		}
	}

	/**
	 * Nothing that counts is locked once the thread was told of its loss.
	 */
	private @Nullable LockHandle live() {
		return this.toldOfLoss ? null : this.handle;
	}

	/**
	 * Lock once more.
	 * @param renew whether nobody else renews the lease
	 * @return {@code false} when the thread has to acquire the lock: it has nothing but
	 * unlocks left of one that it was told to have lost
	 * @throws LockLostException when the lock was lost, once
	 */
	boolean reenter(boolean renew) {
		LockHandle current = live();
		if (current == null) {
			writeOff();
			return false;
		}
		try {
			if (renew) {
				current.renew();
			}
			else {
				current.ensureHeld();
			}
		}
		catch (LockLostException ex) {
			this.toldOfLoss = true;
			throw ex;
		}
		this.count++;
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
		this.owed += this.count;
		this.count = 0;
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
		this.count--;
		boolean last = this.count == 0;
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
