package dev.dblock.execution;

import dev.dblock.LockLostException;
import dev.dblock.engine.LockEngine;
import org.jspecify.annotations.Nullable;

/**
 * A call in a thread that already works under the lock that the call asks for. If the
 * thread runs a part of a coroutine or of a reactive sequence, the work that acquired the
 * lock may end before the call. Such a call is counted as a user of the hold. Calls of
 * other threads, and calls inside of a counted one, are not, since they end first anyway.
 *
 * @param hold the hold of the lock
 * @param counted whether the call is counted
 */
record NestedCall(Hold hold, boolean counted) {

	/**
	 * Begin a nested call.
	 * @param engine the engine of the lock
	 * @param fullName the full name of the lock
	 * @return {@code null} if the thread does not work under the lock, or if the lock was
	 * already released
	 */
	static @Nullable NestedCall begin(LockEngine engine, String fullName) {
		Hold found = Hold.ofThread(engine, fullName);
		if (found == null || !found.isOwned() || !WorkScope.isAttached(found)) {
			return of(found, false);
		}
		if (found.addUser()) {
			return of(found, true);
		}
		// A transaction of this thread may keep the lock, although its users have left
		return of(Hold.otherOfThread(engine, fullName), false);
	}

	private static @Nullable NestedCall of(@Nullable Hold hold, boolean counted) {
		return (hold != null) ? new NestedCall(hold, counted) : null;
	}

	/**
	 * End the call. A loss is reported by the work that leaves after it.
	 * @throws LockLostException if this call was the last work under the lock, and the
	 * lease was lost
	 */
	void end() {
		if (this.counted && this.hold.removeUser()) {
			this.hold.handle().close();
		}
	}

	/**
	 * End the call, which failed. After an overflow of the stack, this needs less of it
	 * than {@link #begin}.
	 * @return the exception to throw, see {@link Hold#leaveAfter}
	 */
	Throwable endAfter(Throwable thrown) {
		boolean last = this.counted && this.hold.removeUser();
		return last ? this.hold.closeAfter(thrown) : thrown;
	}

}
