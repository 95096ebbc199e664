package dev.dblock.annotation;

import java.util.ArrayList;
import java.util.List;

import dev.dblock.core.DefaultLockEngine;
import dev.dblock.engine.LockEngine;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * Has transactions fenced by the locks around them: each engine follows each transaction
 * manager of the application context.
 */
final class TransactionFollower implements BeanPostProcessor, SmartInitializingSingleton {

	private final ObjectProvider<LockEngine> engines;

	/** Managers from before the engines were created. */
	private List<Object> earlier = new ArrayList<>();

	private boolean created;

	TransactionFollower(ObjectProvider<LockEngine> engines) {
		this.engines = engines;
	}

	// Before other post-processors may wrap the manager in a proxy
	@Override
	public synchronized Object postProcessBeforeInitialization(Object bean, String beanName) {
		if (bean instanceof PlatformTransactionManager && bean instanceof ConfigurableTransactionManager) {
			if (this.created) {
				follow(bean);
			}
			else {
				this.earlier.add(bean);
			}
		}
		return bean;
	}

	@Override
	public synchronized void afterSingletonsInstantiated() {
		this.created = true;
		this.earlier.forEach(this::follow);
		this.earlier = List.of();
	}

	private void follow(Object manager) {
		this.engines.orderedStream()
			.filter(DefaultLockEngine.class::isInstance)
			.forEach((engine) -> ((DefaultLockEngine) engine).transactions()
				.follow((PlatformTransactionManager & ConfigurableTransactionManager) manager));
	}

}
