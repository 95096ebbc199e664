package dev.dblock.autoconfigure;

import java.util.function.UnaryOperator;

import dev.dblock.core.DefaultLockEngine;
import dev.dblock.core.LockTransactions;
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
 * Makes the engines of databases that are used beside the usual one. Each has the same
 * settings, listeners and transactions as that has, and a store of its own.
 *
 * @param settings how locks are kept
 * @param customizers who changes that for single databases
 * @param engineSettings what all engines are set to
 * @param listeners who is told what happens
 * @param observer who follows what the engines do
 * @param transactions the application's transactions
 * @param context what the engines end with
 */
record MongoEngines(MongoLockSettings settings, Customizers<MongoLockSettingsCustomizer> customizers,
		EngineSettings engineSettings, Iterable<LockListener> listeners, LockObserver observer,
		LockTransactions transactions, ConfigurableApplicationContext context) {

	/**
	 * Make the engine of a database.
	 * @param factory the factory, and its name
	 * @param owner the bean that closes the engine
	 */
	DefaultLockEngine make(NamedBeanHolder<MongoDatabaseFactory> factory, String owner) {
		DefaultLockEngine engine = new DefaultLockEngine(repository(factory), this.engineSettings, this.listeners,
				this.observer, this.transactions);
		EngineShutdown.arrange(this.context, engine, owner, factory.getBeanName());
		return engine;
	}

	/**
	 * Look at the locks of a database that this application may never use.
	 * @param factory the factory, and its name
	 */
	LockAdministration look(NamedBeanHolder<MongoDatabaseFactory> factory) {
		return LockAdministration.of(repository(factory), this.engineSettings.namePrefix(), UnaryOperator.identity());
	}

	private MongoLockRepository repository(NamedBeanHolder<MongoDatabaseFactory> factory) {
		return new MongoLockRepository(factory.getBeanInstance(), customized(this.settings, factory, this.customizers));
	}

	static MongoLockSettings customized(MongoLockSettings settings, NamedBeanHolder<MongoDatabaseFactory> factory,
			Customizers<MongoLockSettingsCustomizer> customizers) {
		// Settings check themselves, and a store whether they fit its database
		MongoDatabaseFactory database = factory.getBeanInstance();
		DblockSettings.refuseAs("dblock.mongodb.collection", settings.collection(),
				() -> MongoLockRepository.checked(database, settings));
		return customizers.apply(settings, (customizer, each) -> customizer.customize(factory.getBeanName(), each),
				(each) -> MongoLockRepository.checked(database, each));
	}

}
