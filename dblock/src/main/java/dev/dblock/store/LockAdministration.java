package dev.dblock.store;

import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

import dev.dblock.LockInfo;

/**
 * Operations on the locks of one store, for operators. Names are full names, as in the
 * list of locks, since the prefix of a name can depend on the caller.
 */
public interface LockAdministration {

	/** For engines without a store. */
	LockAdministration NONE = new LockAdministration() {

		@Override
		public List<LockInfo> list() {
			return List.of();
		}

		@Override
		public Optional<LockInfo> find(String fullName) {
			return Optional.empty();
		}

		@Override
		public boolean forceRelease(String fullName) {
			return false;
		}

		@Override
		public boolean forceReleaseNow(String fullName) {
			return false;
		}

	};

	/**
	 * Create the operations on the locks of a store.
	 * @param repository the store
	 * @param prefix the beginning of their full names
	 * @param completion adds the caller's own information about a lock
	 * @return the operations
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
	 * Return all locks of the application.
	 * @return their states, by name
	 */
	List<LockInfo> list();

	/**
	 * Return the state of one lock.
	 * @param fullName its full name
	 * @return its state, or empty if there is no such lock
	 */
	Optional<LockInfo> find(String fullName);

	/**
	 * Release a lock by force, see
	 * {@link dev.dblock.LockOperations#forceRelease(String)}.
	 * @param fullName its full name
	 * @return whether it had a holder
	 */
	boolean forceRelease(String fullName);

	/**
	 * Release a lock by force and make it available immediately, see
	 * {@link dev.dblock.LockOperations#forceReleaseNow(String)}.
	 * @param fullName its full name
	 * @return whether it had a holder
	 */
	boolean forceReleaseNow(String fullName);

}
