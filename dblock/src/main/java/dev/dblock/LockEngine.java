package dev.dblock;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

import dev.dblock.job.JobStatus;

import org.springframework.transaction.reactive.TransactionContext;

/**
 * What a {@link LockTemplate} stands on. Applications use the template; this is for those
 * who bring an engine of their own.
 */
public interface LockEngine {

	/**
	 * The name under which the server knows a lock.
	 * @param name the name as the application says it
	 * @return the full name, prefix included
	 * @throws IllegalArgumentException when the name cannot be one, with the reason
	 */
	String fullName(String name);

	/**
	 * Check options without asking for a lock.
	 * @param options the options, completed by the engine's own defaults
	 * @throws IllegalArgumentException when no lock could be acquired with them, with the
	 * reason
	 */
	void check(LockOptions options);

	/**
	 * Ask for a lock, and wait for it as long as the options say, or what is set for its
	 * name ({@code dblock.locks}), which comes before them.
	 * @param name the name as the application says it
	 * @param options the options, completed by the engine's own defaults
	 * @return the grant or the refusal
	 * @throws IllegalArgumentException when the name or the options cannot be
	 * @throws LockInterruptedException when the thread is interrupted
	 * @throws LockShutdownException when the engine is closed
	 * @throws ForeignDocumentException when something else is stored under the name
	 * @throws org.springframework.dao.DataAccessException when the server cannot be asked
	 */
	LockAttempt acquire(String name, LockOptions options);

	/**
	 * Check a name as far as that can be done outside of any call.
	 * @param name the name as the application says it
	 * @throws IllegalArgumentException when the name cannot be one, with the reason
	 */
	default void checkName(String name) {
		fullName(name);
	}

	/**
	 * Check options for a name without asking for its lock: what is set for the name
	 * ({@code dblock.locks}) comes before what the options say.
	 * @param name the name as the application says it, with {@code U+0000} for each part
	 * that only a call can tell; then what is set for names that it covers counts as well
	 * @param options the options, completed by the engine's own defaults
	 * @throws IllegalArgumentException when the lock could not be acquired with them,
	 * with the reason
	 */
	default void check(String name, LockOptions options) {
		check(options);
	}

	/**
	 * What is set for methods that find a lock unavailable, in the place of what they say
	 * themselves.
	 * @param name the name as the application says it
	 * @return what they do, or empty when that is left to them
	 */
	default Optional<WhenUnavailable> whenUnavailable(String name) {
		return Optional.empty();
	}

	/**
	 * What happens to the work under a lock when its lease is lost.
	 * @param name the name as the application says it
	 * @param options the options, completed by the engine's own defaults
	 * @return what happens
	 */
	default WhenLost whenLost(String name, LockOptions options) {
		WhenLost said = options.whenLost();
		return (said != null) ? said : WhenLost.NOTIFY;
	}

	/**
	 * Ask for a lock with a wait that nothing that is set changes, since it is a part of
	 * what the caller has promised.
	 * @param name the name as the application says it
	 * @param options the options, completed by the engine's own defaults
	 * @param wait how long to wait while somebody else holds the lock; zero asks once
	 * @return the grant or the refusal
	 * @see #acquire(String, LockOptions)
	 */
	default LockAttempt acquire(String name, LockOptions options, Duration wait) {
		return acquire(name, options.waitUpTo(wait));
	}

	/**
	 * Complete options by what is set for single names, without the engine's own
	 * defaults.
	 * @param name the name as the application says it
	 * @param options the options
	 * @return the options
	 */
	default LockOptions withSettings(String name, LockOptions options) {
		return options;
	}

	/**
	 * Complete options the way {@link #acquire(String, LockOptions)} does.
	 * @param name the name as the application says it
	 * @param options the options
	 * @return the options that a lock of this name is acquired with; what is left out
	 * there is not known before it is acquired
	 * @throws IllegalArgumentException when the options cannot be
	 */
	default LockOptions complete(String name, LockOptions options) {
		return options;
	}

	/**
	 * Begin work under a lock that is held already. From now on the lease lasts at least
	 * as long as the lease that the options ask for, and it is renewed automatically
	 * until the work has ended if they ask for that. The server is asked only where the
	 * lease would be too short otherwise. The rest of the options has no effect.
	 * @param handle a handle of this engine
	 * @param name the name as the application says it
	 * @param options the options that the work would have acquired the lock with,
	 * completed by the engine's own defaults
	 * @return ends what this has begun; to be run when the work has ended
	 * @throws IllegalArgumentException when the options are invalid
	 * @throws LockLostException when the lock is not held any more
	 * @throws LockInterruptedException when the thread was interrupted while it asked the
	 * server; its interrupt status is set
	 * @throws org.springframework.dao.DataAccessException when the server cannot be
	 * asked; the lease then stays as it was
	 */
	default Runnable reenter(LockHandle handle, String name, LockOptions options) {
		handle.ensureHeld();
		return () -> {
		};
	}

	/**
	 * Give a lock back under which no work was done, so that nothing is left of it: at
	 * once, though a transaction is open or a minimum hold is not over. A server that
	 * cannot be told is only logged.
	 * @param handle a handle of this engine
	 */
	default void giveBack(LockHandle handle) {
		try {
			handle.close();
		}
		catch (LockLostException ex) {
			// Nothing was done under it
			return;
		}
	}

	/**
	 * A lock that a transaction of the current thread still keeps after its handle was
	 * closed.
	 * @param fullName the full name of the lock
	 * @return its handle
	 */
	Optional<LockHandle> keptByTransaction(String fullName);

	/**
	 * A lock that the current thread has acquired and that was not given back yet, be it
	 * known to the thread's work or by its handle alone.
	 * @param fullName the full name of the lock
	 * @return its handle, while the lock is held
	 */
	default Optional<LockHandle> heldByThread(String fullName) {
		return Optional.empty();
	}

	/**
	 * A lock that a reactive transaction still keeps after its handle was closed.
	 * @param fullName the full name of the lock
	 * @param transaction the transaction
	 * @return its handle
	 */
	default Optional<LockHandle> keptByTransaction(String fullName, TransactionContext transaction) {
		return Optional.empty();
	}

	/**
	 * Work under a lock is about to begin inside a reactive transaction: the transaction
	 * stands under the lock from now on, and keeps it until it has ended.
	 * @param handle a handle of this engine
	 * @param transaction the transaction, open or not
	 * @return has the transaction go on without the lock, where nothing was done under it
	 * @throws IllegalStateException when the transaction ends at this moment, or is about
	 * to be committed
	 */
	default Runnable joinTransaction(LockHandle handle, TransactionContext transaction) {
		return () -> {
		};
	}

	/**
	 * The current thread begins to work under a lock that may have been acquired by
	 * another: until {@link #detach} its transactions stand under the lock as well, and
	 * it is interrupted at a loss where that was asked for.
	 * @param handle a handle of this engine
	 */
	default void attach(LockHandle handle) {
	}

	/**
	 * The current thread goes on to other work while the lock is held on: what it does
	 * from now on has nothing to do with the lock.
	 * @param handle a handle of this engine
	 */
	default void detach(LockHandle handle) {
	}

	/**
	 * Work has ended that wanted something done at a loss of its lock, which somebody
	 * else may hold for long: not to be kept for as long as that.
	 * @param handle a handle of this engine
	 * @param callback what its {@link LockHandle#onLost(Runnable)} was given; nothing
	 * happens when it was not
	 */
	default void forget(LockHandle handle, Runnable callback) {
	}

	/**
	 * The work under a lock has ended, and another thread is about to give it back: not a
	 * lock that is still in use, should the engine be closed before that.
	 * @param handle a handle of this engine
	 */
	default void aboutToRelease(LockHandle handle) {
	}

	/**
	 * Look at one lock.
	 * @param name the name as the application says it
	 * @return its state, or empty when it was never acquired or has been cleaned up
	 */
	Optional<LockInfo> inspect(String name);

	/**
	 * Read the run record of a job.
	 * @param fullName the full name of its lock
	 * @param jobId the id of the job
	 * @return its record, or empty if none is stored
	 * @throws org.springframework.dao.DataAccessException when the server cannot be asked
	 */
	default Optional<JobStatus> findJob(String fullName, String jobId) {
		return Optional.empty();
	}

	/**
	 * Read the run record of a job within a time limit.
	 * @param fullName the full name of its lock
	 * @param jobId the id of the job
	 * @param limit how long the server may take to answer
	 * @return its record, or empty if none is stored
	 * @throws org.springframework.dao.DataAccessException when the server cannot be asked
	 */
	default Optional<JobStatus> findJob(String fullName, String jobId, Duration limit) {
		return findJob(fullName, jobId);
	}

	/**
	 * Pause a job: its planned times are refused until it is resumed. A run that has
	 * begun continues.
	 * @param fullName the full name of its lock
	 * @param jobId the id of the job
	 * @param by who pauses it
	 * @throws UnsupportedOperationException if this engine records no runs
	 * @throws org.springframework.dao.DataAccessException when the server cannot be asked
	 */
	default void pauseJob(String fullName, String jobId, String by) {
		throw new UnsupportedOperationException("This engine cannot pause jobs, since it records no runs");
	}

	/**
	 * Resume a job.
	 * @param fullName the full name of its lock
	 * @param jobId the id of the job
	 * @return whether it was paused
	 * @throws org.springframework.dao.DataAccessException when the server cannot be asked
	 */
	default boolean resumeJob(String fullName, String jobId) {
		return false;
	}

	/**
	 * Notify the listeners that a planned time of a job was not run, and is no longer
	 * tried by this instance.
	 * @param fullName the full name of its lock
	 * @param jobId the id of the job
	 * @param plannedAt the planned time, by the clock of the server
	 */
	default void missedJob(String fullName, String jobId, Instant plannedAt) {
	}

	/**
	 * Look at all locks with this engine's prefix.
	 * @return their states, by name
	 */
	List<LockInfo> list();

	/**
	 * Take a lock away from its holder, see {@link LockOperations#forceRelease(String)}.
	 * @param name the name as the application says it
	 * @return whether it had a holder
	 */
	boolean forceRelease(String name);

	/**
	 * Take a lock away and free its name at once, see
	 * {@link LockOperations#forceReleaseNow(String)}.
	 * @param name the name as the application says it
	 * @return whether it had a holder
	 */
	boolean forceReleaseNow(String name);

}
