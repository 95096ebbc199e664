package dev.dblock.scenario;

import java.time.Duration;
import java.util.function.Supplier;

import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.dblock.DistributedLock;
import dev.dblock.LockTemplate;
import org.bson.Document;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.mongodb.autoconfigure.MongoClientSettingsBuilderCustomizer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.mongodb.ReactiveMongoDatabaseFactory;
import org.springframework.data.mongodb.ReactiveMongoTransactionManager;
import org.springframework.data.mongodb.core.ReactiveMongoTemplate;
import org.springframework.data.mongodb.core.SimpleReactiveMongoDatabaseFactory;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.reactive.TransactionalOperator;
import org.springframework.transaction.support.DefaultTransactionDefinition;

/**
 * An application with reactive transactions on its MongoDB, as the module's
 * auto-configuration finds it.
 */
final class ReactiveApplication {

	static final Duration LONG = Duration.ofSeconds(180);

	private static final String ORDERS = "orders";

	private final ConfigurableApplicationContext context;

	private ReactiveApplication(ConfigurableApplicationContext context) {
		this.context = context;
	}

	static ReactiveApplication start(Instances instances, String name, String... properties) {
		ReactiveApplication application = new ReactiveApplication(
				instances.startApplication(name, ReactiveConfiguration.class, properties));
		instances.collection(ORDERS).insertOne(new Document("_id", name));
		return application;
	}

	<T> T bean(Class<T> type) {
		return this.context.getBean(type);
	}

	LockTemplate locks() {
		return bean(LockTemplate.class);
	}

	SentCommands commands() {
		return bean(SentCommands.class);
	}

	Stock stock() {
		return bean(Stock.class);
	}

	TransactionalOperator operator() {
		return bean(TransactionalOperator.class);
	}

	/**
	 * An operator that the application has created itself.
	 */
	TransactionalOperator ownOperator(boolean readOnly, int propagation) {
		DefaultTransactionDefinition definition = new DefaultTransactionDefinition(propagation);
		definition.setReadOnly(readOnly);
		return TransactionalOperator.create(bean(ReactiveMongoTransactionManager.class), definition);
	}

	/**
	 * Something to be committed.
	 * @param next runs when it is written
	 */
	Mono<String> order(Runnable next) {
		return Mono.defer(() -> bean(ReactiveMongoTemplate.class).insert(new Document(), ORDERS))
			.publishOn(Schedulers.boundedElastic())
			.map((order) -> {
				next.run();
				return "ordered";
			});
	}

	Mono<String> order() {
		return order(() -> {
		});
	}

	/**
	 * Do something between the fence and the commit of each transaction.
	 */
	void beforeCommits(Runnable action) {
		bean(ReactiveMongoTransactionManager.class).addListener(new TransactionExecutionListener() {

			@Override
			public void beforeCommit(TransactionExecution transaction) {
				action.run();
			}

		});
	}

	/**
	 * Transactions of servers that are unrelated to the locks and do not exist.
	 */
	static final class Elsewhere implements AutoCloseable {

		private final MongoClient client = MongoClients
			.create("mongodb://localhost:1/?replicaSet=none&serverSelectionTimeoutMS=1");

		TransactionalOperator operator() {
			return TransactionalOperator.create(new ReactiveMongoTransactionManager(
					new SimpleReactiveMongoDatabaseFactory(this.client, "elsewhere")));
		}

		@Override
		public void close() {
			this.client.close();
		}

	}

	static class Stock {

		@DistributedLock(name = "stock", leaseSeconds = 600)
		public Mono<String> locked(Supplier<Mono<String>> work) {
			return work.get();
		}

		@DistributedLock(name = "stock", leaseSeconds = 600)
		@Transactional
		public Mono<String> lockedInTransaction(Supplier<Mono<String>> work) {
			return work.get();
		}

		@DistributedLock(name = "stock", leaseSeconds = 600)
		@Transactional
		public Flux<String> manyLockedInTransaction(Supplier<Mono<String>> work) {
			return work.get().repeat(1);
		}

		@Transactional
		public Mono<String> inTransaction(Supplier<Mono<String>> work) {
			return work.get();
		}

		@Transactional(readOnly = true)
		public Mono<String> readOnly(Supplier<Mono<String>> work) {
			return work.get();
		}

	}

	/**
	 * The ways by which work can be done in a transaction under a lock.
	 */
	enum Way {

		ANNOTATIONS {
			@Override
			Mono<String> run(ReactiveApplication application, Supplier<Mono<String>> work) {
				return application.stock().lockedInTransaction(work);
			}
		},

		OPERATOR {
			@Override
			Mono<String> run(ReactiveApplication application, Supplier<Mono<String>> work) {
				return application.stock().locked(() -> Mono.defer(work).as(application.operator()::transactional));
			}
		},

		CALLBACK {
			@Override
			Mono<String> run(ReactiveApplication application, Supplier<Mono<String>> work) {
				return application.stock()
					.locked(() -> application.operator().execute((transaction) -> work.get()).singleOrEmpty());
			}
		},

		LOCK_INSIDE {
			@Override
			Mono<String> run(ReactiveApplication application, Supplier<Mono<String>> work) {
				TransactionalOperator own = application.ownOperator(false, TransactionDefinition.PROPAGATION_REQUIRED);
				return application.stock().locked(work).as(own::transactional);
			}
		};

		abstract Mono<String> run(ReactiveApplication application, Supplier<Mono<String>> work);

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableTransactionManagement
	static class ReactiveConfiguration {

		@Bean
		ReactiveMongoTransactionManager transactionManager(ReactiveMongoDatabaseFactory factory) {
			return new ReactiveMongoTransactionManager(factory);
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
		Stock stock() {
			return new Stock();
		}

	}

}
