package dev.dblock.autoconfigure;

import dev.dblock.transaction.LockTransactions;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * Registers a transaction listener with every transaction manager. Spring Boot registers
 * listeners only with the managers that it creates itself, and applications declare the
 * manager of MongoDB transactions themselves.
 */
final class TransactionListenerRegistrar implements BeanPostProcessor {

	private final ObjectProvider<LockTransactions> transactions;

	TransactionListenerRegistrar(ObjectProvider<LockTransactions> transactions) {
		this.transactions = transactions;
	}

	// Before other post-processors may wrap the manager in a proxy
	@Override
	public Object postProcessBeforeInitialization(Object bean, String beanName) {
		if (bean instanceof PlatformTransactionManager && bean instanceof ConfigurableTransactionManager) {
			this.transactions.getObject().follow((PlatformTransactionManager & ConfigurableTransactionManager) bean);
		}
		return bean;
	}

}
