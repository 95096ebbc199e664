package dev.dblock.autoconfigure;

import dev.dblock.core.LockTransactions;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * Has every transaction manager tell of its transactions. Spring Boot gives listeners
 * only to the managers that it makes itself, and an application makes its manager of
 * MongoDB transactions by hand.
 */
final class TransactionListenerRegistrar implements BeanPostProcessor {

	private final ObjectProvider<LockTransactions> transactions;

	TransactionListenerRegistrar(ObjectProvider<LockTransactions> transactions) {
		this.transactions = transactions;
	}

	// Before others may put a proxy around it
	@Override
	public Object postProcessBeforeInitialization(Object bean, String beanName) {
		if (bean instanceof PlatformTransactionManager && bean instanceof ConfigurableTransactionManager) {
			this.transactions.getObject().follow((PlatformTransactionManager & ConfigurableTransactionManager) bean);
		}
		return bean;
	}

}
