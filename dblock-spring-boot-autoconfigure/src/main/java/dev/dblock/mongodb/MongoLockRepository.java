package dev.dblock.mongodb;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.LongSupplier;

import dev.dblock.LockInfo;
import dev.dblock.core.AcquireAnswer;
import dev.dblock.core.AcquireRequest;
import dev.dblock.core.LeaseKey;
import dev.dblock.core.LockRepository;
import dev.dblock.core.ReleaseFeed;

import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.SessionSynchronization;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.data.mongodb.core.convert.MappingMongoConverter;
import org.springframework.data.mongodb.core.convert.NoOpDbRefResolver;
import org.springframework.data.mongodb.core.mapping.MongoMappingContext;

/**
 * Locks as documents in one MongoDB collection.
 *
 * @see MongoLockSettings
 */
public final class MongoLockRepository implements LockRepository {

	private final MongoTemplate template;

	private final MongoLockSettings settings;

	private final ServerClock clock;

	private final DialectDetection dialect;

	private final LockIndexes indexes;

	private final FailureTranslation failures;

	private final ReleaseFeed releases;

	/**
	 * Keep locks in the database of a factory. Nothing is asked of the server yet.
	 * @param factory the application's own factory
	 * @param settings how to keep them
	 */
	public MongoLockRepository(MongoDatabaseFactory factory, MongoLockSettings settings) {
		this(factory, settings, System::nanoTime, System::currentTimeMillis);
	}

	MongoLockRepository(MongoDatabaseFactory factory, MongoLockSettings settings, LongSupplier nanoTime,
			LongSupplier wallTime) {
		this.template = template(factory);
		this.settings = settings;
		Hello hello = new Hello();
		this.clock = new ServerClock(nanoTime, wallTime, new Topology(factory), hello);
		LeaseTimes times = LeaseTimes.of(settings);
		this.dialect = new DialectDetection(settings.statements(), new PipelineStatements(times),
				new ClassicStatements(times, this.clock), hello);
		this.indexes = new LockIndexes(settings.createIndexes(), nanoTime);
		this.failures = new FailureTranslation(settings.collection());
		this.releases = new ChangeStreamFeed(
				() -> new StoreRequest(this.template.getDb(), settings.collection(), ChangeStreamReader.REQUEST_LIMIT)
					.collection());
	}

	// No bean, and nothing of the application's: neither its converter, whose entities
	// would have their
	// indexes created, nor its transactions.
	private static MongoTemplate template(MongoDatabaseFactory factory) {
		MongoMappingContext mapping = new MongoMappingContext();
		mapping.afterPropertiesSet();
		MappingMongoConverter converter = new MappingMongoConverter(NoOpDbRefResolver.INSTANCE, mapping);
		converter.afterPropertiesSet();
		MongoTemplate template = new MongoTemplate(factory, converter);
		template.setSessionSynchronization(SessionSynchronization.NEVER);
		return template;
	}

	@Override
	public AcquireAnswer acquire(AcquireRequest request) {
		return execute("acquire the lock '" + request.key().name() + "'", request.timeout(), (statements, store) -> {
			this.indexes.lookAfter(store, request.timeout());
			Statements.Acquired acquired = statements.acquire(store, request);
			if (acquired.created()) {
				this.indexes.suspectDrop();
				this.indexes.lookAfter(store, request.lease().dividedBy(4));
			}
			return acquired.answer();
		});
	}

	@Override
	public Map<LeaseKey, Optional<LockInfo>> renew(List<LeaseKey> leases, Duration timeout) {
		if (leases.isEmpty()) {
			return Map.of();
		}
		String action = "renew the lock '" + leases.get(0).name() + "' and " + (leases.size() - 1) + " others";
		Map<LeaseKey, Optional<LockInfo>> gone = execute(action, timeout, (statements, store) -> {
			Map<LeaseKey, Optional<LockInfo>> all = new HashMap<>();
			RenewalBatches.of(leases).forEach((batch) -> all.putAll(statements.renew(store, batch)));
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
	public boolean release(LeaseKey lease, Duration minHoldLeft, Duration timeout) {
		return execute("release the lock '" + lease.name() + "'", timeout,
				(statements, store) -> statements.release(store, lease, LeaseTimes.millis(minHoldLeft)));
	}

	@Override
	public Optional<LockInfo> find(String name) {
		return execute("look at the lock '" + name + "'", this.settings.timeout(),
				(statements, store) -> statements.find(store, name));
	}

	@Override
	public List<LockInfo> findAll(String prefix) {
		return execute("list the locks '" + prefix + "...'", this.settings.timeout(),
				(statements, store) -> statements.findAll(store, prefix));
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
	public ReleaseFeed releases() {
		return this.releases;
	}

	// An operator who sees "nothing to release" must not take a document of something
	// else for a free lock.
	private static boolean refuseForeign(Statements statements, StoreRequest store, String name) {
		statements.find(store, name);
		return false;
	}

	private <T> T execute(String action, Duration timeout, BiFunction<Statements, StoreRequest, T> work) {
		try {
			T result = this.template.execute((database) -> {
				StoreRequest store = new StoreRequest(database, this.settings.collection(), timeout);
				return work.apply(this.dialect.statements(store), store);
			});
			return Objects.requireNonNull(result);
		}
		catch (RuntimeException ex) {
			this.clock.forget();
			throw this.failures.translate(action, ex);
		}
	}

}
