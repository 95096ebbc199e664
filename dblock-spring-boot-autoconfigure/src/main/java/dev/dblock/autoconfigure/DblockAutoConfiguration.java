package dev.dblock.autoconfigure;

import java.util.function.Supplier;

import dev.dblock.LockNamePrefix;
import dev.dblock.LockOperations;
import dev.dblock.LockTemplate;
import dev.dblock.LockTemplates;
import dev.dblock.autoconfigure.DblockProperties.Mode;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.engine.LockEngine;
import dev.dblock.event.LockListener;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.job.event.JobListener;
import dev.dblock.local.LocalLockRepository;
import dev.dblock.local.LocalLockStore;
import dev.dblock.mongodb.LockFence;
import dev.dblock.mongodb.MongoLockRepository;
import dev.dblock.mongodb.MongoLockSettings;
import dev.dblock.mongodb.MongoLockSettingsCustomizer;
import dev.dblock.observation.LockObserver;
import dev.dblock.settings.EngineSettings;
import dev.dblock.settings.EngineSettingsCustomizer;
import dev.dblock.settings.LockSettings;
import dev.dblock.store.LockRepository;
import dev.dblock.transaction.LockTransactions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.NamedBeanHolder;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.util.function.SingletonSupplier;

/**
 * Auto-configuration for locks on the application's MongoDB, unless {@code dblock.mode}
 * selects another store. The mode is read at run time. Applications can provide their own
 * {@link LockRepository}, {@link LockEngine} or {@link LockOperations}.
 */
@AutoConfiguration(afterName = { "org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration",
		"org.springframework.boot.data.mongodb.autoconfigure.DataMongoAutoConfiguration",
		"org.springframework.boot.autoconfigure.mongo.MongoAutoConfiguration",
		"org.springframework.boot.autoconfigure.data.mongo.MongoDataAutoConfiguration" })
@ConditionalOnClass(value = MongoDatabaseFactory.class, name = "com.mongodb.client.MongoClient")
@EnableConfigurationProperties(DblockProperties.class)
public final class DblockAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(DblockAutoConfiguration.class);

	// Spring's name for the properties of @TestPropertySource and @SpringBootTest
	private static final String TEST_PROPERTIES = "Inlined Test Properties";

	private static final String ENGINE = "lockEngine";

	static final String REPOSITORY = "dblockLockRepository";

	// Lazy, because MongoDB is needed only if locks are used, which is known only at run
	// time
	@Bean(REPOSITORY)
	@Lazy
	@ConditionalOnMissingBean(LockRepository.class)
	MongoLockRepository dblockLockRepository(DblockProperties properties,
			ObjectProvider<MongoLockSettingsCustomizer> customizers, ConfigurableListableBeanFactory beanFactory) {
		NamedBeanHolder<MongoDatabaseFactory> factory = new MongoDatabases(beanFactory)
			.usual(properties.mongodb().databaseFactory());
		MongoLockSettings settings = MongoEngines.customized(new DblockSettings(properties).forMongodb(), factory,
				customizers(customizers, beanFactory));
		beanFactory.registerDependentBean(factory.getBeanName(), REPOSITORY);
		return new MongoLockRepository(factory.getBeanInstance(), settings);
	}

	@Bean
	static PropertyNameChecker dblockPropertyNameChecker(Environment environment) {
		return new PropertyNameChecker(environment);
	}

	@Bean
	@ConditionalOnMissingBean
	LockSettings dblockLockSettings(DblockProperties properties) {
		return new DblockSettings(properties).forLocks();
	}

	@Bean
	@Lazy
	EngineSettings dblockLockEngineSettings(DblockProperties properties, LockSettings locks,
			ObjectProvider<LockNamePrefix> prefixes, ObjectProvider<EngineSettingsCustomizer> customizers,
			ConfigurableListableBeanFactory beanFactory) {
		EngineSettings settings = new DblockSettings(properties).forEngine(locks,
				new ProvidedPrefix(prefixes, beanFactory));
		return Customizers.of(EngineSettingsCustomizer.class, customizers, beanFactory)
			.apply(settings, EngineSettingsCustomizer::customize, EngineSettings::checked);
	}

	private static Customizers<MongoLockSettingsCustomizer> customizers(
			ObjectProvider<MongoLockSettingsCustomizer> provider, ConfigurableListableBeanFactory beanFactory) {
		return Customizers.of(MongoLockSettingsCustomizer.class, provider, beanFactory);
	}

	// Lazy as well, because the application's own LockOperations may not use it
	@Bean(ENGINE)
	@Lazy
	@ConditionalOnMissingBean(LockEngine.class)
	LockEngine lockEngine(DblockProperties properties, EngineSettings settings, ObjectProvider<LockListener> listeners,
			ObjectProvider<LockObserver> observers, LockTransactions transactions,
			ConfigurableApplicationContext context) {
		// Invalid settings are reported even while locking is disabled
		new DblockSettings(properties).forMongodb();
		Mode mode = properties.mode();
		if (mode == Mode.NONE) {
			logger.atLevel(levelOfMode(context))
				.log("dblock.mode is none: no locks are acquired, and every method runs unlocked");
			return LockEngine.unlocked(settings);
		}
		NamedBeanHolder<? extends LockRepository> repository = repository(mode, context);
		DefaultLockEngine engine = new DefaultLockEngine(repository.getBeanInstance(), settings,
				new ProvidedBeans<>(listeners), all(observers), transactions);
		EngineShutdown.arrange(context, engine, ENGINE, repository.getBeanName());
		return engine;
	}

	private static LockObserver all(ObjectProvider<LockObserver> observers) {
		return observers.orderedStream().reduce(LockObserver::and).orElse(LockObserver.NONE);
	}

	private static NamedBeanHolder<? extends LockRepository> repository(Mode mode,
			ConfigurableApplicationContext context) {
		ConfigurableListableBeanFactory beanFactory = context.getBeanFactory();
		if (mode != Mode.LOCAL) {
			return beanFactory.resolveNamedBean(LockRepository.class);
		}
		logger.atLevel(levelOfMode(context))
			.log("dblock.mode is local: locks are kept in memory and apply only inside this application. Other"
					+ " instances and other processes do not see them. Remove the setting where they must");
		NamedBeanHolder<LocalLockStore> store = beanFactory.resolveNamedBean(LocalLockStore.class);
		return new NamedBeanHolder<>(store.getBeanName(), new LocalLockRepository(store.getBeanInstance()));
	}

	// A test that sets the mode among its own properties knows what it does
	private static Level levelOfMode(ConfigurableApplicationContext context) {
		PropertySource<?> test = context.getEnvironment().getPropertySources().get(TEST_PROPERTIES);
		return (test != null && test.containsProperty("dblock.mode")) ? Level.DEBUG : Level.WARN;
	}

	// The local store beside MongoDB. It is not a repository bean, so that it is not
	// mistaken for the repository in use
	@Bean
	@Lazy
	@ConditionalOnMissingBean
	LocalLockStore dblockLocalLockStore() {
		return new LocalLockStore();
	}

	@Bean
	LockListener dblockLockEventPublisher(ConfigurableApplicationContext context) {
		return JobListener.publishingTo(context);
	}

	@Bean
	@Lazy
	@ConditionalOnMissingBean
	@ConditionalOnBean(MongoLockRepository.class)
	LockFence dblockLockFence(DblockProperties properties, ObjectProvider<MongoLockRepository> repository) {
		return new LockFence((properties.mode() == Mode.MONGODB) ? repository.getObject() : null);
	}

	@Bean
	@ConditionalOnMissingBean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LockTransactions dblockLockTransactions() {
		return new LockTransactions();
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static TransactionListenerRegistrar dblockTransactionListenerRegistrar(
			ObjectProvider<LockTransactions> transactions) {
		return new TransactionListenerRegistrar(transactions);
	}

	@Bean
	@ConditionalOnMissingBean(LockOperations.class)
	LockTemplate lockTemplate(LockEngine engine) {
		return new DefaultLockTemplate(engine);
	}

	@Bean
	StartupCheck dblockStartupCheck(DblockProperties properties, ObjectProvider<LockOperations> locks,
			ConfigurableApplicationContext context) {
		return new StartupCheck(properties, locks, context);
	}

	@Bean(DatabaseLockTemplates.BEAN)
	@Lazy
	@ConditionalOnMissingBean
	LockTemplates dblockLockTemplates(DblockProperties properties, ObjectProvider<LockEngine> engine,
			ObjectProvider<MongoEngines> engines, ConfigurableListableBeanFactory beanFactory) {
		Supplier<LockTemplate> usual = SingletonSupplier.of(() -> new DefaultLockTemplate(engine.getObject()));
		return (properties.mode() == Mode.MONGODB)
				? new DatabaseLockTemplates(usual, new MongoDatabases(beanFactory), engines::getObject)
				: (databaseFactory) -> usual.get();
	}

	@Bean
	@Lazy
	MongoEngines dblockMongoEngines(DblockProperties properties, EngineSettings settings,
			ObjectProvider<MongoLockSettingsCustomizer> customizers, ObjectProvider<LockListener> listeners,
			ObjectProvider<LockObserver> observers, LockTransactions transactions,
			ConfigurableApplicationContext context) {
		return new MongoEngines(new DblockSettings(properties).forMongodb(),
				customizers(customizers, context.getBeanFactory()), settings, new ProvidedBeans<>(listeners),
				all(observers), transactions, context);
	}

}
