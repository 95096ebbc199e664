package dev.dblock.autoconfigure;

import dev.dblock.LockTemplate;
import dev.dblock.LockTemplates;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.mongodb.MongoLockSettingsCustomizer;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A factory that is called by its second name.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class FactoryAliasTests {

	private final MongoServer server;

	FactoryAliasTests(MongoServer server) {
		this.server = server;
	}

	private ApplicationContextRunner contextRunner(String database) {
		return new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(DblockAutoConfiguration.class))
			.withUserConfiguration(Factories.class)
			.withPropertyValues("orders.uri=" + this.server.uri(database));
	}

	@Test
	void databaseHasOneEngineByWhicheverNameItIsCalled() {
		contextRunner(this.server.freshDatabase()).run((context) -> {
			LockTemplates templates = context.getBean(LockTemplates.class);
			LockTemplate usual = context.getBean(LockTemplate.class);
			assertThat(DefaultLockTemplate.of(templates.on("orders")).engine())
				.isSameAs(DefaultLockTemplate.of(usual).engine());
			usual.execute("stock", () -> {
				templates.on("shop").execute("stock", () -> {
				});
			});
		});
	}

	@Test
	void databaseBesideTheUsualOneHasOneEngineToo() {
		contextRunner(this.server.freshDatabase()).withPropertyValues("dblock.mongodb.database-factory=usual")
			.withBean("usual", MongoDatabaseFactory.class,
					() -> new SimpleMongoClientDatabaseFactory(this.server.client(), this.server.freshDatabase()))
			.run((context) -> {
				LockTemplates templates = context.getBean(LockTemplates.class);
				assertThat(DefaultLockTemplate.of(templates.on("shop")).engine())
					.isSameAs(DefaultLockTemplate.of(templates.on("orders")).engine())
					.isNotSameAs(DefaultLockTemplate.of(context.getBean(LockTemplate.class)).engine());
			});
	}

	@Test
	void customizerGetsTheNameOfTheBean() {
		String database = this.server.freshDatabase();
		contextRunner(database).withPropertyValues("dblock.mongodb.database-factory=shop")
			.withBean(MongoLockSettingsCustomizer.class,
					() -> (name, settings) -> name.equals("orders") ? settings.withCollection("order_locks") : settings)
			.run((context) -> {
				context.getBean(LockTemplate.class).acquire("stock").close();
				assertThat(this.server.client().getDatabase(database).getCollection("order_locks").countDocuments())
					.isOne();
			});
	}

	@Configuration(proxyBeanMethods = false)
	static class Factories {

		@Bean({ "orders", "shop" })
		MongoDatabaseFactory orders(Environment environment) {
			return new SimpleMongoClientDatabaseFactory(environment.getRequiredProperty("orders.uri"));
		}

	}

}
