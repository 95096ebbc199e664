package dev.dblock.engine;

import java.time.Duration;
import java.util.Collection;
import java.util.Optional;

import dev.dblock.ForeignDocumentException;
import dev.dblock.LockHandle;
import dev.dblock.LockInterruptedException;
import dev.dblock.LockNamePrefix;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.LockShutdownException;
import dev.dblock.claim.Claim;
import dev.dblock.settings.EngineSettings;
import dev.dblock.settings.LockSettings;
import dev.dblock.store.LockAdministration;
import dev.dblock.store.LockRepository;

/**
 * The engine behind the templates.
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
	 * Determine the full names of locks in the current thread, since they can depend on
	 * it ({@link LockNamePrefix}), for a request in another thread.
	 * @param names the names as used by the application
	 * @return this engine, with the same id, in which these names have the same full
	 * names in every thread
	 * @throws IllegalArgumentException if a name is invalid, with the reason
	 */
	default LockEngine resolved(Collection<String> names) {
		return this;
	}

	/**
	 * Check a name and options without requesting the lock. Settings for the name
	 * ({@code dblock.locks}) take precedence over the options.
	 * @param name the name as used by the application, with {@code U+0000} for each part
	 * that only a call determines. In this case, the settings for all names that it can
	 * become are checked as well
	 * @param options the options, completed by the engine's own defaults
	 * @throws IllegalArgumentException if the lock could not be acquired with them, with
	 * the reason
	 */
	void check(String name, LockOptions options);

	/**
	 * Request a lock, and wait for it as long as the options allow. Settings for its name
	 * ({@code dblock.locks}) take precedence over the options. Never re-enters: a lock
	 * that only the current thread can release is refused without a wait.
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
	Attempt acquire(String name, LockOptions options);

	/**
	 * Return the settings for the locks of a name ({@code dblock.locks}). They take
	 * precedence over what the code declares.
	 * @param name the name as used by the application
	 * @return the settings, which may say nothing
	 */
	default Optional<LockSettings.Setting> setting(String name) {
		return Optional.empty();
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
	default Attempt acquire(String name, LockOptions options, Duration wait) {
		return acquire(name, options.waitUpTo(wait));
	}

	/**
	 * Request a lock for work that the holder repeats if it is asked to.
	 * @param name the name as used by the application
	 * @param options the options, completed by the engine's own defaults
	 * @param wait how long to wait while another holder has the lock; with zero, the lock
	 * is requested once
	 * @return the grant or the refusal
	 * @throws IllegalArgumentException if the name or the options are invalid, or if the
	 * options have a claim
	 * @see #acquire(String, LockOptions)
	 * @see #ask
	 */
	default Attempt acquireAskable(String name, LockOptions options, Duration wait) {
		return acquire(name, options, wait);
	}

	/**
	 * Ask the holder of a lock to run its work once more before it releases the lock.
	 * @param name the name as used by the application
	 * @return the answer
	 * @throws LockInterruptedException if the thread is interrupted
	 * @throws org.springframework.dao.DataAccessException if the request to the server
	 * fails; the holder may have been asked nevertheless
	 */
	default LockRepository.AskAnswer ask(String name) {
		return LockRepository.AskAnswer.NOT_ASKABLE;
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
	 * Return a lock that a transaction of the current thread still keeps after its handle
	 * was closed.
	 * @param fullName the full name of the lock
	 * @return its handle
	 */
	default Optional<LockHandle> keptByTransaction(String fullName) {
		return Optional.empty();
	}

	/**
	 * Return the object by which the handles of its locks identify this engine.
	 * @return an object of this engine alone
	 * @see dev.dblock.transaction.TransactionLock#engine
	 */
	Object id();

	/**
	 * Return by what the store records who acquired a lock.
	 * @return the name of this instance
	 */
	default String acquirer() {
		return "";
	}

	/**
	 * Return the locks of this engine's store, by their full names.
	 * @return the locks with this engine's prefix
	 */
	LockAdministration administration();

	/**
	 * Notify the listeners of news that did not come from this engine.
	 * @param fullName the full name of the lock
	 * @param news the news
	 */
	default void report(String fullName, Claim.News news) {
	}

	/**
	 * Create the engine of an application with locking disabled: every lock is granted
	 * immediately, to every caller. Names and options are still checked, so that errors
	 * surface before locking is enabled again.
	 * @param settings the settings; only the prefixes, the defaults and the settings for
	 * single locks matter
	 * @return the engine
	 * @throws IllegalArgumentException if the prefix or the default options in the
	 * settings are invalid
	 */
	static LockEngine unlocked(EngineSettings settings) {
		return new UnlockedEngine(settings);
	}

	/**
	 * The result of a request for a lock.
	 */
	sealed interface Attempt {

	}

	/**
	 * The lock is now held.
	 *
	 * @param handle the handle of the lock
	 */
	record Granted(LockHandle handle) implements Attempt {
	}

	/**
	 * The lock is held by another holder.
	 *
	 * @param refusal describes the lock and its holder
	 */
	record Refused(LockRefusal refusal) implements Attempt {
	}

}
