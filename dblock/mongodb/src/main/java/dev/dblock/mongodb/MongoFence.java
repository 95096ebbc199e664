package dev.dblock.mongodb;

import java.util.List;

import dev.dblock.store.LeaseKey;
import dev.dblock.store.TransactionFence;

import org.springframework.dao.support.PersistenceExceptionTranslator;

/**
 * Base class for the fences of all transactions on MongoDB, regardless of how they are
 * managed.
 */
abstract class MongoFence implements TransactionFence {

	private final FencedTransactions fenced;

	MongoFence(FencedTransactions fenced) {
		this.fenced = fenced;
	}

	protected FencedTransactions fenced() {
		return this.fenced;
	}

	@Override
	public final void prepare() {
		this.fenced.prepare();
	}

	@Override
	public final boolean isPrepared() {
		return this.fenced.isPrepared();
	}

	@Override
	public final void settle(LeaseKey lease, long token, List<Integer> slots) {
		this.fenced.settle(lease, token, slots);
	}

	@Override
	public final boolean isEndedBy(Throwable failure) {
		return FencedTransactions.isEndedBy(failure);
	}

	/**
	 * Translate a failure to write the fence in the same way as failures of the
	 * application's own requests in the transaction, so that the same retries apply.
	 */
	static Written translated(Written written, PersistenceExceptionTranslator translator) {
		RuntimeException failure = written.failure();
		RuntimeException translated = (failure != null) ? translator.translateExceptionIfPossible(failure) : null;
		return (translated != null) ? new Written(written.outcome(), translated) : written;
	}

}
