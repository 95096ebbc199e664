package dev.dblock.mongodb;

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
 * Finds the session of a reactive transaction, as {@link TransactionSession} does for a
 * blocking one: it takes the place of the factory to which Spring passes the session. It
 * provides no databases, so that Spring proceeds no further.
 */
final class ReactiveTransactionSession implements ReactiveMongoDatabaseFactory, InfrastructureProxy {

	private static final Logger logger = LoggerFactory.getLogger(ReactiveTransactionSession.class);

	private final ReactiveMongoDatabaseFactory factory;

	private @Nullable ClientSession session;

	private ReactiveTransactionSession(ReactiveMongoDatabaseFactory factory) {
		this.factory = factory;
	}

	/**
	 * Return the session of a transaction without blocking.
	 * @param factory the factory on which the transaction was begun
	 * @param transaction the transaction
	 * @return the session, or {@code null} if there is none
	 */
	static @Nullable ClientSession of(ReactiveMongoDatabaseFactory factory, TransactionContext transaction) {
		ReactiveTransactionSession asking = new ReactiveTransactionSession(factory);
		ReactiveMongoDatabaseUtils.getDatabase(asking, SessionSynchronization.ON_ACTUAL_TRANSACTION)
			.contextWrite((context) -> context.put(TransactionContext.class, transaction))
			.subscribe((none) -> logger.trace("The database of another factory"),
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
