package dev.dblock.autoconfigure;

import java.time.Duration;

import com.mongodb.ClientSessionOptions;
import com.mongodb.client.ClientSession;
import dev.dblock.LockHandle;
import dev.dblock.LockTemplate;
import dev.dblock.mongodb.LockFence;
import dev.dblock.mongodb.MongoLockRepository;
import dev.dblock.mongodb.MongoLockSettings;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.bson.Document;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.env.Environment;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * A session's transaction under locks that the application keeps by a repository of its
 * own making, as the failure about several factories advises.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class OwnRepositoryFenceTests {

	private final MongoServer server;

	OwnRepositoryFenceTests(MongoServer server) {
		this.server = server;
	}

	@Test
	void sessionIsFencedWhereSeveralFactoriesAreAndNoneIsPrimary() {
		fences(TwoFactories.class, this.server.uri(this.server.freshDatabase()));
	}

	@Test
	void sessionIsFencedWhereAnotherFactoryIsPrimary() {
		fences(PrimaryElsewhere.class, this.server.uri(this.server.freshDatabase()));
	}

	@Test
	void sessionOfTheApplicationsOtherClientForTheSameServersIsFencedToo() {
		run(PrimaryElsewhere.class, this.server.uri(this.server.freshDatabase()),
				(context) -> assertFenced(context, "usual"));
	}

	@Test
	void sessionOnOtherServersIsRefused() {
		run(PrimaryElsewhere.class, "mongodb://127.0.0.1:1/elsewhere", (context) -> {
			MongoDatabaseFactory elsewhere = context.getBean("usual", MongoDatabaseFactory.class);
			try (LockHandle lock = context.getBean(LockTemplate.class).acquire("stock");
					ClientSession session = elsewhere.getSession(ClientSessionOptions.builder().build())) {
				session.startTransaction();
				assertThatIllegalArgumentException()
					.isThrownBy(() -> context.getBean(LockFence.class).fence(session, lock))
					.withMessageContaining("'stock'");
			}
		});
	}

	private void fences(Class<?> factories, String usual) {
		run(factories, usual, (context) -> assertFenced(context, "orders"));
	}

	private void run(Class<?> factories, String usual, ContextConsumer<AssertableApplicationContext> test) {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(DblockAutoConfiguration.class))
			.withUserConfiguration(factories, OwnRepository.class)
			.withPropertyValues("usual.uri=" + usual, "orders.uri=" + this.server.uri(this.server.freshDatabase()))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				test.accept(context);
			});
	}

	private static void assertFenced(ApplicationContext context, String sessions) {
		MongoDatabaseFactory orders = context.getBean("orders", MongoDatabaseFactory.class);
		orders.getMongoDatabase().createCollection("dblock_fences");
		try (LockHandle lock = context.getBean(LockTemplate.class).acquire("stock");
				ClientSession session = context.getBean(sessions, MongoDatabaseFactory.class)
					.getSession(ClientSessionOptions.builder().build())) {
			session.startTransaction();
			context.getBean(LockFence.class).fence(session, lock);
			session.commitTransaction();
		}
		assertThat(orders.getMongoDatabase()
			.getCollection("dblock_fences")
			.countDocuments(new Document("_id.name", "stock"))).isPositive();
	}

	@Configuration(proxyBeanMethods = false)
	static class TwoFactories {

		@Bean
		MongoDatabaseFactory usual(Environment environment) {
			return new SimpleMongoClientDatabaseFactory(environment.getRequiredProperty("usual.uri"));
		}

		@Bean
		MongoDatabaseFactory orders(Environment environment) {
			return new SimpleMongoClientDatabaseFactory(environment.getRequiredProperty("orders.uri"));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PrimaryElsewhere extends TwoFactories {

		@Bean
		@Primary
		@Override
		MongoDatabaseFactory usual(Environment environment) {
			return super.usual(environment);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnRepository {

		@Bean
		MongoLockRepository ordersLocks(@Qualifier("orders") MongoDatabaseFactory factory) {
			return new MongoLockRepository(factory, new MongoLockSettings("dblock_locks", Duration.ofMillis(500),
					Duration.ofDays(7), Duration.ofSeconds(10), StatementDialect.AUTO, true));
		}

	}

}
