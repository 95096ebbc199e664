package dev.dblock.autoconfigure;

import java.util.function.Supplier;

import dev.dblock.core.DefaultLockEngine;
import dev.dblock.engine.LockEngine;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Supplies the engine of a context once it has been created. Code that only inspects the
 * engine must not create it.
 */
final class CreatedEngine implements Supplier<@Nullable DefaultLockEngine> {

	private final ConfigurableListableBeanFactory beanFactory;

	private volatile @Nullable DefaultLockEngine engine;

	CreatedEngine(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	@Override
	public @Nullable DefaultLockEngine get() {
		DefaultLockEngine known = this.engine;
		if (known == null) {
			known = find();
			this.engine = known;
		}
		return known;
	}

	private @Nullable DefaultLockEngine find() {
		for (String name : this.beanFactory.getBeanNamesForType(LockEngine.class, false, false)) {
			if (this.beanFactory.getSingleton(name) instanceof DefaultLockEngine engine) {
				return engine;
			}
		}
		return null;
	}

}
