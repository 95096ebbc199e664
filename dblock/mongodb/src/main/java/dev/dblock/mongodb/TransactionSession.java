package dev.dblock.mongodb;

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
 * Finds the session of the calling thread's transaction. Spring does not expose the
 * session, but passes it to the factory from which a database is requested. This class
 * takes the place of that factory.
 */
final class TransactionSession implements MongoDatabaseFactory, InfrastructureProxy {

	private final MongoDatabaseFactory factory;

	private @Nullable ClientSession session;

	private TransactionSession(MongoDatabaseFactory factory) {
		this.factory = factory;
	}

	/**
	 * Return the session of the thread's transaction.
	 * @param factory the factory on which the transaction was begun
	 * @return the session, or {@code null} if there is none
	 */
	static @Nullable ClientSession of(MongoDatabaseFactory factory) {
		TransactionSession asking = new TransactionSession(factory);
		try {
			MongoDatabase unused = MongoDatabaseUtils.getDatabase(asking, SessionSynchronization.ON_ACTUAL_TRANSACTION);
		}
		catch (RuntimeException ex) {
			// The factory may have no database for this thread any more
			if (asking.session == null) {
				throw ex;
			}
		}
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
