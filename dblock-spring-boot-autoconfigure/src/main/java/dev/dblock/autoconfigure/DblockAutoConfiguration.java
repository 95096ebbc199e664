package dev.dblock.autoconfigure;

import java.util.Collection;
import java.util.List;

import dev.dblock.LockEngine;
import dev.dblock.LockListener;
import dev.dblock.LockOperations;
import dev.dblock.LockTemplate;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.core.EngineSettings;
import dev.dblock.core.LockObserver;
import dev.dblock.core.LockRepository;
import dev.dblock.core.LockSettings;
import dev.dblock.core.LockTransactions;
import dev.dblock.core.UnlockedEngine;
import dev.dblock.local.LocalLockRepository;
import dev.dblock.local.LocalLockStore;
import dev.dblock.mongodb.LockFence;
import dev.dblock.mongodb.MongoLockRepository;
import dev.dblock.mongodb.MongoLockSettings;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.NamedBeanHolder;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.data.mongodb.MongoDatabaseFactory;

/**
 * Locks on the application's MongoDB, or where {@code dblock.mode} says otherwise, which
 * is read when the application runs. Applications can bring a {@link LockRepository}, a
 * {@link LockEngine} or {@link LockOperations} of their own.
 */
@AutoConfiguration(afterName = { "org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration",
		"org.springframework.boot.data.mongodb.autoconfigure.DataMongoAutoConfiguration",
		"org.springframework.boot.autoconfigure.mongo.MongoAutoConfiguration",
		"org.springframework.boot.autoconfigure.data.mongo.MongoDataAutoConfiguration" })
@ConditionalOnClass(value = MongoDatabaseFactory.class, name = "com.mongodb.client.MongoClient")
@EnableConfigurationProperties(DblockProperties.class)
@Import(DedicatedClientConfiguration.class)
public final class DblockAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(DblockAutoConfiguration.class);

	private static final String ENGINE = "lockEngine";

	private static final String REPOSITORY = "lockRepository";

	// Lazy, because without locks no MongoDB is needed, which only running can tell
	@Bean(REPOSITORY)
	@Lazy
	@ConditionalOnMissingBean(LockRepository.class)
	MongoLockRepository lockRepository(DblockProperties properties, ObjectProvider<DedicatedClient> dedicatedClient,
			ConfigurableListableBeanFactory beanFactory) {
		MongoLockSettings settings = new DblockSettings(properties).forMongodb();
		NamedBeanHolder<MongoDatabaseFactory> factory = mongoDatabaseFactory(beanFactory);
		beanFactory.registerDependentBean(factory.getBeanName(), REPOSITORY);
		MongoDatabaseFactory application = factory.getBeanInstance();
		return new MongoLockRepository(properties.getMongodb().isDedicatedClient()
				? dedicated(dedicatedClient.getObject(), application, beanFactory) : application, settings);
	}

	private static MongoDatabaseFactory dedicated(DedicatedClient client, MongoDatabaseFactory application,
			ConfigurableListableBeanFactory beanFactory) {
		beanFactory.registerDependentBean(DedicatedClientConfiguration.CLIENT, REPOSITORY);
		return client.beside(application);
	}

	private static NamedBeanHolder<MongoDatabaseFactory> mongoDatabaseFactory(
			ConfigurableListableBeanFactory beanFactory) {
		try {
			return beanFactory.resolveNamedBean(MongoDatabaseFactory.class);
		}
		catch (NoUniqueBeanDefinitionException ex) {
			throw new MongoDatabaseFactoryChoiceException(candidates(ex), ex);
		}
		catch (NoSuchBeanDefinitionException ex) {
			if (beanFactory.getBeanNamesForType(MongoDatabaseFactory.class).length > 0) {
				throw ex;
			}
			throw new MongoDatabaseFactoryChoiceException(List.of(), ex);
		}
	}

	private static List<String> candidates(NoUniqueBeanDefinitionException ex) {
		Collection<String> names = ex.getBeanNamesFound();
		return (names != null) ? List.copyOf(names) : List.of();
	}

	@Bean
	static LockSettingNames dblockLockSettingNames(Environment environment) {
		return new LockSettingNames(environment);
	}

	@Bean
	@ConditionalOnMissingBean
	LockSettings lockSettings(DblockProperties properties) {
		return new DblockSettings(properties).forLocks();
	}

	// Lazy too, because LockOperations of the application's own may not stand on it
	@Bean(ENGINE)
	@Lazy
	@ConditionalOnMissingBean(LockEngine.class)
	LockEngine lockEngine(DblockProperties properties, LockSettings locks, ObjectProvider<LockListener> listeners,
			ObjectProvider<LockObserver> observer, LockTransactions transactions,
			ConfigurableApplicationContext context) {
		DblockSettings settings = new DblockSettings(properties);
		// What is wrong shows before locking is switched on again
		settings.forMongodb();
		EngineSettings engineSettings = settings.forEngine(locks);
		if (settings.mode() == LockMode.NONE) {
			logger.warn("{}: no locks are taken, and every method runs unlocked",
					properties.isEnabled() ? "dblock.mode is none" : "dblock.enabled is false");
			return new UnlockedEngine(engineSettings);
		}
		NamedBeanHolder<? extends LockRepository> repository = repository(settings.mode(), context.getBeanFactory());
		DefaultLockEngine engine = new DefaultLockEngine(repository.getBeanInstance(), engineSettings,
				new ProvidedListeners(listeners), observer.getIfAvailable(() -> LockObserver.NONE), transactions);
		EngineShutdown.arrange(context, engine, ENGINE, repository.getBeanName());
		return engine;
	}

	private static NamedBeanHolder<? extends LockRepository> repository(LockMode mode,
			ConfigurableListableBeanFactory beanFactory) {
		if (mode != LockMode.LOCAL) {
			return beanFactory.resolveNamedBean(LockRepository.class);
		}
		logger.warn("dblock.mode is local: locks are kept in memory and hold inside this application only. "
				+ "Other instances of it, and other processes, take no notice of them");
		NamedBeanHolder<LocalLockStore> store = beanFactory.resolveNamedBean(LocalLockStore.class);
		return new NamedBeanHolder<>(store.getBeanName(), new LocalLockRepository(store.getBeanInstance()));
	}

	// What the application has beside its MongoDB: no repository, so that nobody takes it
	// for the one that is in use
	@Bean
	@Lazy
	@ConditionalOnMissingBean
	LocalLockStore localLockStore() {
		return new LocalLockStore();
	}

	@Bean
	LockEventPublisher lockEventPublisher(ApplicationEventPublisher publisher) {
		return new LockEventPublisher(publisher);
	}

	@Bean
	@Lazy
	@ConditionalOnMissingBean
	@ConditionalOnBean(MongoLockRepository.class)
	LockFence lockFence(DblockProperties properties, ObjectProvider<MongoLockRepository> repository,
			ConfigurableListableBeanFactory beanFactory) {
		return (new DblockSettings(properties).mode() == LockMode.MONGODB)
				? new LockFence(repository.getObject(), mongoDatabaseFactory(beanFactory).getBeanInstance())
				: LockFence.ofLocksElsewhere();
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LockTransactions lockTransactions() {
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
		return new LockTemplate(engine);
	}

}
