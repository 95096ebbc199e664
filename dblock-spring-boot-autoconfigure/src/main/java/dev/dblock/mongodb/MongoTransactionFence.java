package dev.dblock.mongodb;

import com.mongodb.client.ClientSession;
import dev.dblock.core.LeaseKey;

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
		Written written = fenced().write(this.factory, session, lease, token, slot);
		RuntimeException failure = written.failure();
		return (failure != null) ? new Written(written.outcome(), translated(failure)) : written;
	}

	/**
	 * As the application's own requests in the transaction would fail, so that the same
	 * retries apply.
	 */
	private RuntimeException translated(RuntimeException failure) {
		RuntimeException translated = this.factory.getExceptionTranslator().translateExceptionIfPossible(failure);
		return (translated != null) ? translated : failure;
	}

}
