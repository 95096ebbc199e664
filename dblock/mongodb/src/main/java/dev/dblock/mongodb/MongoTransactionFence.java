package dev.dblock.mongodb;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
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
		if (session == null || !session.hasActiveTransaction()
				|| !(session.getOriginator() instanceof MongoClient client) || !isOfLocks(client)) {
			return Written.DONE;
		}
		return translated(fenced().write(client, session, lease, token, slot), this.factory.getExceptionTranslator());
	}

	/**
	 * Return whether a client leads to the servers of the locks. A factory may have
	 * chosen other servers for the thread since the transaction manager was checked.
	 */
	private boolean isOfLocks(MongoClient client) {
		MongoClient locks = fenced().database().client();
		return (locks != null) ? client == locks || SameServers.areOf(client.getClusterDescription(), locks)
				: fenced().database().isOf(this.factory);
	}

}
