package dev.dblock.store;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import dev.dblock.LockInfo;
import dev.dblock.LockOptions;
import dev.dblock.LockPage;
import dev.dblock.claim.ClaimRecords;

/**
 * Operations on the locks of one store, for operators. Names are full names, as in the
 * list of locks, since the prefix of a name can depend on the caller.
 */
public interface LockAdministration {

	/** For engines without a store. */
	LockAdministration NONE = new LockAdministration() {

		@Override
		public LockPage list(boolean released, String after, int limit) {
			return new LockPage(List.of(), false);
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
			public LockPage list(boolean released, String after, int limit) {
				LockPage found = repository.findAll(new ListRequest(prefix, released, after, limit));
				return new LockPage(found.locks().stream().map(completion).toList(), found.more());
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

			@Override
			public Optional<LockRepository.StoreTime> time(Duration timeout) {
				return repository.time(timeout);
			}

			@Override
			public Optional<ClaimRecords> claims() {
				return repository.claims();
			}

		};
	}

	/**
	 * Return locks of the application.
	 * @param released whether to include locks that are available
	 * @param after the full name after which the list begins; an empty text for the first
	 * page
	 * @param limit the largest number of locks
	 * @return their states, by name
	 * @throws IllegalArgumentException if the limit is not positive or too large
	 * @see dev.dblock.LockOperations#list(String, int)
	 */
	LockPage list(boolean released, String after, int limit);

	/**
	 * Return the state of one lock.
	 * @param fullName its full name
	 * @return its state, or empty if there is no such lock
	 */
	Optional<LockInfo> find(String fullName);

	/**
	 * Return the states of all permits of a lock, including those that are available.
	 * @param fullName the full name of the lock
	 * @return their states by number; one for a plain lock, and none if there is no such
	 * lock
	 */
	default List<LockInfo> findPermits(String fullName) {
		Optional<LockInfo> first = find(fullName);
		Stream<LockInfo> others = first.filter((lock) -> lock.permits() > 0)
			.map((lock) -> list(true, fullName + " (permit ", LockOptions.MOST_PERMITS).locks())
			.orElse(List.of())
			.stream()
			.filter((lock) -> Permits.lockOf(lock.name()).equals(fullName))
			.sorted(Comparator.comparing((lock) -> Permits.numberOf(lock.name())));
		return Stream.concat(first.stream(), others).toList();
	}

	/**
	 * Release a lock, or one permit of a lock, by force, see
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

	/**
	 * Read the clock that decides about leases.
	 * @param timeout how long that may take
	 * @return the time, or empty if the store cannot report it
	 */
	default Optional<LockRepository.StoreTime> time(Duration timeout) {
		return Optional.empty();
	}

	/**
	 * Return the records of claims in the store.
	 * @return the records; empty if no claims are recorded
	 */
	default Optional<ClaimRecords> claims() {
		return Optional.empty();
	}

}
