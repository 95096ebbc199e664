package dev.dblock.mongodb;

import com.mongodb.client.ClientSession;
import dev.dblock.store.LeaseKey;

import org.springframework.data.mongodb.MongoDatabaseFactory;

/**
 * Fences the transactions that Spring begins on one database factory.
 */
final class MongoTransactionFence extends MongoFence {

	private final MongoDatabaseFactory factory;

	MongoTransactionFence(FencedTransactions fenced, MongoDatabaseFactory factory) {
		super(fenced);
		this.factory = factory;
	}

	@Override
	public Written write(LeaseKey lease, long token, int slot) {
		ClientSession session = TransactionSession.of(this.factory);
		if (session == null || !session.hasActiveTransaction()) {
			return Written.DONE;
		}
		return translated(fenced().write(this.factory::getMongoDatabase, session, lease, token, slot),
				this.factory.getExceptionTranslator());
	}

}
