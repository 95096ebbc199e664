package dev.dblock.core;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Transactions on nothing.
 */
final class ScriptedTransactions extends AbstractPlatformTransactionManager {

	private static final long serialVersionUID = 1L;

	private final transient ThreadLocal<Integer> depth = ThreadLocal.withInitial(() -> 0);

	private final transient List<String> outcomes = new ArrayList<>();

	private transient Runnable commit = () -> {
	};

	private boolean beginsFail;

	List<String> outcomes() {
		return this.outcomes;
	}

	void atCommit(Runnable commit) {
		this.commit = commit;
	}

	void failToBegin() {
		this.beginsFail = true;
	}

	/**
	 * Let the next commits fail, in a way that leaves their outcome unknown.
	 */
	void failCommits(@Nullable RuntimeException cause) {
		atCommit(() -> {
			throw new TransactionSystemException("scripted", cause);
		});
	}

	void run(Runnable work) {
		run(TransactionDefinition.PROPAGATION_REQUIRED, false, work);
	}

	void runNew(Runnable work) {
		run(TransactionDefinition.PROPAGATION_REQUIRES_NEW, false, work);
	}

	void run(int propagation, boolean readOnly, Runnable work) {
		TransactionTemplate template = new TransactionTemplate(this);
		template.setPropagationBehavior(propagation);
		template.setReadOnly(readOnly);
		template.executeWithoutResult((status) -> work.run());
	}

	@Override
	protected Object doGetTransaction() {
		return new Object();
	}

	@Override
	protected boolean isExistingTransaction(Object transaction) {
		return this.depth.get() > 0;
	}

	@Override
	protected void doBegin(Object transaction, TransactionDefinition definition) {
		if (this.beginsFail) {
			throw new TransactionSystemException("scripted");
		}
		this.depth.set(this.depth.get() + 1);
	}

	@Override
	protected Object doSuspend(Object transaction) {
		int depth = this.depth.get();
		this.depth.remove();
		return depth;
	}

	@Override
	protected void doResume(@Nullable Object transaction, Object suspendedResources) {
		this.depth.set((Integer) suspendedResources);
	}

	@Override
	protected void doCommit(DefaultTransactionStatus status) {
		this.commit.run();
		this.outcomes.add("commit");
	}

	@Override
	protected void doRollback(DefaultTransactionStatus status) {
		this.outcomes.add("rollback");
	}

	@Override
	protected void doCleanupAfterCompletion(Object transaction) {
		this.depth.remove();
	}

}
