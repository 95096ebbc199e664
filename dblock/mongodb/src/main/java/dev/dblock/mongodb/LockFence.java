package dev.dblock.mongodb;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import dev.dblock.LockHandle;
import dev.dblock.store.LeaseKey;
import dev.dblock.transaction.FencedSessions;
import org.jspecify.annotations.Nullable;

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

	private final @Nullable MongoLockRepository repository;

	/**
	 * Create a fence.
	 * @param repository the repository of the locks; {@code null} if they are not stored
	 * in MongoDB, so that the fence writes nothing and only checks that they are held
	 */
	public LockFence(@Nullable MongoLockRepository repository) {
		this.repository = repository;
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
	 * @throws IllegalArgumentException if the session belongs to a client of other
	 * servers than those of the lock
	 */
	public void fence(ClientSession session, LockHandle lock) {
		if (!session.hasActiveTransaction()) {
			throw new IllegalStateException(("The session has no active transaction that the lock '%s' could fence."
					+ " Call fence after startTransaction and before the commit")
				.formatted(lock.name()));
		}
		if (this.repository != null) {
			SESSIONS.fence(session, lock, fenceFor(this.repository, session, lock));
		}
		else {
			lock.ensureHeld();
		}
	}

	/**
	 * Create the fence of a session. A lock in another database is fenced there.
	 */
	private static SessionFence fenceFor(MongoLockRepository usual, ClientSession session, LockHandle lock) {
		MongoLockRepository repository = (FencedSessions.storeOf(lock) instanceof MongoLockRepository other) ? other
				: usual;
		FencedTransactions fenced = repository.fencedTransactions();
		if (session.getOriginator() instanceof MongoClient client
				&& SameServers.areOf(client.getClusterDescription(), repository.database().client())) {
			return new SessionFence(fenced, repository, client, session);
		}
		throw new IllegalArgumentException(
				("The session belongs to a client of other servers than those of the lock '%s'. Start it with a client"
						+ " of the servers that store the locks")
					.formatted(lock.name()));
	}

	private static final class SessionFence extends MongoFence {

		private final MongoLockRepository repository;

		private final MongoClient client;

		private final ClientSession session;

		private SessionFence(FencedTransactions fenced, MongoLockRepository repository, MongoClient client,
				ClientSession session) {
			super(fenced);
			this.repository = repository;
			this.client = client;
			this.session = session;
		}

		@Override
		public Written write(LeaseKey lease, long token, int slot) {
			this.repository.fencesSessions();
			OpenSession.fenced(this.session);
			return fenced().write(this.client, this.session, lease, token, slot);
		}

	}

}
