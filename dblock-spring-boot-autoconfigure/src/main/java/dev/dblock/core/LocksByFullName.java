package dev.dblock.core;

import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

import dev.dblock.LockInfo;

/**
 * The locks of one store for operators, who say names in full, as they are listed: what
 * is put before a name may depend on a caller that they are not.
 */
public interface LocksByFullName {

	/**
	 * The locks of a store without an engine, for who only looks.
	 * @param repository the store
	 * @param prefix what is put before every name
	 * @return its locks
	 */
	static LocksByFullName of(LockRepository repository, String prefix) {
		return new LocksOfRepository(repository, prefix, UnaryOperator.identity());
	}

	/**
	 * All locks of the application.
	 * @return their states, by name
	 */
	List<LockInfo> list();

	/**
	 * Look at one lock.
	 * @param fullName its full name
	 * @return its state, or empty when there is no such lock
	 */
	Optional<LockInfo> find(String fullName);

	/**
	 * Take a lock away from its holder, see
	 * {@link dev.dblock.LockOperations#forceRelease(String)}.
	 * @param fullName its full name
	 * @return whether it had a holder
	 */
	boolean forceRelease(String fullName);

	/**
	 * Take a lock away and free its name at once, see
	 * {@link dev.dblock.LockOperations#forceReleaseNow(String)}.
	 * @param fullName its full name
	 * @return whether it had a holder
	 */
	boolean forceReleaseNow(String fullName);

}
