package dev.dblock.autoconfigure;

import dev.dblock.core.ReactiveTransactions;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.reactive.TransactionalOperator;

/**
 * Has the transactions of each operator of Spring's own making that is a bean, such as
 * that of Spring Boot, join the locks around them. A class of the application's may be
 * asked for by its type.
 */
final class JoiningOperators implements BeanPostProcessor {

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		return (bean instanceof TransactionalOperator operator && isOfSpring(operator))
				? ReactiveTransactions.joining(operator) : bean;
	}

	private static boolean isOfSpring(TransactionalOperator operator) {
		return operator.getClass().getPackageName().equals(TransactionalOperator.class.getPackageName());
	}

}
