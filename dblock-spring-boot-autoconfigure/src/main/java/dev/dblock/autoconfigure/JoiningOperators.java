package dev.dblock.autoconfigure;

import dev.dblock.reactive.ReactiveTransactions;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.reactive.TransactionalOperator;

/**
 * Makes the transactions of transactional operators join the locks around them. Applies
 * to beans of Spring's own operator class, such as that of Spring Boot. A class of the
 * application is left unchanged, because it may be injected by its type.
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
