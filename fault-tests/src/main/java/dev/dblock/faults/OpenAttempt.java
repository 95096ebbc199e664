package dev.dblock.faults;

import java.nio.MappedByteBuffer;

import dev.dblock.LockHandle;
import org.jspecify.annotations.Nullable;

/**
 * An attempt that goes on, and its record. The stamp is taken before the handle is asked,
 * so that a handle which answers yes held the lock, as it says, after everything that has
 * a lower stamp; a thread that is stopped between the two changes nothing about that.
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
		// Last, because a record that has it counts
		data.putLong(Records.REQUEST_NANOS, System.nanoTime());
	}

	/**
	 * The lock was granted.
	 */
	synchronized void enter(LockHandle handle) {
		this.handle = handle;
		this.data.putLong(Records.TOKEN, handle.token());
		this.data.putLong(Records.ENTER_NANOS, System.nanoTime());
		this.data.putLong(Records.ENTER_STAMP, this.stamps.next());
		handle.onLost(this::lost);
		observe();
	}

	private synchronized void lost() {
		this.lost = true;
		this.data.putLong(Records.LOST_NANOS, System.nanoTime());
	}

	/**
	 * Ask the handle whether it holds the lock, and record it when it does.
	 * @return whether it does
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
	 * The section is about to give its lock back, and claims nothing any more.
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
