package dev.dblock.autoconfigure;

import dev.dblock.core.ReactiveTransactions;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.reactive.TransactionalOperator;

/**
 * Has the transactions of each operator that is a bean, such as that of Spring Boot, join
 * the locks around them.
 */
final class JoiningOperators implements BeanPostProcessor {

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		return (bean instanceof TransactionalOperator operator) ? ReactiveTransactions.joining(operator) : bean;
	}

}
