package dev.dblock.mongodb;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import dev.dblock.LockInfo;
import dev.dblock.LockPage;
import dev.dblock.claim.Claim;
import dev.dblock.claim.ClaimRecord;
import dev.dblock.claim.ClaimRecords;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.mongodb.request.Statements;
import dev.dblock.mongodb.request.StoreAccess;
import dev.dblock.mongodb.request.StoreRequest;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.ListRequest;
import dev.dblock.store.LockRepository;
import dev.dblock.store.LockRepository.AcquireAnswer;
import dev.dblock.store.LockRepository.AskAnswer;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.store.LockRepository.StoreTime;
import dev.dblock.store.ReleaseFeed;
import dev.dblock.store.TransactionFence;
import dev.dblock.support.Durations;
import org.jspecify.annotations.Nullable;

import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.MongoTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.reactive.TransactionContext;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Stores locks as documents in one MongoDB collection, one document per name. The
 * document is kept after the release so that the fencing token survives:
 *
 * <pre>{@code
 * {
 *   _id:          "nightly-invoices",               // the lock's name
 *   holder:       "5f1c...",                        // random id of the acquisition; absent once released
 *   acquirer:     "host-1:4711:x7f3",               // the instance
 *   thread:       "scheduling-1",
 *   why:          "com.acme.Invoices#invoice",
 *   token:        NumberLong("1838349630251007"),   // the last token reserved
 *   acquiredAt:   ISODate(...),                     // all dates are by the server's clock
 *   updatedAt:    ISODate(...),                     // last granted or renewed
 *   expiresAt:    ISODate(...),                     // free for others from then on; absent: free
 *   leaseMillis:  NumberLong(30000),                // what a renewal adds
 *   releasedAt:   ISODate(...),                     // null or absent while held
 *   runAgain:     {holder: "5f1c...",               // only of locks whose holder can be asked to run once more
 *                  asked: "9a0e...", closed: true}, // the last request; whether the holder refuses more of them
 *   permits:      NumberLong(3),                    // only of locks that were acquired with permits
 *   permitsBefore: NumberLong(2),                   // the number that the grant found
 *   fencePending: true,                             // the last holder was overtaken; absent in a new document
 *   jobs: {                                         // only of locks that were acquired for planned times
 *     "nightly-invoices": {                         // the id of a job; a hash if a field path cannot contain the id
 *       last: {planned: ISODate(...), attempt: 1, firing: "...", holder: "5f1c...", started: ISODate(...),
 *              again: "CRASHED",                    // how the previous run ended, if it was of the same firing
 *              instance: "...", token: NumberLong(...), ended: ISODate(...), outcome: "SUCCEEDED", error: "..."},
 *       runs: [...],                                // the 19 runs before it, the oldest first
 *       paused: {by: "...", at: ISODate(...)},
 *       resumed: ISODate(...)
 *     }
 *   },
 *   cleanUpAt:    ISODate(...)                      // when the TTL index may remove the document
 * }
 * }</pre>
 *
 * The protocol consists of these operations:
 * <ol>
 * <li><b>Acquire</b> is one {@code findAndModify} by {@code _id} with upsert. The lock is
 * free if there is nothing but an {@code _id}, or a document of ours whose
 * {@code expiresAt} is absent or not after the server's current time. A free lock gets
 * the new holder, {@code expiresAt} = now + lease + clock allowance, and the next block
 * of tokens, 1024 or as many as are requested. The block starts at the last reserved
 * token + 1, or at the server's milliseconds times 1024, whichever is greater. Fields
 * that this version does not know are kept, so that versions can run side by side. A
 * document whose lock is not free is left unchanged, and is returned with the server's
 * time. If it has the same holder, the request was repeated and the grant is valid. If it
 * has another holder, the request is refused. If it is not one of ours, the request fails
 * with an exception that contains its name. Neither an acquire nor a release is sent as a
 * retryable write. The engine repeats both itself, an acquire with another id, and the
 * servers' bookkeeping for retryable writes would cost two additional writes for each
 * request. For a planned time, the request contains only the rules of the usual case. If
 * it is refused although the firing is due, such as after a run that crashed, it is sent
 * again with all rules.</li>
 * <li><b>Permits</b> are locks of their own. The first has the lock's name, and the
 * others have their number in it, such as {@code export (permit 2)}. One
 * {@code findAndModify} without upsert selects any document of them that is free. If
 * there is none, all are read, and one that is not stored yet is acquired by its
 * {@code _id}. A plain lock is not free while {@code permits} is above one, or is no
 * number.</li>
 * <li><b>Take-over</b> from a holder that has not released the lock sets
 * {@code fencePending}, since one of its transactions may still be in progress. An
 * acquirer that is granted such a document raises the fence before the grant is returned.
 * This is one command on all four fence documents of the name, which waits for
 * transactions that have written theirs. Renewals and releases that are sent after that
 * remove the mark. A release by a holder that has not raised the fence keeps the mark. A
 * release by a holder with a transaction that may still be in progress sets it. If there
 * are no transactions, or they are not to be fenced, nothing is raised and the mark is
 * kept.</li>
 * <li><b>A transaction</b> under the lock writes its token to one of the four documents
 * right before its commit; see {@link LockFence}.</li>
 * <li><b>Renew</b> is one {@code updateMany} by {@code _id}, holder, and an
 * {@code expiresAt} after the server's current time. {@code expiresAt} never decreases.
 * If fewer documents matched than were sent, one {@code find} determines which leases are
 * gone. Long lists are split into batches of 5,000 leases.</li>
 * <li><b>Release</b> is one {@code updateMany} by {@code _id} and holder. It removes
 * {@code holder}, and removes {@code expiresAt} or sets it to the end of the minimum
 * hold.</li>
 * <li><b>Force release</b> removes {@code holder}, sets {@code fencePending} and keeps
 * {@code expiresAt}, so that no other acquisition overlaps with the holder. The holder
 * learns of it with its next request. The immediate form removes {@code expiresAt} as
 * well, and mutual exclusion with it. The document is read before, so that the same
 * update ends the holder's run of a job.</li>
 * </ol>
 *
 * Every request is written with {@code majority}, read from the primary, limited by the
 * driver's client-side operation timeout, and executed outside of any session of the
 * calling thread. Text from a caller is never evaluated as an expression.
 *
 * <p>
 * On servers without pipeline updates ({@link StatementDialect#CLASSIC}) the same
 * document is written with classic operators. A new document is created in two steps, a
 * take-over is a compare-and-swap on the exact holder, token and {@code expiresAt} that
 * were read, and a renewal first reads the lengths of the leases. The server's clock is
 * tracked by samples of the {@code localTime} in its {@code hello}. A take-over uses the
 * earliest, a grant the latest time that the clock can show. The first token of a new
 * document is derived from the latest time of a sample taken for it, and is returned once
 * the earliest time has reached it, so that tokens increase even after a document is
 * removed. A sample is dropped after a minute, after any failed request, when the
 * client's view of the servers or of the election changes, and when the wall clock jumps
 * relative to {@code nanoTime}. Both clocks can stop while a virtual machine is paused,
 * and then the sample is too early. A grant must therefore last a whole lease from its
 * own {@code updatedAt}, which the server writes, or it is prolonged. After a renewal or
 * an extension, another sample must confirm the one that was used, or the request is
 * repeated. One case remains: a renewal of a lease that has expired, sent by a holder
 * that does not know of the expiry yet, is still applied if no other holder has taken the
 * lock over.
 *
 * <p>
 * At first use, the dialect is detected and the TTL index is created. The index is
 * ensured again every ten minutes, also after the collection was dropped.
 *
 * <p>
 * The idea of one document with holder, reason and take-over is from MongoDB's own former
 * {@code config.locks}. A comparison with {@code $$NOW} in place of a client's clock
 * removes what made those unsafe.
 *
 * @see MongoLockSettings
 */
public final class MongoLockRepository implements LockRepository {

	/** MongoDB limits the names of a database and a collection together, with a dot. */
	private static final int LONGEST_NAMESPACE = 255;

	private static final int LONGEST_DATABASE = 63;

	private static final boolean REACTIVE_DRIVER_PRESENT = ClassUtils
		.isPresent("com.mongodb.reactivestreams.client.MongoClient", MongoLockRepository.class.getClassLoader());

	/** Short, since a transaction of the caller is open in the meantime. */
	private static final Duration LONGEST_SETTLEMENT = Duration.ofSeconds(1);

	private final MongoLockSettings settings;

	private final TtlIndex indexes;

	private final ReleaseFeed releases;

	private final ClaimRecords records = new StoredRecords();

	private final LockDatabase database;

	// Created when the first lock is requested, so that it does not delay start-up
	private final Supplier<StoreAccess> access;

	private final Supplier<FencedTransactions> fenced;

	private volatile boolean fencesAreRaised;

	private volatile boolean sessionsAreFenced;

	/**
	 * Create a repository in the database of a factory. This sends no request to the
	 * server.
	 * @param factory the factory, which its creator closes; it must return the same
	 * database for all threads
	 * @param settings the settings of the locks
	 * @throws IllegalArgumentException if the name of the collection is too long for that
	 * database
	 */
	public MongoLockRepository(MongoDatabaseFactory factory, MongoLockSettings settings) {
		this(factory, settings, System::nanoTime, System::currentTimeMillis);
	}

	MongoLockRepository(MongoDatabaseFactory factory, MongoLockSettings settings, LongSupplier nanoTime,
			LongSupplier wallTime) {
		LockDatabase database = new LockDatabase(factory);
		this.database = database;
		this.settings = checked(factory, settings);
		Topology topology = new Topology(database);
		this.access = SingletonSupplier
			.of(() -> new StoreAccess(database, topology, terms(settings), nanoTime, wallTime));
		this.indexes = new TtlIndex(settings.createIndexes(), nanoTime);
		this.fenced = SingletonSupplier
			.of(() -> new FencedTransactions(new Fences(settings.collection(), settings.createIndexes(), nanoTime),
					database, new FenceRequests(), nanoTime));
		this.releases = new ChangeStreamFeed(() -> this.access.get().request(ChangeStreamReader.REQUEST_LIMIT),
				topology::isSharded);
	}

	private static StoreAccess.Terms terms(MongoLockSettings settings) {
		String fences = settings.fenceTransactions() ? Fences.collectionBeside(settings.collection()) : null;
		return new StoreAccess.Terms(settings.collection(), fences, understandsPipelines(settings.statements()),
				settings.clockAllowance(), settings.retention(), settings.timeout());
	}

	private static @Nullable Boolean understandsPipelines(StatementDialect statements) {
		return switch (statements) {
			case AUTO -> null;
			case PIPELINE -> true;
			case CLASSIC -> false;
		};
	}

	/**
	 * Validate settings for the database of a factory.
	 * @param factory the factory of the database
	 * @param settings the settings of the locks
	 * @return the settings
	 * @throws IllegalArgumentException if the name of the collection is too long for that
	 * database
	 */
	public static MongoLockSettings checked(MongoDatabaseFactory factory, MongoLockSettings settings) {
		String locks = settings.collection();
		String longest = settings.fenceTransactions() ? Fences.collectionBeside(locks) : locks;
		int bytes = longest.getBytes(StandardCharsets.UTF_8).length;
		// The factory is asked only if the name does not fit into every database
		if (bytes + LONGEST_DATABASE + 1 > LONGEST_NAMESPACE) {
			String database = factory.getMongoDatabase().getName();
			int most = LONGEST_NAMESPACE - 1 - database.getBytes(StandardCharsets.UTF_8).length;
			Assert.isTrue(bytes <= most,
					() -> ("The name '%s' is too long for the lock collection in the database '%s': collection names"
							+ " there may have at most %d bytes in UTF-8, and '%s' has %d")
						.formatted(locks, database, most, longest, bytes));
		}
		return settings;
	}

	@Override
	public String toString() {
		String collection = "collection '" + this.settings.collection() + "')";
		try {
			return "MongoDB (database '" + this.database.name() + "', " + collection;
		}
		catch (RuntimeException ex) {
			// A factory of the application may have a database only in some threads
			return "MongoDB (" + collection;
		}
	}

	LockDatabase database() {
		return this.database;
	}

	@Override
	public void checkCaller() {
		this.database.check();
	}

	@Override
	public AcquireAnswer acquire(AcquireRequest request) {
		long sent = System.nanoTime();
		Statements.Acquired acquired = execute("acquire the lock '" + request.key().name() + "'", request.timeout(),
				(statements, store) -> acquire(statements, store, request));
		if (acquired.fencePending() && this.settings.fenceTransactions()
				&& acquired.answer() instanceof AcquireAnswer.Granted grant) {
			return raiseFence(request.key().granted(grant.permit()).id(), grant, request.timeout(),
					request.timeout().minusNanos(System.nanoTime() - sent));
		}
		return acquired.answer();
	}

	private Statements.Acquired acquire(Statements statements, StoreRequest store, AcquireRequest request) {
		this.indexes.ensureIndex(store, request.timeout());
		if (this.sessionsAreFenced) {
			fences().indexes().ensureIndex(store, request.timeout());
		}
		return statements.acquire(store, request);
	}

	private AcquireAnswer raiseFence(String name, AcquireAnswer.Granted grant, Duration timeout, Duration left) {
		return this.access.get()
			.executeOnFences("raise the fence of the lock '" + name + "', under which an earlier holder's transaction "
					+ "may still be open,", timeout, left, (store) -> {
						if (!this.fencesAreRaised && !this.access.get().reportsTransactions(store)) {
							return grant;
						}
						fences().indexes().ensureIndex(store, left);
						fences().raise(store, name, Fences.ALL_SLOTS, grant.token());
						this.fencesAreRaised = true;
						return new AcquireAnswer.Granted(grant.token(), grant.lastToken(), grant.acquiredAt(), true,
								grant.claimed(), grant.permit(), grant.earlierPermits());
					});
	}

	void createFences() {
		Duration timeout = this.settings.timeout();
		this.access.get().executeOnFences("create the collection of the fences", timeout, timeout, (store) -> {
			fences().indexes().create(store);
			return true;
		});
	}

	/**
	 * Note that sessions of the application write fences. Their transactions begin
	 * outside of dblock, and have already written when they are fenced. The fence
	 * collection is therefore ensured when a lock is acquired.
	 */
	void fencesSessions() {
		this.sessionsAreFenced = true;
	}

	void settleFence(LeaseKey lease, long token, List<Integer> slots) {
		this.access.get()
			.executeOnFencesWithin("wait for earlier transactions under the lock '" + lease.id() + "'",
					LONGEST_SETTLEMENT, (store) -> {
						fences().raise(store, lease.id(), slots, token);
						return true;
					});
	}

	/**
	 * Return whether an acquisition is the holder according to the server.
	 */
	boolean isHeld(LeaseKey lease) {
		return find(lease.id()).filter((info) -> info.held() && lease.holder().equals(info.holder())).isPresent();
	}

	/**
	 * Return the fenced transactions of this repository.
	 * @return the same instance for each call
	 * @throws IllegalStateException if fences are disabled
	 */
	FencedTransactions fencedTransactions() {
		if (!this.settings.fenceTransactions()) {
			throw new IllegalStateException(
					"Transactions are not fenced by locks, because dblock.mongodb.fence-transactions is false. Set it"
							+ " to true in every instance, or do not use LockFence");
		}
		return this.fenced.get();
	}

	private Fences fences() {
		return this.fenced.get().fences();
	}

	@Override
	public Map<LeaseKey, Optional<LockInfo>> renew(List<LeaseKey> leases, Duration timeout) {
		if (leases.isEmpty()) {
			return Map.of();
		}
		// A lock that is renewed was granted, and its fence was raised before, if it had
		// to be
		boolean raised = this.fencesAreRaised;
		return execute(RenewalBatches.describe(leases), timeout, (statements, store) -> {
			Map<LeaseKey, Optional<LockInfo>> all = new HashMap<>();
			RenewalBatches.of(leases).forEach((batch) -> all.putAll(statements.renew(store, batch, raised)));
			return all;
		});
	}

	@Override
	public boolean extend(LeaseKey lease, Duration atLeast, Duration timeout) {
		return execute("extend the lock '" + lease.id() + "'", timeout,
				(statements, store) -> statements.extend(store, lease, atLeast));
	}

	@Override
	public boolean extendExactly(LeaseKey lease, Duration duration, Duration timeout) {
		return execute("extend the lock '" + lease.id() + "'", timeout,
				(statements, store) -> statements.extendExactly(store, lease, duration));
	}

	@Override
	public Duration clockAllowance() {
		return this.settings.clockAllowance();
	}

	@Override
	public boolean release(LeaseKey lease, Duration minHoldLeft, FenceMark mark, Claim.@Nullable End end,
			Duration timeout) {
		return execute("release the lock '" + lease.name() + "'", timeout,
				(statements, store) -> statements.release(store, lease, minHoldLeft, mark, end));
	}

	@Override
	public AskAnswer ask(String name, String id, Duration timeout) {
		return execute("ask the holder of the lock '" + name + "' to run once more", timeout,
				(statements, store) -> statements.ask(store, name, id));
	}

	@Override
	public Optional<String> closeRequests(LeaseKey lease, @Nullable String seen, Duration timeout) {
		return execute("look for requests to run once more under the lock '" + lease.id() + "'", timeout,
				(statements, store) -> statements.closeRequests(store, lease, seen));
	}

	@Override
	public Optional<LockInfo> find(String name) {
		return find(name, this.settings.timeout());
	}

	@Override
	public Optional<LockInfo> find(String name, Duration timeout) {
		return execute("read the lock '" + name + "'", timeout, (statements, store) -> statements.find(store, name));
	}

	@Override
	public LockPage findAll(ListRequest request) {
		String prefix = request.prefix();
		return execute(prefix.isEmpty() ? "list the locks" : "list the locks '" + prefix + "...'",
				this.settings.timeout(), (statements, store) -> statements.findAll(store, request));
	}

	@Override
	public boolean forceRelease(String name) {
		return execute("force the release of the lock '" + name + "'", this.settings.timeout(),
				(statements, store) -> statements.forceRelease(store, name));
	}

	@Override
	public boolean forceReleaseNow(String name) {
		return execute("force the release of the lock '" + name + "'", this.settings.timeout(),
				(statements, store) -> statements.forceReleaseNow(store, name));
	}

	@Override
	public Optional<StoreTime> time(Duration timeout) {
		return Optional.of(this.access.get().time(timeout));
	}

	@Override
	public void check(Duration timeout) {
		long sent = System.nanoTime();
		execute("read and write the locks", timeout, (statements, store) -> {
			this.indexes.ensureIndex(store, timeout);
			store.checkPrivileges();
			return true;
		});
		if (this.settings.fenceTransactions()) {
			StoreAccess access = this.access.get();
			access.executeOnFences("read and write the fences", timeout, timeout.minusNanos(System.nanoTime() - sent),
					(store) -> {
						if (access.reportsTransactions(store)) {
							store.on(Fences.collectionBeside(this.settings.collection())).checkPrivileges();
						}
						return true;
					});
		}
	}

	@Override
	public @Nullable TransactionFence fenceFor(PlatformTransactionManager manager) {
		if (!this.settings.fenceTransactions() || !(manager instanceof MongoTransactionManager mongodb)) {
			return null;
		}
		MongoDatabaseFactory transactions = mongodb.getDatabaseFactory();
		return (transactions != null && SameServers.areOf(transactions, this.database))
				? new MongoTransactionFence(this.fenced.get(), transactions) : null;
	}

	@Override
	public @Nullable TransactionFence fenceFor(TransactionContext transaction) {
		return (this.settings.fenceTransactions() && REACTIVE_DRIVER_PRESENT)
				? ReactiveTransactionFence.of(this.fenced.get(), transaction) : null;
	}

	@Override
	public Optional<ClaimRecords> claims() {
		return Optional.of(this.records);
	}

	@Override
	public ReleaseFeed releases() {
		return this.releases;
	}

	private <T> T execute(String action, Duration timeout, BiFunction<Statements, StoreRequest, T> work) {
		return this.access.get().execute(action, timeout, work);
	}

	/**
	 * The records in the documents of the locks.
	 */
	private final class StoredRecords implements ClaimRecords {

		@Override
		public Optional<ClaimRecord.Status> find(String lock, Claim.Key key, @Nullable Duration limit) {
			return execute("read the job '" + key.id() + "'", limited(limit),
					(statements, store) -> statements.findRecord(store, lock, key));
		}

		@Override
		public Map<String, ClaimRecord.Status> findAll(Map<String, Claim.Key> keys, @Nullable Duration limit) {
			if (keys.isEmpty()) {
				return Map.of();
			}
			String first = keys.values().iterator().next().id();
			return execute("read the job '" + first + "' and " + (keys.size() - 1) + " others", limited(limit),
					(statements, store) -> statements.findRecords(store, keys));
		}

		@Override
		public Optional<ClaimRecord.Status> findLasting(String lock, Claim.Key key, @Nullable Duration limit) {
			return execute("confirm the record of the job '" + key.id() + "'", limited(limit),
					(statements, store) -> statements.findLastingRecord(store, lock, key));
		}

		@Override
		public Optional<ClaimRecord.Status> expire(String lock, ClaimRecord.Request request, @Nullable Duration limit) {
			return execute("record a missed planned time of the job '" + request.id() + "'", limited(limit),
					(statements, store) -> statements.expire(store, lock, request));
		}

		private Duration limited(@Nullable Duration limit) {
			Duration most = MongoLockRepository.this.settings.timeout();
			return (limit != null) ? Durations.shorter(limit, most) : most;
		}

		@Override
		public void pause(String lock, Claim.Key key, String by) {
			execute("pause the job '" + key.id() + "'", MongoLockRepository.this.settings.timeout(),
					(statements, store) -> {
						statements.pause(store, lock, key, by);
						return true;
					});
		}

		@Override
		public boolean resume(String lock, Claim.Key key) {
			return execute("resume the job '" + key.id() + "'", MongoLockRepository.this.settings.timeout(),
					(statements, store) -> statements.resume(store, lock, key));
		}

	}

	/**
	 * The requests of fenced transactions.
	 */
	private final class FenceRequests implements FencedTransactions.Requests {

		@Override
		public void createFences() {
			MongoLockRepository.this.createFences();
		}

		@Override
		public void settleFence(LeaseKey lease, long token, List<Integer> slots) {
			MongoLockRepository.this.settleFence(lease, token, slots);
		}

		@Override
		public boolean isHeld(LeaseKey lease) {
			return MongoLockRepository.this.isHeld(lease);
		}

	}

}
