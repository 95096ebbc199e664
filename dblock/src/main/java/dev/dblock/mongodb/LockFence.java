package dev.dblock.mongodb;

import java.util.function.BiFunction;
import java.util.stream.Stream;

import com.mongodb.ClientSessionOptions;
import com.mongodb.client.ClientSession;
import dev.dblock.LockHandle;
import dev.dblock.core.FencedSessions;
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
 * are committed only while the lock has not passed to another:
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
 * {@code ReactiveMongoTransactionManager} bean are fenced without a call. Locks of other
 * databases than the usual one are fenced in those.
 * <p>
 * Nobody tells dblock how such a transaction ends. So a lock that has fenced one is not
 * handed over inside the process, and its next holder, wherever it is, begins by waiting
 * for what may still be under way: one more request, and no longer than the server lets a
 * transaction live.
 */
public final class LockFence {

	private static final FencedSessions SESSIONS = new FencedSessions(
			(session) -> ((ClientSession) session).hasActiveTransaction());

	private final @Nullable BiFunction<ClientSession, LockHandle, TransactionFence> fences;

	/**
	 * A fence for the locks of a repository.
	 * @param repository where the locks are kept
	 * @param factory a factory over the client that the sessions are started with, unless
	 * that is the client of the locks
	 */
	public LockFence(MongoLockRepository repository, MongoDatabaseFactory factory) {
		this((session, lock) -> fenceFor(repository, factory, session, lock));
	}

	private LockFence(@Nullable BiFunction<ClientSession, LockHandle, TransactionFence> fences) {
		this.fences = fences;
	}

	/**
	 * A fence for the locks of a repository, and for sessions of its client, or of the
	 * application's where that leads to the same servers.
	 * @param repository where the locks are kept
	 * @param application the application's factory, or {@code null} when there is none to
	 * go by
	 * @return a fence
	 */
	public static LockFence of(MongoLockRepository repository, @Nullable MongoDatabaseFactory application) {
		MongoDatabaseFactory locks = repository.factory();
		return new LockFence((session, lock) -> fenceFor(repository,
				(application != null && SameServers.areOf(application, locks)) ? application : locks, session, lock));
	}

	/**
	 * What stands in for a fence where the locks are not kept in MongoDB: it only makes
	 * sure that the lock is still held.
	 * @return a fence that writes nothing
	 */
	public static LockFence ofLocksElsewhere() {
		return new LockFence(null);
	}

	/**
	 * Write the fence into the transaction that a session is in. To be called as its last
	 * operation, and again whenever the transaction is repeated. Under several locks,
	 * once for each.
	 * @param session the session
	 * @param lock the lock under which the transaction was made
	 * @throws dev.dblock.LockLostException when the lock is not held any more, or has
	 * passed to another; the transaction cannot, or must not, be committed
	 * @throws com.mongodb.MongoException when the fence could not be written; one with
	 * the label {@code TransientTransactionError} when the transaction may be repeated
	 * @throws IllegalStateException when the session is in no transaction, when four
	 * others are under way under the same lock, or when fences are switched off
	 * ({@code dblock.mongodb.fence-transactions})
	 * @throws IllegalArgumentException when the session is of another client than those
	 * that lead to the lock
	 */
	public void fence(ClientSession session, LockHandle lock) {
		if (!session.hasActiveTransaction()) {
			throw new IllegalStateException(("The session is in no transaction that the lock '%s' could fence. "
					+ "Call fence after startTransaction, and before the commit")
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
	 * A lock in another database is fenced there.
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
						("The session is of another MongoClient than those that lead to the lock '%s'. Start it with "
								+ "the client of the MongoDatabaseFactory that has the locks, or make a "
								+ "LockFence(repository, factory) with a factory over the session's client")
							.formatted(lock.name())));
		}

		// The driver goes by this too. It asks no server
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
