package dev.dblock.mongodb;

import java.util.function.BiFunction;
import java.util.stream.Stream;

import com.mongodb.ClientSessionOptions;
import com.mongodb.client.ClientSession;
import dev.dblock.LockHandle;
import dev.dblock.transaction.FencedSessions;
import dev.dblock.mongodb.client.SameServers;
import dev.dblock.mongodb.fence.FencedTransactions;
import dev.dblock.mongodb.fence.MongoFence;
import dev.dblock.mongodb.fence.OpenSession;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.TransactionFence;
import org.jspecify.annotations.Nullable;

import org.springframework.data.mongodb.MongoDatabaseFactory;

/**
 * Fences transactions of code that manages its {@link ClientSession} itself, so that they
 * are committed only while the lock has not passed to another holder:
 *
 * <pre class="code">
 * session.withTransaction(() -&gt; {
 *     orders.insertOne(session, order);
 *     lockFence.fence(session, lock);       // last, right before the commit
 *     return order;
 * });
 * </pre>
 *
 * Transactions of a {@code MongoTransactionManager} or
 * {@code ReactiveMongoTransactionManager} bean are fenced without a call. Locks in other
 * databases than the default one are fenced in those databases.
 * <p>
 * dblock is not notified when such a transaction ends. A lock that has fenced one is
 * therefore not handed over within the process. Its next holder, in any process, first
 * waits for a transaction that may still be in progress. This takes one additional
 * request, and no longer than the server's transaction lifetime limit.
 */
public final class LockFence {

	private static final FencedSessions SESSIONS = new FencedSessions(
			(session) -> ((ClientSession) session).hasActiveTransaction());

	private final @Nullable BiFunction<ClientSession, LockHandle, TransactionFence> fences;

	/**
	 * Create a fence for the locks of a repository.
	 * @param repository the repository of the locks
	 * @param factory a factory for the client that starts the sessions, unless that is
	 * the client of the locks
	 */
	public LockFence(MongoLockRepository repository, MongoDatabaseFactory factory) {
		this((session, lock) -> fenceFor(repository, factory, session, lock));
	}

	private LockFence(@Nullable BiFunction<ClientSession, LockHandle, TransactionFence> fences) {
		this.fences = fences;
	}

	/**
	 * Create a fence for the locks of a repository, and for sessions of its client, or of
	 * the application's client if that connects to the same servers.
	 * @param repository the repository of the locks
	 * @param application the application's factory, or {@code null} if there is none
	 * @return the fence
	 */
	public static LockFence of(MongoLockRepository repository, @Nullable MongoDatabaseFactory application) {
		MongoDatabaseFactory locks = repository.factory();
		return new LockFence((session, lock) -> fenceFor(repository,
				(application != null && SameServers.areOf(application, locks)) ? application : locks, session, lock));
	}

	/**
	 * Create a fence for locks that are not stored in MongoDB. It only checks that the
	 * lock is still held.
	 * @return a fence that writes nothing
	 */
	public static LockFence ofLocksElsewhere() {
		return new LockFence(null);
	}

	/**
	 * Write the fence into the current transaction of a session. Call this as the last
	 * operation of the transaction, and again whenever the transaction is retried. For
	 * several locks, call it once for each.
	 * @param session the session
	 * @param lock the lock under which the transaction was made
	 * @throws dev.dblock.LockLostException if the lock is no longer held, or has passed
	 * to another holder; the transaction cannot, or must not, be committed
	 * @throws com.mongodb.MongoException if the fence could not be written; with the
	 * label {@code TransientTransactionError} if the transaction may be retried
	 * @throws IllegalStateException if the session is not in a transaction, if four other
	 * transactions are in progress under the same lock, or if fences are disabled
	 * ({@code dblock.mongodb.fence-transactions})
	 * @throws IllegalArgumentException if the session belongs to a different client than
	 * the store of the lock
	 */
	public void fence(ClientSession session, LockHandle lock) {
		if (!session.hasActiveTransaction()) {
			throw new IllegalStateException(("The session has no active transaction that the lock '%s' could fence."
					+ " Call fence after startTransaction and before the commit")
				.formatted(lock.name()));
		}
		if (this.fences != null) {
			SESSIONS.fence(session, lock, this.fences.apply(session, lock));
		}
		else {
			lock.ensureHeld();
		}
	}

	/**
	 * Create the fence of a session. A lock in another database is fenced there.
	 */
	private static SessionFence fenceFor(MongoLockRepository usual, MongoDatabaseFactory factory, ClientSession session,
			LockHandle lock) {
		return (FencedSessions.storeOf(lock) instanceof MongoLockRepository other && other != usual)
				? SessionFence.of(other, other.factory(), session, lock)
				: SessionFence.of(usual, factory, session, lock);
	}

	private static final class SessionFence extends MongoFence {

		private final MongoLockRepository repository;

		private final MongoDatabaseFactory factory;

		private final ClientSession session;

		private SessionFence(FencedTransactions fenced, MongoLockRepository repository, MongoDatabaseFactory factory,
				ClientSession session) {
			super(fenced);
			this.repository = repository;
			this.factory = factory;
			this.session = session;
		}

		static SessionFence of(MongoLockRepository repository, MongoDatabaseFactory factory, ClientSession session,
				LockHandle lock) {
			FencedTransactions fenced = repository.fencedTransactions();
			return Stream.of(factory, repository.factory())
				.filter((candidate) -> isOf(candidate, session))
				.findFirst()
				.map((own) -> new SessionFence(fenced, repository, own, session))
				.orElseThrow(() -> new IllegalArgumentException(
						("The session belongs to a different MongoClient than the lock '%s'. Start it with the client"
								+ " of the MongoDatabaseFactory that has the locks, or create a LockFence(repository,"
								+ " factory) with a factory for the session's client")
							.formatted(lock.name())));
		}

		// The driver compares the originator as well. This sends no request
		private static boolean isOf(MongoDatabaseFactory factory, ClientSession session) {
			try (ClientSession own = factory.getSession(ClientSessionOptions.builder().build())) {
				return own.getOriginator() == session.getOriginator();
			}
		}

		@Override
		public Written write(LeaseKey lease, long token, int slot) {
			this.repository.fencesSessions();
			OpenSession.fenced(this.session);
			return fenced().write(this.factory, this.session, lease, token, slot);
		}

	}

}
