package dev.dblock.autoconfigure;

import java.util.function.UnaryOperator;

import dev.dblock.core.DefaultLockEngine;
import dev.dblock.transaction.LockTransactions;
import dev.dblock.event.LockListener;
import dev.dblock.mongodb.MongoLockRepository;
import dev.dblock.mongodb.MongoLockSettings;
import dev.dblock.mongodb.MongoLockSettingsCustomizer;
import dev.dblock.observation.LockObserver;
import dev.dblock.settings.EngineSettings;
import dev.dblock.store.LockAdministration;

import org.springframework.beans.factory.config.NamedBeanHolder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.mongodb.MongoDatabaseFactory;

/**
 * Creates the engines of databases other than the default one. Each has the same
 * settings, listeners and transactions as the default engine, and a store of its own.
 *
 * @param settings the settings of the store
 * @param customizers the customizers of these settings for single databases
 * @param engineSettings the settings of all engines
 * @param listeners the listeners to notify
 * @param observer the observer of all engines
 * @param transactions the application's transactions
 * @param context the context with which the engines shut down
 */
record MongoEngines(MongoLockSettings settings, Customizers<MongoLockSettingsCustomizer> customizers,
		EngineSettings engineSettings, Iterable<LockListener> listeners, LockObserver observer,
		LockTransactions transactions, ConfigurableApplicationContext context) {

	/**
	 * Create the engine of a database.
	 * @param factory the factory with its name
	 * @param owner the name of the bean that closes the engine
	 */
	DefaultLockEngine make(NamedBeanHolder<MongoDatabaseFactory> factory, String owner) {
		DefaultLockEngine engine = new DefaultLockEngine(repository(factory), this.engineSettings, this.listeners,
				this.observer, this.transactions);
		EngineShutdown.arrange(this.context, engine, owner, factory.getBeanName());
		return engine;
	}

	/**
	 * Return the locks of a database for inspection. This application may never use that
	 * database itself.
	 * @param factory the factory with its name
	 */
	LockAdministration look(NamedBeanHolder<MongoDatabaseFactory> factory) {
		return LockAdministration.of(repository(factory), this.engineSettings.namePrefix(), UnaryOperator.identity());
	}

	private MongoLockRepository repository(NamedBeanHolder<MongoDatabaseFactory> factory) {
		return new MongoLockRepository(factory.getBeanInstance(), customized(this.settings, factory, this.customizers));
	}

	static MongoLockSettings customized(MongoLockSettings settings, NamedBeanHolder<MongoDatabaseFactory> factory,
			Customizers<MongoLockSettingsCustomizer> customizers) {
		// Settings validate themselves, and a store validates that they fit its database
		MongoDatabaseFactory database = factory.getBeanInstance();
		DblockSettings.refuseAs("dblock.mongodb.collection", settings.collection(),
				() -> MongoLockRepository.checked(database, settings));
		return customizers.apply(settings, (customizer, each) -> customizer.customize(factory.getBeanName(), each),
				(each) -> MongoLockRepository.checked(database, each));
	}

}
