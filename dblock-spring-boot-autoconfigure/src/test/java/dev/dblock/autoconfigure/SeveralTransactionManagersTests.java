package dev.dblock.autoconfigure;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.invocation.RecordingEngine;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.Document;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.data.mongodb.autoconfigure.DataMongoAutoConfiguration;
import org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.MongoTransactionManager;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Transactions on the database of the locks, in an application whose usual ones are on
 * another, by a manager that Spring Boot makes where there is none.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class SeveralTransactionManagersTests {

	private final MongoServer server;

	SeveralTransactionManagersTests(MongoServer server) {
		this.server = server;
	}

	@Test
	void transactionsOfAManagerBesideTheUsualOneAreFenced() {
		String database = this.server.freshDatabase();
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(MongoAutoConfiguration.class, DataMongoAutoConfiguration.class,
					AopAutoConfiguration.class, DblockAutoConfiguration.class, DblockAopAutoConfiguration.class,
					AnotherDatabaseConfiguration.class))
			.withUserConfiguration(OrdersConfiguration.class)
			.withPropertyValues("spring.mongodb.uri=" + this.server.uri(database))
			.run((context) -> {
				assertThat(context.getBean(PlatformTransactionManager.class)).isSameAs(context.getBean("usual"));
				context.getBean(Orders.class).elsewhere("7");
				assertThat(fences(database, "order-7")).isZero();
				context.getBean(Orders.class).settle("7");
				assertThat(fences(database, "order-7")).isOne();
			});
	}

	private long fences(String database, String name) {
		return this.server.client()
			.getDatabase(database)
			.getCollection("dblock_fences")
			.countDocuments(new Document("_id.name", name));
	}

	@Configuration(proxyBeanMethods = false)
	static class AnotherDatabaseConfiguration {

		@Bean
		@ConditionalOnMissingBean(TransactionManager.class)
		PlatformTransactionManager usual() {
			return new AdvisorOrderTests.RecordingTransactionManager(new RecordingEngine());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class OrdersConfiguration {

		@Bean(defaultCandidate = false)
		MongoTransactionManager mongoTransactionManager(MongoDatabaseFactory databaseFactory) {
			return new MongoTransactionManager(databaseFactory);
		}

		@Bean
		Orders orders(MongoTemplate mongo) {
			return new Orders(mongo);
		}

	}

	static class Orders {

		private final MongoTemplate mongo;

		Orders(MongoTemplate mongo) {
			this.mongo = mongo;
		}

		@DistributedLock("order-#{#id}")
		@Transactional("mongoTransactionManager")
		void settle(String id) {
			this.mongo.insert(new Document("order", id), "orders");
		}

		@DistributedLock("order-#{#id}")
		@Transactional
		void elsewhere(String id) {
			this.mongo.insert(new Document("order", id), "orders");
		}

	}

}
