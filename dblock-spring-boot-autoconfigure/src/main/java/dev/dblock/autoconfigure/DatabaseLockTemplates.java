package dev.dblock.autoconfigure;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import dev.dblock.LockTemplate;
import dev.dblock.LockTemplates;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.store.LockAdministration;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.config.NamedBeanHolder;
import org.springframework.data.mongodb.MongoDatabaseFactory;

/**
 * Templates with one engine for each database that the application names, created at its
 * first use. The engines are closed with this bean: after the executors, whose tasks may
 * hold locks, and before the clients of the databases.
 */
final class DatabaseLockTemplates implements LockTemplates, DisposableBean {

	static final String BEAN = "dblockLockTemplates";

	private final Supplier<LockTemplate> usual;

	private final MongoDatabases databases;

	private final Supplier<MongoEngines> engines;

	private final Map<String, DefaultLockTemplate> byName = new ConcurrentHashMap<>();

	private final Map<String, LockAdministration> lookedAt = new ConcurrentHashMap<>();

	/**
	 * Create templates for the databases of an application.
	 * @param usual the template used if no database is named
	 * @param databases the databases
	 * @param engines creates the engine of a database
	 */
	DatabaseLockTemplates(Supplier<LockTemplate> usual, MongoDatabases databases, Supplier<MongoEngines> engines) {
		this.usual = usual;
		this.databases = databases;
		this.engines = engines;
	}

	@Override
	public LockTemplate on(String databaseFactory) {
		if (databaseFactory.isEmpty()) {
			return this.usual.get();
		}
		LockTemplate known = this.byName.get(databaseFactory);
		return (known != null) ? known : create(databaseFactory);
	}

	private NamedBeanHolder<MongoDatabaseFactory> factory(String name) {
		return this.databases.named(name, "The database factory '%s'".formatted(name));
	}

	private LockTemplate create(String databaseFactory) {
		LockTemplate usual = this.usual.get();
		NamedBeanHolder<MongoDatabaseFactory> factory = factory(databaseFactory);
		String name = factory.getBeanName();
		if (this.databases.isUsual(name)) {
			return usual;
		}
		MongoEngines engines = this.engines.get();
		// All beans exist by now, so this does not wait for a thread that creates beans
		return this.byName.computeIfAbsent(name, (key) -> new DefaultLockTemplate(engines.make(factory, BEAN)));
	}

	/**
	 * Return the locks of a database for inspection only. This does not create an engine,
	 * since health and meters would include it from then on.
	 * @param databaseFactory the name of the database's factory
	 * @return the locks of the database
	 * @throws IllegalArgumentException if there is no such factory
	 */
	LockAdministration look(String databaseFactory) {
		NamedBeanHolder<MongoDatabaseFactory> factory = factory(databaseFactory);
		String name = factory.getBeanName();
		DefaultLockEngine used = engines().get(name);
		if (used != null) {
			return used.administration();
		}
		return this.lookedAt.computeIfAbsent(name, (key) -> this.engines.get().look(factory));
	}

	/**
	 * Return the engines that exist by now.
	 * @return the engines by the names of their factories, without the default engine
	 */
	Map<String, DefaultLockEngine> engines() {
		Map<String, DefaultLockEngine> engines = new LinkedHashMap<>();
		this.byName.forEach((name, template) -> engines.put(name, (DefaultLockEngine) template.engine()));
		return engines;
	}

	@Override
	public void destroy() {
		engines().values().forEach(DefaultLockEngine::close);
	}

}
