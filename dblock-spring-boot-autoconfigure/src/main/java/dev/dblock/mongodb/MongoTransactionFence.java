package dev.dblock.mongodb;

import java.util.List;

import com.mongodb.client.ClientSession;
import dev.dblock.core.LeaseKey;
import dev.dblock.core.TransactionFence;

import org.springframework.data.mongodb.MongoDatabaseFactory;

/**
 * Fences the transactions that Spring begins on one database factory.
 */
final class MongoTransactionFence implements TransactionFence {

	private final FencedTransactions fenced;

	private final MongoDatabaseFactory factory;

	MongoTransactionFence(FencedTransactions fenced, MongoDatabaseFactory factory) {
		this.fenced = fenced;
		this.factory = factory;
	}

	@Override
	public void prepare() {
		this.fenced.prepare();
	}

	@Override
	public Written write(LeaseKey lease, long token, int slot) {
		ClientSession session = TransactionSession.of(this.factory);
		if (session == null || !session.hasActiveTransaction()) {
			return Written.DONE;
		}
		Written written = this.fenced.write(this.factory, session, lease, token, slot);
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

	@Override
	public void settle(LeaseKey lease, long token, List<Integer> slots) {
		this.fenced.settle(lease, token, slots);
	}

	@Override
	public boolean isEndedBy(Throwable failure) {
		return FencedTransactions.isEndedBy(failure);
	}

}
