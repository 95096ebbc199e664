package dev.dblock.faults;

import java.nio.MappedByteBuffer;

import dev.dblock.LockHandle;
import org.jspecify.annotations.Nullable;

/**
 * Attempt in progress, with its record. The stamp is taken before the handle is checked.
 * A handle that then reports the lock as held claims to have held it after everything
 * with a lower stamp. This remains true if the thread is stopped between the two.
 */
final class OpenAttempt {

	private final MappedByteBuffer data;

	private final Stamps stamps;

	private @Nullable LockHandle handle;

	private boolean lost;

	private boolean over;

	OpenAttempt(MappedByteBuffer data, Stamps stamps, int name, Kind kind) {
		this.data = data;
		this.stamps = stamps;
		data.putLong(Records.NAME, name);
		data.putLong(Records.KIND, kind.ordinal());
		// Last, because a record with this value counts
		data.putLong(Records.REQUEST_NANOS, System.nanoTime());
	}

	/**
	 * Record that the lock was granted.
	 */
	synchronized void enter(LockHandle handle) {
		this.handle = handle;
		this.data.putLong(Records.TOKEN, handle.token());
		this.data.putLong(Records.ENTER_NANOS, System.nanoTime());
		this.data.putLong(Records.ENTER_STAMP, this.stamps.next());
		handle.onLost((reason) -> lost());
		observe();
	}

	private synchronized void lost() {
		this.lost = true;
		this.data.putLong(Records.LOST_NANOS, System.nanoTime());
	}

	/**
	 * Check whether the handle holds the lock, and record it if it does.
	 * @return whether the handle holds the lock
	 */
	synchronized boolean observe() {
		LockHandle handle = this.handle;
		if (handle == null || this.over) {
			return false;
		}
		boolean lostBefore = this.lost;
		long stamp = this.stamps.next();
		long nanos = System.nanoTime();
		if (!handle.isHeld()) {
			return false;
		}
		this.data.putLong(Records.HELD_STAMP, stamp);
		this.data.putLong(Records.HELD_NANOS, nanos);
		this.data.putLong(Records.HELD_UNTIL_NANOS, System.nanoTime() + handle.remaining().toNanos());
		if (lostBefore) {
			this.data.putLong(Records.HELD_AFTER_LOSS, 1);
		}
		return true;
	}

	/**
	 * Record that the section is about to release its lock, and no longer claims it.
	 */
	synchronized void leave() {
		observe();
		this.over = true;
	}

	synchronized void write(Writing writing, long value, Written written) {
		this.data.putLong(Records.VALUE, value);
		this.data.putLong(Records.WRITING, writing.ordinal());
		this.data.putLong(Records.WRITTEN, written.ordinal());
	}

	synchronized void end(Outcome outcome) {
		this.over = true;
		this.data.putLong(Records.END_NANOS, System.nanoTime());
		this.data.putLong(Records.OUTCOME, outcome.ordinal());
	}

}
