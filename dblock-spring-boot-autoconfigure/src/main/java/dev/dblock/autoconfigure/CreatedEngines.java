package dev.dblock.autoconfigure;

import java.util.Map;

import dev.dblock.LockTemplates;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.engine.LockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.store.LockAdministration;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * The engines of a context that exist by now. Code that only inspects locks must not
 * create engines.
 */
public final class CreatedEngines {

	private final ConfigurableListableBeanFactory beanFactory;

	private volatile @Nullable DefaultLockEngine usual;

	/**
	 * Create a view of a context.
	 * @param beanFactory the bean factory of the context
	 */
	public CreatedEngines(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * Return the default engine.
	 * @return the engine, or {@code null} while there is none
	 */
	public @Nullable DefaultLockEngine usual() {
		DefaultLockEngine known = this.usual;
		if (known == null) {
			known = find();
			this.usual = known;
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

	/**
	 * Return the engines of other databases than the default one.
	 * @return the engines, by the names of their databases
	 */
	public Map<String, DefaultLockEngine> others() {
		Object templates = this.beanFactory.getSingleton(DatabaseLockTemplates.BEAN);
		return (templates instanceof DatabaseLockTemplates databases) ? databases.engines() : Map.of();
	}

	/**
	 * Return the locks of a database for inspection, without an engine for it.
	 * @param database the name of the database's factory
	 * @param templates the templates of the application
	 * @return the locks; {@code null} if the templates are the application's own and do
	 * not provide them
	 * @throws IllegalArgumentException if there is no such factory
	 */
	public static @Nullable LockAdministration look(String database, LockTemplates templates) {
		if (templates instanceof DatabaseLockTemplates databases) {
			return databases.look(database);
		}
		return (templates.on(database) instanceof DefaultLockTemplate template) ? template.engine().administration()
				: null;
	}

}
