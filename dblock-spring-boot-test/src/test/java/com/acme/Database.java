package com.acme;

import java.util.ArrayList;
import java.util.List;

import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

/**
 * A database without tables: all that it knows is how its transactions ended.
 */
class Database extends AbstractPlatformTransactionManager {

	private static final long serialVersionUID = 1L;

	private final transient List<String> ends = new ArrayList<>();

	List<String> ends() {
		return this.ends;
	}

	@Override
	protected Object doGetTransaction() {
		return this;
	}

	@Override
	protected void doBegin(Object transaction, TransactionDefinition definition) {
	}

	@Override
	protected void doCommit(DefaultTransactionStatus status) {
		this.ends.add("committed");
	}

	@Override
	protected void doRollback(DefaultTransactionStatus status) {
		this.ends.add("rolled back");
	}

}
