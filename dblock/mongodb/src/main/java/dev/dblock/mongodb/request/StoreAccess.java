package dev.dblock.mongodb.request;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import dev.dblock.store.LockRepository.StoreTime;
import org.jspecify.annotations.Nullable;

import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.SessionSynchronization;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.data.mongodb.core.convert.MappingMongoConverter;
import org.springframework.data.mongodb.core.convert.NoOpDbRefResolver;
import org.springframework.data.mongodb.core.mapping.MongoMappingContext;

/**
 * Executes all requests to the servers: outside of any session of the calling thread, in
 * the dialect that the servers support, and with failures translated to Spring's
 * exceptions.
 */
public final class StoreAccess {

	private final MongoTemplate template;

	private final LockCollection collection;

	private final HelloCommand hello = new HelloCommand();

	private final ServerClock clock;

	private final DialectDetection dialect;

	private final FailureTranslation failures;

	private final FailureTranslation failuresOfFences;

	private final Duration timeout;

	/**
	 * Create the access to the locks in a database.
	 * @param factory the factory of the database
	 * @param topology the client's view of the servers and of the current election
	 * @param terms where and how the locks are kept
	 * @param nanoTime the monotonic clock, in nanoseconds
	 * @param wallTime the wall clock, in milliseconds
	 */
	public StoreAccess(MongoDatabaseFactory factory, Supplier<Object> topology, Terms terms, LongSupplier nanoTime,
			LongSupplier wallTime) {
		String locks = terms.locks();
		String fences = terms.fences();
		LeaseTimes times = LeaseTimes.of(terms.clockAllowance(), terms.retention());
		this.template = template(factory);
		this.collection = new LockCollection(locks);
		this.clock = new ServerClock(nanoTime, wallTime, topology, this.hello::say);
		ClaimStatements claims = ClaimStatements.installed();
		this.dialect = new DialectDetection(terms.pipelines(), new StoreSuitability(locks, fences),
				new PipelineStatements(times, claims), new ClassicStatements(times, this.clock, claims),
				this.hello::say);
		this.failures = new FailureTranslation(locks);
		this.failuresOfFences = new FailureTranslation((fences != null) ? fences : locks);
		this.timeout = terms.timeout();
	}

	// Not a bean, and independent of the application's converter, for whose entities
	// indexes would be created, and of its transactions
	private static MongoTemplate template(MongoDatabaseFactory factory) {
		MongoMappingContext mapping = new MongoMappingContext();
		mapping.afterPropertiesSet();
		MappingMongoConverter converter = new MappingMongoConverter(NoOpDbRefResolver.INSTANCE, mapping);
		converter.afterPropertiesSet();
		MongoTemplate template = new MongoTemplate(factory, converter);
		template.setSessionSynchronization(SessionSynchronization.NEVER);
		return template;
	}

	/**
	 * Execute a request.
	 * @param action what it does, such as "acquire the lock 'stock'"
	 * @param timeout how long it may take
	 * @param work the request
	 * @return its result
	 */
	public <T> T execute(String action, Duration timeout, BiFunction<Statements, StoreRequest, T> work) {
		return execute(this.failures, false, action, timeout, TimeLimit.of(timeout, this.timeout), work);
	}

	/**
	 * Execute a request on the collection of the fences, as a part of an operation that
	 * was begun by another request.
	 * @param action what it does
	 * @param timeout how long the operation may take
	 * @param left how long the request may take
	 * @param work the request
	 * @return its result
	 */
	public <T> T executeOnFences(String action, Duration timeout, Duration left, Function<StoreRequest, T> work) {
		return executeOnFences(action, left, TimeLimit.of(timeout, this.timeout), work);
	}

	/**
	 * Execute a request on the collection of the fences with a time limit that cannot be
	 * configured.
	 * @param action what it does
	 * @param limit how long it may take
	 * @param work the request
	 * @return its result
	 */
	public <T> T executeOnFencesWithin(String action, Duration limit, Function<StoreRequest, T> work) {
		return executeOnFences(action, limit, TimeLimit.fixed(limit), work);
	}

	private <T> T executeOnFences(String action, Duration timeout, TimeLimit limit, Function<StoreRequest, T> work) {
		return execute(this.failuresOfFences, true, action, timeout, limit, (statements, store) -> work.apply(store));
	}

	/**
	 * Read the server's clock, by a request that also shows whether locks can be read.
	 * @param timeout how long that may take
	 * @return the time
	 */
	public StoreTime time(Duration timeout) {
		ServerClock.Reading now = execute(this.failures, false, "read the clock", timeout, TimeLimit.fixed(timeout),
				(statements, store) -> {
					statements.find(store, StoreRequest.NO_LOCK);
					return this.clock.readAnew(store);
				});
		return new StoreTime(Instant.ofEpochMilli(now.notBefore()), Instant.ofEpochMilli(now.notAfter()));
	}

	private <T> T execute(FailureTranslation failures, boolean begun, String action, Duration timeout, TimeLimit limit,
			BiFunction<Statements, StoreRequest, T> work) {
		AtomicReference<@Nullable StoreRequest> request = new AtomicReference<>();
		try {
			T result = this.template.execute((database) -> {
				StoreRequest store = new StoreRequest(database, this.collection, timeout);
				request.set(store);
				return work.apply(this.dialect.statements(store), store);
			});
			return Objects.requireNonNull(result);
		}
		catch (RuntimeException ex) {
			this.clock.forget();
			this.collection.forget();
			StoreRequest sent = request.get();
			throw failures.translate(action, limit, begun || sent != null && sent.isBegun(), ex);
		}
	}

	/**
	 * Return a request for an operation that is none of {@link Statements}.
	 * @param timeout how long it may take
	 */
	public StoreRequest request(Duration timeout) {
		return new StoreRequest(this.template.getDb(), this.collection, timeout);
	}

	public boolean reportsTransactions(StoreRequest store) {
		return this.hello.reportsTransactions(store);
	}

	/**
	 * Where and how the locks of a database are kept.
	 *
	 * @param locks the collection of the locks
	 * @param fences the collection of their fences; {@code null} if transactions are not
	 * fenced
	 * @param pipelines whether the servers support updates with a pipeline; {@code null}
	 * to detect it
	 * @param clockAllowance the maximum difference between the clocks that may decide
	 * about one lock
	 * @param retention how long the document of an unused lock is kept
	 * @param timeout the time limit of a request that has no limit of its own
	 */
	public record Terms(String locks, @Nullable String fences, @Nullable Boolean pipelines, Duration clockAllowance,
			Duration retention, Duration timeout) {
	}

}
