package dev.dblock.mongodb.fence;

import com.mongodb.ClientSessionOptions;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoDatabase;
import org.jspecify.annotations.Nullable;

import org.springframework.core.InfrastructureProxy;
import org.springframework.dao.support.PersistenceExceptionTranslator;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.MongoDatabaseUtils;
import org.springframework.data.mongodb.SessionSynchronization;

/**
 * Finds the session of the transaction that the calling thread is in. Spring keeps it to
 * itself, but hands it to the factory that is asked for a database: so this stands in for
 * that factory.
 */
final class TransactionSession implements MongoDatabaseFactory, InfrastructureProxy {

	private final MongoDatabaseFactory factory;

	private @Nullable ClientSession session;

	private TransactionSession(MongoDatabaseFactory factory) {
		this.factory = factory;
	}

	/**
	 * The session of the thread's transaction.
	 * @param factory the factory that the transaction was begun on
	 * @return the session, or {@code null} when there is none
	 */
	static @Nullable ClientSession of(MongoDatabaseFactory factory) {
		TransactionSession asking = new TransactionSession(factory);
		MongoDatabase unused = MongoDatabaseUtils.getDatabase(asking, SessionSynchronization.ON_ACTUAL_TRANSACTION);
		return asking.session;
	}

	@Override
	public Object getWrappedObject() {
		return this.factory;
	}

	@Override
	public MongoDatabaseFactory withSession(ClientSession session) {
		this.session = session;
		return this.factory;
	}

	@Override
	public MongoDatabase getMongoDatabase() {
		return this.factory.getMongoDatabase();
	}

	@Override
	public MongoDatabase getMongoDatabase(String dbName) {
		return this.factory.getMongoDatabase(dbName);
	}

	@Override
	public PersistenceExceptionTranslator getExceptionTranslator() {
		return this.factory.getExceptionTranslator();
	}

	@Override
	public ClientSession getSession(ClientSessionOptions options) {
		return this.factory.getSession(options);
	}

}
