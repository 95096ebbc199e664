package dev.dblock.store;

import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

import dev.dblock.LockInfo;

/**
 * The locks of one store for operators. Names are full names, as they are listed, since
 * the prefix of a name can depend on the caller.
 */
public interface LockAdministration {

	/**
	 * The locks of a store.
	 * @param repository the store
	 * @param prefix the beginning of their full names
	 * @param completion adds what the caller knows of a lock
	 * @return the locks
	 */
	static LockAdministration of(LockRepository repository, String prefix, UnaryOperator<LockInfo> completion) {
		return new LockAdministration() {

			@Override
			public List<LockInfo> list() {
				return repository.findAll(prefix).stream().map(completion).toList();
			}

			@Override
			public Optional<LockInfo> find(String fullName) {
				return repository.find(fullName).map(completion);
			}

			@Override
			public boolean forceRelease(String fullName) {
				return repository.forceRelease(fullName);
			}

			@Override
			public boolean forceReleaseNow(String fullName) {
				return repository.forceReleaseNow(fullName);
			}

		};
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
