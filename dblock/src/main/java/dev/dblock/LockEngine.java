package dev.dblock;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

import dev.dblock.job.JobStatus;

import org.springframework.transaction.reactive.TransactionContext;

/**
 * Strategy interface behind a {@link LockTemplate}. Applications use the template.
 * Implement this interface to provide a different engine.
 */
public interface LockEngine {

	/**
	 * Return the name under which the server stores a lock.
	 * @param name the name as used by the application
	 * @return the full name, including the prefix
	 * @throws IllegalArgumentException if the name is invalid, with the reason
	 */
	String fullName(String name);

	/**
	 * Check options without requesting a lock.
	 * @param options the options, completed by the engine's own defaults
	 * @throws IllegalArgumentException if no lock could be acquired with them, with the
	 * reason
	 */
	void check(LockOptions options);

	/**
	 * Request a lock, and wait for it as long as the options allow. Settings for its name
	 * ({@code dblock.locks}) take precedence over the options.
	 * @param name the name as used by the application
	 * @param options the options, completed by the engine's own defaults
	 * @return the grant or the refusal
	 * @throws IllegalArgumentException if the name or the options are invalid
	 * @throws LockInterruptedException if the thread is interrupted
	 * @throws LockShutdownException if the engine is closed
	 * @throws ForeignDocumentException if something other than a lock is stored under the
	 * name
	 * @throws org.springframework.dao.DataAccessException if the request to the server
	 * fails
	 */
	LockAttempt acquire(String name, LockOptions options);

	/**
	 * Check a name as far as possible outside of a call.
	 * @param name the name as used by the application
	 * @throws IllegalArgumentException if the name is invalid, with the reason
	 */
	default void checkName(String name) {
		fullName(name);
	}

	/**
	 * Check options for a name without requesting its lock. Settings for the name
	 * ({@code dblock.locks}) take precedence over the options.
	 * @param name the name as used by the application, with {@code U+0000} for each part
	 * that only a call determines. In this case, the settings for all names that it can
	 * become are checked as well
	 * @param options the options, completed by the engine's own defaults
	 * @throws IllegalArgumentException if the lock could not be acquired with them, with
	 * the reason
	 */
	default void check(String name, LockOptions options) {
		check(options);
	}

	/**
	 * Return the behavior that is set for methods that find a lock unavailable. It takes
	 * precedence over what the methods declare.
	 * @param name the name as used by the application
	 * @return the behavior, or empty if the declarations of the methods apply
	 */
	default Optional<WhenUnavailable> whenUnavailable(String name) {
		return Optional.empty();
	}

	/**
	 * Return what happens to the work under a lock if its lease is lost.
	 * @param name the name as used by the application
	 * @param options the options, completed by the engine's own defaults
	 * @return what happens
	 */
	default WhenLost whenLost(String name, LockOptions options) {
		WhenLost said = options.whenLost();
		return (said != null) ? said : WhenLost.NOTIFY;
	}

	/**
	 * Request a lock with a wait that settings do not override, since the caller depends
	 * on it.
	 * @param name the name as used by the application
	 * @param options the options, completed by the engine's own defaults
	 * @param wait how long to wait while another holder has the lock; with zero, the lock
	 * is requested once
	 * @return the grant or the refusal
	 * @see #acquire(String, LockOptions)
	 */
	default LockAttempt acquire(String name, LockOptions options, Duration wait) {
		return acquire(name, options.waitUpTo(wait));
	}

	/**
	 * Complete options by the settings for single names, without the engine's own
	 * defaults.
	 * @param name the name as used by the application
	 * @param options the options
	 * @return the options
	 */
	default LockOptions withSettings(String name, LockOptions options) {
		return options;
	}

	/**
	 * Complete options as {@link #acquire(String, LockOptions)} does.
	 * @param name the name as used by the application
	 * @param options the options
	 * @return the options with which a lock of this name is acquired; those that are not
	 * set are unknown until it is acquired
	 * @throws IllegalArgumentException if the options are invalid
	 */
	default LockOptions complete(String name, LockOptions options) {
		return options;
	}

	/**
	 * Begin work under a lock that is already held. From now on, the lease lasts at least
	 * as long as the lease in the options. If the options require automatic renewal, the
	 * lease is renewed until the work has ended. A request is sent to the server only if
	 * the lease would otherwise be too short. The remaining options have no effect.
	 * @param handle a handle of this engine
	 * @param name the name as used by the application
	 * @param options the options with which the work would have acquired the lock,
	 * completed by the engine's own defaults
	 * @return ends the re-entry; to be run when the work has ended
	 * @throws IllegalArgumentException if the options are invalid
	 * @throws LockLostException if the lock is no longer held
	 * @throws LockInterruptedException if the thread was interrupted during the request;
	 * its interrupt status is set
	 * @throws org.springframework.dao.DataAccessException if the request to the server
	 * fails; the lease then remains unchanged
	 */
	default Runnable reenter(LockHandle handle, String name, LockOptions options) {
		handle.ensureHeld();
		return () -> {
		};
	}

	/**
	 * Release a lock under which no work was done, immediately and without a trace:
	 * neither an open transaction nor a minimum hold delays the release. If the server is
	 * unreachable, the failure is only logged.
	 * @param handle a handle of this engine
	 */
	default void giveBack(LockHandle handle) {
		try {
			handle.close();
		}
		catch (LockLostException ex) {
			// No work was done under it
			return;
		}
	}

	/**
	 * Return a lock that a transaction of the current thread still keeps after its handle
	 * was closed.
	 * @param fullName the full name of the lock
	 * @return its handle
	 */
	Optional<LockHandle> keptByTransaction(String fullName);

	/**
	 * Return a lock that the current thread has acquired and not yet released, whether
	 * the thread works under it or only has its handle.
	 * @param fullName the full name of the lock
	 * @return its handle, while the lock is held
	 */
	default Optional<LockHandle> heldByThread(String fullName) {
		return Optional.empty();
	}

	/**
	 * Return a lock that a reactive transaction still keeps after its handle was closed.
	 * @param fullName the full name of the lock
	 * @param transaction the transaction
	 * @return its handle
	 */
	default Optional<LockHandle> keptByTransaction(String fullName, TransactionContext transaction) {
		return Optional.empty();
	}

	/**
	 * Make a reactive transaction depend on a lock under which work is about to begin
	 * inside the transaction. The transaction keeps the lock until it has ended.
	 * @param handle a handle of this engine
	 * @param transaction the transaction, open or not
	 * @return lets the transaction continue without the lock, if no work was done under
	 * it
	 * @throws IllegalStateException if the transaction is just ending, or is about to be
	 * committed
	 */
	default Runnable joinTransaction(LockHandle handle, TransactionContext transaction) {
		return () -> {
		};
	}

	/**
	 * Begin work in the current thread under a lock that may have been acquired by
	 * another thread. Until {@link #detach}, the transactions of the thread depend on the
	 * lock as well, and the thread is interrupted at a loss if that was requested.
	 * @param handle a handle of this engine
	 */
	default void attach(LockHandle handle) {
	}

	/**
	 * Turn the current thread to other work while the lock is still held. From now on,
	 * the lock does not affect the work of the thread.
	 * @param handle a handle of this engine
	 */
	default void detach(LockHandle handle) {
	}

	/**
	 * Remove a loss callback of work that has ended, so that it is not kept for as long
	 * as another owner may hold the lock.
	 * @param handle a handle of this engine
	 * @param callback the callback that was passed to
	 * {@link LockHandle#onLost(Runnable)}; has no effect if it was not
	 */
	default void forget(LockHandle handle, Runnable callback) {
	}

	/**
	 * Announce that the work under a lock has ended and that another thread is about to
	 * release it. If the engine is closed before that, the lock does not count as still
	 * in use.
	 * @param handle a handle of this engine
	 */
	default void aboutToRelease(LockHandle handle) {
	}

	/**
	 * Return the state of one lock.
	 * @param name the name as used by the application
	 * @return its state, or empty if it was never acquired or has been cleaned up
	 */
	Optional<LockInfo> inspect(String name);

	/**
	 * Read the run record of a job.
	 * @param fullName the full name of its lock
	 * @param jobId the id of the job
	 * @return its record, or empty if none is stored
	 * @throws org.springframework.dao.DataAccessException if the request to the server
	 * fails
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
	 * @throws org.springframework.dao.DataAccessException if the request to the server
	 * fails
	 */
	default Optional<JobStatus> findJob(String fullName, String jobId, Duration limit) {
		return findJob(fullName, jobId);
	}

	/**
	 * Pause a job: its planned times are refused until it is resumed. A run that has
	 * begun continues.
	 * @param fullName the full name of its lock
	 * @param jobId the id of the job
	 * @param by the operator that pauses it
	 * @throws UnsupportedOperationException if this engine records no runs
	 * @throws org.springframework.dao.DataAccessException if the request to the server
	 * fails
	 */
	default void pauseJob(String fullName, String jobId, String by) {
		throw new UnsupportedOperationException("This engine cannot pause jobs, since it records no runs");
	}

	/**
	 * Resume a job.
	 * @param fullName the full name of its lock
	 * @param jobId the id of the job
	 * @return whether it was paused
	 * @throws org.springframework.dao.DataAccessException if the request to the server
	 * fails
	 */
	default boolean resumeJob(String fullName, String jobId) {
		return false;
	}

	/**
	 * Notify the listeners that a planned time of a job was not run and that this
	 * instance no longer tries it.
	 * @param fullName the full name of its lock
	 * @param jobId the id of the job
	 * @param plannedAt the planned time, by the clock of the server
	 */
	default void missedJob(String fullName, String jobId, Instant plannedAt) {
	}

	/**
	 * Return the states of all locks with this engine's prefix.
	 * @return the states, by name
	 */
	List<LockInfo> list();

	/**
	 * Release a lock by force, see {@link LockOperations#forceRelease(String)}.
	 * @param name the name as used by the application
	 * @return whether it had a holder
	 */
	boolean forceRelease(String name);

	/**
	 * Release a lock by force and make it available immediately, see
	 * {@link LockOperations#forceReleaseNow(String)}.
	 * @param name the name as used by the application
	 * @return whether it had a holder
	 */
	boolean forceReleaseNow(String name);

}
