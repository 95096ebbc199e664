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
	private final List<Object> earlier = new ArrayList<>();

	private boolean created;

	TransactionFollower(ObjectProvider<LockEngine> engines) {
		this.engines = engines;
	}

	// Before other post-processors may wrap the manager in a proxy
	@Override
	public Object postProcessBeforeInitialization(Object bean, String beanName) {
		if (bean instanceof PlatformTransactionManager && bean instanceof ConfigurableTransactionManager
				&& !isLeftForLater(bean)) {
			follow(bean);
		}
		return bean;
	}

	private synchronized boolean isLeftForLater(Object manager) {
		if (!this.created) {
			this.earlier.add(manager);
		}
		return !this.created;
	}

	@Override
	public void afterSingletonsInstantiated() {
		synchronized (this) {
			this.created = true;
		}
		// Without the monitor, since engines may be created now, and nothing is added any
		// more
		this.earlier.forEach(this::follow);
	}

	private void follow(Object manager) {
		this.engines.orderedStream()
			.filter(DefaultLockEngine.class::isInstance)
			.forEach((engine) -> ((DefaultLockEngine) engine).transactions()
				.follow((PlatformTransactionManager & ConfigurableTransactionManager) manager));
	}

}
