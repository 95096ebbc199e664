package dev.dblock.mongodb.fence;

import com.mongodb.ClientSessionOptions;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoDatabase;
import org.bson.codecs.configuration.CodecRegistry;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

import org.springframework.core.InfrastructureProxy;
import org.springframework.dao.support.PersistenceExceptionTranslator;
import org.springframework.data.mongodb.ReactiveMongoDatabaseFactory;
import org.springframework.data.mongodb.ReactiveMongoDatabaseUtils;
import org.springframework.data.mongodb.SessionSynchronization;
import org.springframework.transaction.reactive.TransactionContext;

/**
 * Finds the session of a reactive transaction, as {@link TransactionSession} does that of
 * a blocking one: in the place of the factory that Spring hands the session to. It has no
 * databases, so that Spring goes no further.
 */
final class ReactiveTransactionSession implements ReactiveMongoDatabaseFactory, InfrastructureProxy {

	private static final Logger logger = LoggerFactory.getLogger(ReactiveTransactionSession.class);

	private final ReactiveMongoDatabaseFactory factory;

	private @Nullable ClientSession session;

	private ReactiveTransactionSession(ReactiveMongoDatabaseFactory factory) {
		this.factory = factory;
	}

	/**
	 * The session of a transaction. Nothing is waited for.
	 * @param factory the factory that the transaction was begun on
	 * @param transaction the transaction
	 * @return the session, or {@code null} when there is none
	 */
	static @Nullable ClientSession of(ReactiveMongoDatabaseFactory factory, TransactionContext transaction) {
		ReactiveTransactionSession asking = new ReactiveTransactionSession(factory);
		ReactiveMongoDatabaseUtils.getDatabase(asking, SessionSynchronization.ON_ACTUAL_TRANSACTION)
			.contextWrite((context) -> context.put(TransactionContext.class, transaction))
			.subscribe((none) -> logger.trace("Somebody else's database"),
					(ex) -> logger.debug("The session of a transaction was not found", ex));
		return asking.session;
	}

	@Override
	public Object getWrappedObject() {
		return this.factory;
	}

	@Override
	public ReactiveMongoDatabaseFactory withSession(ClientSession session) {
		this.session = session;
		return this;
	}

	@Override
	public Mono<MongoDatabase> getMongoDatabase() {
		return Mono.empty();
	}

	@Override
	public Mono<MongoDatabase> getMongoDatabase(String dbName) {
		return Mono.empty();
	}

	@Override
	public PersistenceExceptionTranslator getExceptionTranslator() {
		return this.factory.getExceptionTranslator();
	}

	@Override
	public CodecRegistry getCodecRegistry() {
		return this.factory.getCodecRegistry();
	}

	@Override
	public Mono<ClientSession> getSession(ClientSessionOptions options) {
		return this.factory.getSession(options);
	}

}
