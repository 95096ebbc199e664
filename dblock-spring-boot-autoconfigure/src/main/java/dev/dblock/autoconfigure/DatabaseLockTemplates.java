package dev.dblock.autoconfigure;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import dev.dblock.LockTemplate;
import dev.dblock.LockTemplates;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.store.LockAdministration;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.config.NamedBeanHolder;
import org.springframework.beans.factory.config.SingletonBeanRegistry;
import org.springframework.data.mongodb.MongoDatabaseFactory;

/**
 * One engine for each database that somebody has named, made at its first use. They are
 * closed with this bean: after the executors, whose tasks may hold locks, and before the
 * clients of the databases.
 */
final class DatabaseLockTemplates implements LockTemplates, DisposableBean {

	static final String BEAN = "lockTemplates";

	private final Supplier<LockTemplate> usual;

	private final MongoDatabases databases;

	private final Supplier<MongoEngines> engines;

	private final Map<String, LockTemplate> byName = new ConcurrentHashMap<>();

	private final Map<String, LockAdministration> lookedAt = new ConcurrentHashMap<>();

	/**
	 * Templates for the databases of an application.
	 * @param usual what is used where no database is named
	 * @param databases the databases
	 * @param engines how the engine of one is made
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
		// All beans exist by now: no thread that creates some is waited for in here
		return this.byName.computeIfAbsent(name, (key) -> new LockTemplate(engines.make(factory, BEAN)));
	}

	/**
	 * Look at the locks in a database. Whoever only looks has no engine made: health and
	 * meters would count it from then on.
	 * @param databaseFactory the name of the database's factory
	 * @return its locks
	 * @throws IllegalArgumentException when there is no such factory
	 */
	LockAdministration look(String databaseFactory) {
		NamedBeanHolder<MongoDatabaseFactory> factory = factory(databaseFactory);
		String name = factory.getBeanName();
		DefaultLockEngine used = engines().get(name);
		if (used != null) {
			return used.byFullName();
		}
		return this.lookedAt.computeIfAbsent(name, (key) -> this.engines.get().look(factory));
	}

	/**
	 * The engines that exist by now.
	 * @return the engines by the names of their factories, without the usual one
	 */
	Map<String, DefaultLockEngine> engines() {
		Map<String, DefaultLockEngine> engines = new LinkedHashMap<>();
		this.byName.forEach((name, template) -> engines.put(name, (DefaultLockEngine) template.engine()));
		return engines;
	}

	/**
	 * The engines beside the usual one, for who only looks.
	 */
	static Map<String, DefaultLockEngine> createdEngines(SingletonBeanRegistry beans) {
		return (beans.getSingleton(BEAN) instanceof DatabaseLockTemplates templates) ? templates.engines() : Map.of();
	}

	@Override
	public void destroy() {
		engines().values().forEach(DefaultLockEngine::close);
	}

}
