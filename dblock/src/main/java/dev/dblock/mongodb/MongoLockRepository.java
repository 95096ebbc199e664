package dev.dblock.mongodb;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoWriteException;
import dev.dblock.LockInfo;
import dev.dblock.job.JobStatus;
import dev.dblock.mongodb.client.DedicatedDatabaseFactory;
import dev.dblock.mongodb.client.SameServers;
import dev.dblock.mongodb.fence.FenceStore;
import dev.dblock.mongodb.fence.FencedTransactions;
import dev.dblock.mongodb.fence.Fences;
import dev.dblock.mongodb.fence.MongoTransactionFence;
import dev.dblock.mongodb.fence.ReactiveTransactionFence;
import dev.dblock.mongodb.request.JobFields;
import dev.dblock.mongodb.request.LeaseTimes;
import dev.dblock.mongodb.request.OperatorStatements;
import dev.dblock.mongodb.request.ServerClock;
import dev.dblock.mongodb.request.StatementDialect;
import dev.dblock.mongodb.request.Statements;
import dev.dblock.mongodb.request.StoreAccess;
import dev.dblock.mongodb.request.StoreRequest;
import dev.dblock.mongodb.request.TimeLimit;
import dev.dblock.mongodb.request.TtlIndex;
import dev.dblock.store.AcquireAnswer;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.FenceMark;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository;
import dev.dblock.store.ReleaseFeed;
import dev.dblock.store.RunEnd;
import dev.dblock.store.StoreTime;
import dev.dblock.store.TransactionFence;
import org.jspecify.annotations.Nullable;

import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.MongoTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.reactive.TransactionContext;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Locks as documents in one MongoDB collection, one document per name, kept after the
 * release so that the fencing token survives:
 *
 * <pre>{@code
 * {
 *   _id:          "nightly-invoices",               // the lock's name
 *   holder:       "5f1c...",                        // random id of the acquisition; absent once released
 *   acquirer:     "host-1:4711:x7f3",               // the instance
 *   thread:       "scheduling-1",
 *   why:          "com.acme.Invoices#invoice",
 *   token:        NumberLong("1838349630251007"),   // the last token reserved
 *   acquiredAt:   ISODate(...),                     // all dates are the server's
 *   updatedAt:    ISODate(...),                     // granted or renewed last
 *   expiresAt:    ISODate(...),                     // free for others from then on; absent: free
 *   leaseMillis:  NumberLong(30000),                // what a renewal adds
 *   releasedAt:   ISODate(...),                     // absent while held
 *   fencePending: true,                             // the last holder was overtaken; absent in a new document
 *   jobs: {                                         // only of locks that were acquired for planned times
 *     "nightly-invoices": {                         // the id of a job; one that a path cannot name as a hash
 *       last: {planned: ISODate(...), attempt: 1, firing: "...", holder: "5f1c...", started: ISODate(...),
 *              again: "CRASHED",                    // how the run before ended, if that was one of the same firing
 *              instance: "...", token: NumberLong(...), ended: ISODate(...), outcome: "SUCCEEDED", error: "..."},
 *       runs: [...],                                // the 19 before it, the oldest first
 *       paused: {by: "...", at: ISODate(...)},
 *       resumed: ISODate(...)
 *     }
 *   },
 *   cleanUpAt:    ISODate(...)                      // when the TTL index may remove the document
 * }
 * }</pre>
 *
 * What makes up the protocol:
 * <ol>
 * <li><b>Acquire</b> is one {@code findAndModify} by {@code _id} with upsert. The name is
 * free if there is nothing but an {@code _id}, or a document of ours whose
 * {@code expiresAt} is absent or not after the server's present time. A free name gets
 * the new holder, {@code expiresAt} = now + lease + clock allowance, and the next block
 * of tokens, 1024 or as many as are asked for: from the last one reserved + 1, or from
 * the server's milliseconds times 1024, if that is more. Fields that this version does
 * not know are kept, so that versions can run side by side. A name that is not free stays
 * as it is, and comes back with the server's time: the same holder means that the request
 * was repeated and the grant stands; another holder is the refusal; a document that is
 * not ours is refused with its name. Neither it nor a release is sent as a retryable
 * write: the engine repeats both, an acquisition under another id, and what the servers
 * keep to recognise a repetition of the driver's costs them two more writes for each. For
 * a planned time, the request has only the rules of the usual case. If it is refused
 * though the firing is due, such as after a run that crashed, it is sent again with all
 * rules.</li>
 * <li><b>Taking over</b> from a holder that has not released sets {@code fencePending}:
 * one of its transactions may still be under way. Whoever is granted such a document
 * raises the fence before the grant is given out, in one command on all four fence
 * documents of the name, which waits for transactions that have written theirs. Renewals
 * and releases that are sent after that remove the mark. A release by somebody who has
 * not raised the fence keeps it, and one by a holder of whose transactions one may still
 * be under way sets it. Where there are no transactions, or they are not to be fenced,
 * nothing is raised and the mark stays.</li>
 * <li><b>A transaction</b> under the lock writes its token to one of the four documents
 * right before its commit; see {@link LockFence}.</li>
 * <li><b>Renew</b> is one {@code updateMany} by {@code _id}, holder, and an
 * {@code expiresAt} after the server's present time; {@code expiresAt} only ever grows.
 * If fewer matched than were sent, one {@code find} tells which are gone. Long lists are
 * cut into pieces of 5,000 leases.</li>
 * <li><b>Release</b> is one {@code updateMany} by {@code _id} and holder, which removes
 * {@code holder} and removes {@code expiresAt} or sets it to the end of the minimum
 * hold.</li>
 * <li><b>Force release</b> removes {@code holder}, sets {@code fencePending} and leaves
 * {@code expiresAt}, so that nobody overlaps the holder, who is told when it next asks.
 * The immediate form removes {@code expiresAt} too, and with it exclusion. The document
 * is read before, so that the same update ends the run of a job which the holder
 * has.</li>
 * </ol>
 *
 * Every request is written with {@code majority}, read from the primary, bounded by the
 * driver's client-side operation timeout, and outside any session of the calling thread.
 * Nothing that a caller gave is read as an expression.
 *
 * <p>
 * On servers without pipeline updates ({@link StatementDialect#CLASSIC}) the same
 * document is written with classic operators: a new name is created in two steps, a
 * take-over swaps on the exact holder, token and {@code expiresAt} that was read, a
 * renewal first reads the lengths of the leases. The server's clock is followed by
 * samples of the {@code localTime} in its {@code hello}; a take-over goes by the
 * earliest, a grant by the latest time that the clock can show. The first token of a new
 * document comes from the latest time of a sample taken for it, and is given out once the
 * earliest has reached it, so that tokens rise also after a document is removed. A sample
 * is dropped after a minute, after any failed request, when the client's view of the
 * servers or of the election changes, and when the wall clock leaps against
 * {@code nanoTime}. Both can stop while a virtual machine is paused, and then the sample
 * is too early: so a grant must last a whole lease from its own {@code updatedAt}, which
 * the server writes, or it is prolonged, and after a renewal or an extension another
 * sample must confirm the one that was used, or it is sent again. What is left open
 * there: a renewal of a lease that has ended, sent by a holder that does not know its end
 * yet, is still applied if no other holder has taken the lock over.
 *
 * <p>
 * The dialect is found out, a capped collection refused, and the TTL index created, at
 * the first use. After a drop of the collection the index is made again by the first
 * acquire that has to create its document, and after a renewal that finds its document
 * missing.
 *
 * <p>
 * The idea of one document with holder, reason and take-over is that of MongoDB's own
 * former {@code config.locks}; comparing with {@code $$NOW} in place of a client's clock
 * removes what made those unsafe.
 *
 * @see MongoLockSettings
 */
public final class MongoLockRepository implements LockRepository {

	// Blank, as the name of no lock can be
	private static final String NO_LOCK = " ";

	private static final boolean REACTIVE_DRIVER_PRESENT = ClassUtils
		.isPresent("com.mongodb.reactivestreams.client.MongoClient", MongoLockRepository.class.getClassLoader());

	/** A transaction of the caller's is open meanwhile. */
	private static final Duration LONGEST_SETTLEMENT = Duration.ofSeconds(1);

	private final MongoLockSettings settings;

	private final CappedCollections capped;

	private final TtlIndex indexes;

	private final ReleaseFeed releases;

	private final MongoDatabaseFactory factory;

	// Made when the first lock is asked for: no start of an application waits for it
	private final Supplier<StoreAccess> access;

	private final Supplier<FencedTransactions> fenced;

	private volatile boolean fencesAreRaised;

	private volatile boolean sessionsAreFenced;

	/**
	 * Keep locks in the database of a factory. Nothing is asked of the server yet.
	 * @param factory the application's own factory, or a {@link DedicatedDatabaseFactory}
	 * beside it, which whoever made it closes
	 * @param settings how to keep them
	 * @throws IllegalArgumentException when the name of the collection is too long for
	 * one in that database
	 */
	public MongoLockRepository(MongoDatabaseFactory factory, MongoLockSettings settings) {
		this(factory, settings, System::nanoTime, System::currentTimeMillis);
	}

	MongoLockRepository(MongoDatabaseFactory factory, MongoLockSettings settings, LongSupplier nanoTime,
			LongSupplier wallTime) {
		this.factory = factory;
		this.settings = checked(factory, settings);
		this.access = SingletonSupplier.of(() -> new StoreAccess(factory, settings.collection(),
				Fences.collectionBeside(settings.collection()), settings.statements(),
				LeaseTimes.of(settings.clockAllowance(), settings.retention()), nanoTime, wallTime));
		this.capped = new CappedCollections(CollectionNames.of(settings));
		this.indexes = new TtlIndex(settings.createIndexes(), nanoTime);
		this.fenced = SingletonSupplier
			.of(() -> new FencedTransactions(new Fences(settings.collection(), settings.createIndexes(), nanoTime),
					factory, new OwnFences(), nanoTime));
		this.releases = new ChangeStreamFeed(() -> this.access.get().collection(ChangeStreamReader.REQUEST_LIMIT));
	}

	/**
	 * Refuse settings that no repository could be made with.
	 * @param factory the factory of the database
	 * @param settings how to keep the locks there
	 * @return the settings
	 * @throws IllegalArgumentException when the name of the collection is too long for
	 * one in that database
	 */
	public static MongoLockSettings checked(MongoDatabaseFactory factory, MongoLockSettings settings) {
		CollectionNames.check(settings, factory);
		return settings;
	}

	MongoDatabaseFactory factory() {
		return this.factory;
	}

	@Override
	public AcquireAnswer acquire(AcquireRequest request) {
		long sent = System.nanoTime();
		Statements.Acquired acquired = execute("acquire the lock '" + request.key().name() + "'", request.timeout(),
				(statements, store) -> acquire(statements, store, request));
		if (acquired.fencePending() && this.settings.fenceTransactions()
				&& acquired.answer() instanceof AcquireAnswer.Granted grant) {
			return raiseFence(request.key().name(), grant, request.timeout().minusNanos(System.nanoTime() - sent),
					limit(request.timeout()));
		}
		return acquired.answer();
	}

	private Statements.Acquired acquire(Statements statements, StoreRequest store, AcquireRequest request) {
		this.capped.refuse(store);
		this.indexes.lookAfter(store, request.timeout());
		if (this.sessionsAreFenced) {
			fences().indexes().lookAfter(store, request.timeout());
		}
		Statements.Acquired acquired = (request.firing() != null) ? acquireForJob(statements, store, request)
				: statements.acquire(store, request);
		if (acquired.created()) {
			this.indexes.suspectDrop();
			this.indexes.lookAfter(store, request.lease().dividedBy(4));
		}
		return acquired;
	}

	/**
	 * A run record that was changed by hand makes the request fail, or is refused. It is
	 * looked at only then, so that no other request has to check it.
	 */
	private static Statements.Acquired acquireForJob(Statements statements, StoreRequest store,
			AcquireRequest request) {
		try {
			Statements.Acquired acquired = statements.acquire(store, request);
			if (!acquired.malformed() || !repairRecord(store, request)) {
				return acquired;
			}
		}
		catch (MongoCommandException | MongoWriteException ex) {
			if (!repairRecord(store, request)) {
				throw ex;
			}
		}
		return statements.acquire(store, request);
	}

	private static boolean repairRecord(StoreRequest store, AcquireRequest request) {
		return OperatorStatements.repairRecord(store, request.key().name(), new JobFields(request.jobId()));
	}

	private AcquireAnswer raiseFence(String name, AcquireAnswer.Granted grant, Duration timeout, TimeLimit limit) {
		return this.access.get()
			.executeOnFences("raise the fence of the lock '" + name + "', under which an earlier holder's transaction "
					+ "may still be open,", timeout, limit, (statements, store) -> {
						if (!this.fencesAreRaised && !this.access.get().tellsOfTransactions(store)) {
							return grant;
						}
						fences().indexes().lookAfter(store, timeout);
						fences().raise(store, name, Fences.ALL_SLOTS, grant.token());
						this.fencesAreRaised = true;
						return new AcquireAnswer.Granted(grant.token(), grant.lastToken(), grant.acquiredAt(), true,
								grant.run());
					});
	}

	void createFences() {
		Duration timeout = this.settings.timeout();
		this.access.get()
			.executeOnFences("make the collection of the fences", timeout, limit(timeout), (statements, store) -> {
				fences().indexes().create(store);
				return true;
			});
	}

	/**
	 * Sessions of the application's own write fences. Their transactions begin without
	 * being seen here, and have written already when they are: so the collection is
	 * looked after when a lock is acquired.
	 */
	void fencesSessions() {
		this.sessionsAreFenced = true;
	}

	void settleFence(LeaseKey lease, long token, List<Integer> slots) {
		this.access.get()
			.executeOnFences("wait for earlier transactions under the lock '" + lease.name() + "'", LONGEST_SETTLEMENT,
					TimeLimit.fixed(LONGEST_SETTLEMENT), (statements, store) -> {
						fences().raise(store, lease.name(), slots, token);
						return true;
					});
	}

	/**
	 * What fences transactions.
	 * @return the same at each call
	 * @throws IllegalStateException when they are not to be fenced
	 */
	FencedTransactions fencedTransactions() {
		if (!this.settings.fenceTransactions()) {
			throw new IllegalStateException(
					"Transactions are not fenced by locks, because dblock.mongodb.fence-transactions is false. Set it to "
							+ "true in every instance, or do without LockFence");
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
		// What is renewed was granted, and so the fence was raised, if that was to be
		// done
		boolean raised = this.fencesAreRaised;
		Map<LeaseKey, Optional<LockInfo>> gone = execute(RenewalBatches.describe(leases), timeout,
				(statements, store) -> {
					Map<LeaseKey, Optional<LockInfo>> all = new HashMap<>();
					RenewalBatches.of(leases).forEach((batch) -> all.putAll(statements.renew(store, batch, raised)));
					return all;
				});
		if (gone.containsValue(Optional.<LockInfo>empty())) {
			this.indexes.suspectDrop();
		}
		return gone;
	}

	@Override
	public boolean extend(LeaseKey lease, Duration atLeast, Duration timeout) {
		return execute("extend the lock '" + lease.name() + "'", timeout,
				(statements, store) -> statements.extend(store, lease, LeaseTimes.millis(atLeast)));
	}

	@Override
	public boolean release(LeaseKey lease, Duration minHoldLeft, FenceMark mark, @Nullable RunEnd end,
			Duration timeout) {
		return execute("release the lock '" + lease.name() + "'", timeout,
				(statements, store) -> statements.release(store, lease, LeaseTimes.millis(minHoldLeft), mark, end));
	}

	@Override
	public void pauseJob(String name, String jobId, String by) {
		execute("pause the job '" + jobId + "'", this.settings.timeout(), (statements, store) -> {
			statements.pauseJob(store, name, new JobFields(jobId), by);
			return true;
		});
	}

	@Override
	public boolean resumeJob(String name, String jobId) {
		return execute("resume the job '" + jobId + "'", this.settings.timeout(),
				(statements, store) -> OperatorStatements.resumeJob(store, name, new JobFields(jobId))
						|| refuseForeign(statements, store, name));
	}

	@Override
	public Optional<JobStatus> findJob(String name, String jobId) {
		return findJob(name, jobId, this.settings.timeout());
	}

	@Override
	public Optional<JobStatus> findJob(String name, String jobId, Duration timeout) {
		return execute("look at the job '" + jobId + "'", timeout,
				(statements, store) -> statements.findJob(store, name, jobId));
	}

	@Override
	public Optional<LockInfo> find(String name) {
		return find(name, this.settings.timeout());
	}

	@Override
	public Optional<LockInfo> find(String name, Duration timeout) {
		return execute("look at the lock '" + name + "'", timeout, (statements, store) -> statements.find(store, name));
	}

	@Override
	public List<LockInfo> findAll(String prefix) {
		return execute(prefix.isEmpty() ? "list the locks" : "list the locks '" + prefix + "...'",
				this.settings.timeout(), (statements, store) -> statements.findAll(store, prefix));
	}

	@Override
	public boolean forceRelease(String name) {
		return execute("force the release of the lock '" + name + "'", this.settings.timeout(),
				(statements, store) -> statements.forceRelease(store, name) || refuseForeign(statements, store, name));
	}

	@Override
	public boolean forceReleaseNow(String name) {
		return execute("force the release of the lock '" + name + "'", this.settings.timeout(), (statements,
				store) -> statements.forceReleaseNow(store, name) || refuseForeign(statements, store, name));
	}

	@Override
	public Optional<StoreTime> time(Duration timeout) {
		ServerClock.Reading reading = execute("read the clock", timeout, TimeLimit.fixed(timeout),
				(statements, store) -> {
					statements.find(store, NO_LOCK);
					return this.access.get().readClock(store);
				});
		return Optional
			.of(new StoreTime(Instant.ofEpochMilli(reading.notBefore()), Instant.ofEpochMilli(reading.notAfter())));
	}

	@Override
	public @Nullable TransactionFence fenceFor(PlatformTransactionManager manager) {
		if (!this.settings.fenceTransactions() || !(manager instanceof MongoTransactionManager mongodb)) {
			return null;
		}
		MongoDatabaseFactory transactions = mongodb.getDatabaseFactory();
		return (transactions != null && SameServers.areOf(transactions, this.factory))
				? new MongoTransactionFence(this.fenced.get(), transactions) : null;
	}

	@Override
	public @Nullable TransactionFence fenceFor(TransactionContext transaction) {
		return (this.settings.fenceTransactions() && REACTIVE_DRIVER_PRESENT)
				? ReactiveTransactionFence.of(this.fenced.get(), transaction, this.factory) : null;
	}

	@Override
	public ReleaseFeed releases() {
		return this.releases;
	}

	// An operator who sees "nothing to release" must not take a document of something
	// else for a free lock.
	private static boolean refuseForeign(Statements statements, StoreRequest store, String name) {
		statements.find(store, name);
		return false;
	}

	private TimeLimit limit(Duration timeout) {
		return TimeLimit.of(timeout, this.settings.timeout());
	}

	private <T> T execute(String action, Duration timeout, BiFunction<Statements, StoreRequest, T> work) {
		return execute(action, timeout, limit(timeout), work);
	}

	private <T> T execute(String action, Duration timeout, TimeLimit limit,
			BiFunction<Statements, StoreRequest, T> work) {
		return this.access.get().execute(action, timeout, limit, work);
	}

	private final class OwnFences implements FenceStore {

		@Override
		public void create() {
			createFences();
		}

		@Override
		public void settle(LeaseKey lease, long token, List<Integer> slots) {
			settleFence(lease, token, slots);
		}

		@Override
		public boolean isHeld(LeaseKey lease) {
			return find(lease.name()).filter((info) -> info.held() && lease.holder().equals(info.holder())).isPresent();
		}

	}

}
