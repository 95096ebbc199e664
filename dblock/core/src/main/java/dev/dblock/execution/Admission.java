package dev.dblock.execution;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.stream.BaseStream;

import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.LockedAction;
import dev.dblock.engine.LockEngine;
import org.jspecify.annotations.Nullable;

/**
 * How a call that needs a lock is admitted: it joins the work of its thread under the
 * lock, it acquires the lock, or it is refused.
 */
sealed interface Admission {

	/**
	 * Admit a call of the current thread.
	 * @param engine the engine of the lock
	 * @param name the name as used by the application
	 * @param options how to acquire the lock
	 * @see LockEngine#acquire(String, LockOptions)
	 */
	static Admission of(LockEngine engine, String name, LockOptions options) {
		Joined joined = Joined.find(engine, engine.fullName(name));
		if (joined != null) {
			return joined;
		}
		LockEngine.Attempt attempt = engine.acquire(name, options);
		return (attempt instanceof LockEngine.Refused refused) ? new Refused(refused.refusal())
				: new Acquired(Hold.owned(engine, ((LockEngine.Granted) attempt).handle()));
	}

	/**
	 * Run work whose exceptions are thrown unchanged.
	 */
	static <T extends @Nullable Object> T unchanged(LockedAction<T> action) {
		try {
			return action.run();
		}
		catch (Throwable ex) {
			throw Admission.<RuntimeException>unchanged(ex);
		}
	}

	/**
	 * Throw an exception that the calling method does not declare.
	 * @return nothing, so that the caller can write {@code throw}
	 */
	@SuppressWarnings("unchecked")
	static <E extends Throwable> RuntimeException unchanged(Throwable ex) throws E {
		throw (E) ex;
	}

	/**
	 * The lock is not available.
	 *
	 * @param refusal the refusal
	 */
	record Refused(LockRefusal refusal) implements Admission {
	}

	/**
	 * The thread works under the lock that the call asks for. If the thread runs a part
	 * of a coroutine or of a reactive sequence, the work that acquired the lock may end
	 * before the call. Such a call is counted as a user of the hold. Calls of other
	 * threads, and calls inside of a counted one, are not, since they end first anyway.
	 *
	 * @param hold the hold of the lock
	 * @param counted whether the call is counted
	 */
	record Joined(Hold hold, boolean counted) implements Admission {

		/**
		 * Return the nested call, or {@code null} if the thread does not work under the
		 * lock, or if the lock was already released.
		 */
		static @Nullable Joined find(LockEngine engine, String fullName) {
			Hold found = Hold.ofThread(engine, fullName);
			if (found == null || !found.isOwned() || !WorkScope.isAttached(found)) {
				return of(found, false);
			}
			if (found.addUser()) {
				return of(found, true);
			}
			// A transaction of this thread may keep the lock, although its users have
			// left
			return of(Hold.otherOfThread(engine, fullName), false);
		}

		private static @Nullable Joined of(@Nullable Hold hold, boolean counted) {
			return (hold != null) ? new Joined(hold, counted) : null;
		}

		/**
		 * Run the action of the nested call. If a transaction keeps the lock, the thread
		 * may already have been detached, and has to be notified of a loss again from now
		 * on.
		 */
		<T extends @Nullable Object> T run(LockedAction<T> action) throws Throwable {
			try (WorkScope scope = this.hold.isOwned() ? WorkScope.enter(this.hold) : WorkScope.attach(this.hold)) {
				return action.run();
			}
		}

		/**
		 * End the call. A loss is reported by the work that leaves after it.
		 * @throws LockLostException if this call was the last work under the lock, and
		 * the lease was lost
		 */
		void end() {
			if (this.counted && this.hold.removeUser()) {
				this.hold.handle().close();
			}
		}

		/**
		 * End the call, which failed. After an overflow of the stack, this needs less of
		 * it than {@link #find}.
		 * @return the exception to throw, see {@link Hold#leaveAfter}
		 */
		Throwable endAfter(Throwable thrown) {
			boolean last = this.counted && this.hold.removeUser();
			return last ? this.hold.closeAfter(thrown) : thrown;
		}

	}

	/**
	 * The lock was acquired for the call.
	 *
	 * @param hold the hold of the lock
	 */
	record Acquired(Hold hold) implements Admission {

		private static final PendingTypes PENDING = new PendingTypes(Admission.class.getClassLoader());

		/**
		 * Run the action of the call, and reject a result whose work continues, or
		 * begins, after the lock is released. If the action has begun such work by
		 * {@code executeAsync} or {@code ReactiveLockTemplate} under the same lock, the
		 * lock may be kept, and the result is accepted.
		 */
		<T extends @Nullable Object> T run(LockedAction<T> action) throws Throwable {
			T result;
			this.hold.enterThread();
			try (WorkScope scope = WorkScope.enter(this.hold)) {
				result = action.run();
			}
			finally {
				this.hold.leaveThread();
			}
			Object pending = PENDING.pending(result);
			if (pending == null || this.hold.parts().stream().allMatch(Hold::wasJoined)) {
				return result;
			}
			if (pending instanceof BaseStream<?, ?> stream) {
				stream.close();
			}
			throw new IllegalStateException(
					("The action under the lock '%s' returned a %s, whose work would continue without the lock. The"
							+ " result was discarded; what the action already did was not undone. %s")
						.formatted(this.hold.handle().name(), pending.getClass().getName(), instead(pending)));
		}

		private static String instead(Object pending) {
			if (PENDING.isPublisher(pending.getClass())) {
				return "Use ReactiveLockTemplate, which holds the lock until the sequence ends";
			}
			return (pending instanceof CompletionStage || pending instanceof Future)
					? "Use executeAsync, which holds the lock until a CompletionStage completes"
					: "Finish the work in the action";
		}

	}

}
