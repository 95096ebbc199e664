package dev.dblock.mongodb;

import java.util.List;

import dev.dblock.core.LeaseKey;
import dev.dblock.core.TransactionFence;

import org.springframework.dao.support.PersistenceExceptionTranslator;

/**
 * What the fences of all transactions on MongoDB have in common, whoever manages them.
 */
abstract class MongoFence implements TransactionFence {

	private final FencedTransactions fenced;

	MongoFence(FencedTransactions fenced) {
		this.fenced = fenced;
	}

	FencedTransactions fenced() {
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
	 * Have the writing of the fence fail as the application's own requests in the
	 * transaction would, so that the same retries apply.
	 */
	static Written translated(Written written, PersistenceExceptionTranslator translator) {
		RuntimeException failure = written.failure();
		RuntimeException translated = (failure != null) ? translator.translateExceptionIfPossible(failure) : null;
		return (translated != null) ? new Written(written.outcome(), translated) : written;
	}

}
