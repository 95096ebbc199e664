package dev.dblock.scenario;

import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.dblock.DistributedLock;
import dev.dblock.LockTemplate;
import org.bson.Document;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.mongodb.autoconfigure.MongoClientSettingsBuilderCustomizer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.MongoTransactionManager;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * An application with transactions on its MongoDB, as the module's auto-configuration
 * finds it.
 */
final class FencedApplication {

	private final ConfigurableApplicationContext context;

	private final AtomicReference<Callable<?>> beforeCommit = new AtomicReference<>();

	private FencedApplication(ConfigurableApplicationContext context) {
		this.context = context;
		context.getBean(MongoTransactionManager.class).addListener(new TransactionExecutionListener() {

			@Override
			public void beforeCommit(TransactionExecution transaction) {
				Callable<?> action = FencedApplication.this.beforeCommit.getAndSet(null);
				try {
					if (action != null) {
						action.call();
					}
				}
				catch (RuntimeException ex) {
					throw ex;
				}
				catch (Exception ex) {
					throw new IllegalStateException(ex);
				}
			}

		});
	}

	static FencedApplication start(Instances instances, String name, String... properties) {
		FencedApplication application = new FencedApplication(
				instances.startApplication(name, TransactionConfiguration.class, properties));
		if (!application.mongo().collectionExists("orders")) {
			application.mongo().createCollection("orders");
		}
		return application;
	}

	<T> T bean(Class<T> type) {
		return this.context.getBean(type);
	}

	LockTemplate locks() {
		return bean(LockTemplate.class);
	}

	MongoTemplate mongo() {
		return bean(MongoTemplate.class);
	}

	SentCommands commands() {
		return bean(SentCommands.class);
	}

	TransactionTemplate transactions(int propagation) {
		TransactionTemplate template = new TransactionTemplate(bean(MongoTransactionManager.class));
		template.setPropagationBehavior(propagation);
		return template;
	}

	void inTransaction(Runnable work) {
		transactions(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult((status) -> work.run());
	}

	void inNewTransaction(Runnable work) {
		transactions(TransactionDefinition.PROPAGATION_REQUIRES_NEW).executeWithoutResult((status) -> work.run());
	}

	/**
	 * Transactions that another manager of the same application begins.
	 */
	TransactionTemplate transactionsOn(MongoDatabaseFactory factory) {
		MongoTransactionManager manager = new MongoTransactionManager(factory);
		this.context.getBeanFactory().initializeBean(manager, "elsewhere");
		return new TransactionTemplate(manager);
	}

	/**
	 * Do something between the fence and the commit of the next transaction.
	 * @return the outcome
	 */
	<T> T beforeNextCommit(Callable<T> action, Runnable transaction) {
		AtomicReference<T> result = new AtomicReference<>();
		this.beforeCommit.set(() -> {
			result.set(action.call());
			return true;
		});
		transaction.run();
		return result.get();
	}

	/**
	 * A second client with transactions of its own, in the same application.
	 */
	static final class Elsewhere implements AutoCloseable {

		private final MongoClient client;

		private final MongoTemplate mongo;

		private final TransactionTemplate transactions;

		Elsewhere(FencedApplication application, String uri) {
			this.client = MongoClients.create(uri);
			MongoDatabaseFactory factory = new SimpleMongoClientDatabaseFactory(this.client,
					application.mongo().getDb().getName() + "-elsewhere");
			this.mongo = new MongoTemplate(factory);
			this.mongo.createCollection("orders");
			this.transactions = application.transactionsOn(factory);
		}

		void insertInTransaction() {
			this.transactions.executeWithoutResult((status) -> this.mongo.insert(new Document(), "orders"));
		}

		long count() {
			return this.mongo.getCollection("orders").countDocuments();
		}

		@Override
		public void close() {
			this.mongo.getDb().drop();
			this.client.close();
		}

	}

	static class Transactions {

		@Transactional
		public void required(Runnable work) {
			work.run();
		}

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void requiresNew(Runnable work) {
			work.run();
		}

		@Transactional(readOnly = true)
		public void readOnly(Runnable work) {
			work.run();
		}

	}

	static class Stock {

		@DistributedLock(name = "stock", leaseSeconds = 60)
		public void reserve(Runnable work) {
			work.run();
		}

		@DistributedLock(name = "stock", leaseSeconds = 60)
		@Transactional
		public void reserveInTransaction(Runnable work) {
			work.run();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(LockClientConfiguration.class)
	@EnableTransactionManagement
	static class TransactionConfiguration {

		@Bean
		MongoTransactionManager transactionManager(MongoDatabaseFactory factory) {
			return new MongoTransactionManager(factory);
		}

		@Bean
		SentCommands sentCommands() {
			return new SentCommands();
		}

		@Bean
		MongoClientSettingsBuilderCustomizer commandListener(SentCommands commands) {
			return (settings) -> settings.addCommandListener(commands);
		}

		@Bean
		Transactions transactions() {
			return new Transactions();
		}

		@Bean
		Stock stock() {
			return new Stock();
		}

	}

}
