package dev.dblock.actuate;

import dev.dblock.LockHandle;
import dev.dblock.LockNamePrefix;
import dev.dblock.LockTemplate;
import dev.dblock.LockTemplates;
import dev.dblock.autoconfigure.CreatedEngines;
import dev.dblock.autoconfigure.DblockAutoConfiguration;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.mongodb.autoconfigure.DataMongoAutoConfiguration;
import org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link DblockEndpoint} in applications whose locks are in several databases,
 * or whose prefixes depend on the call.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class DblockEndpointOnServerTests {

	private final MongoServer server;

	private ApplicationContextRunner contextRunner;

	private ApplicationContextRunner exposed;

	DblockEndpointOnServerTests(MongoServer server) {
		this.server = server;
	}

	@BeforeEach
	void nameDatabases() {
		this.contextRunner = new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(MongoAutoConfiguration.class, DataMongoAutoConfiguration.class,
					DblockAutoConfiguration.class))
			.withUserConfiguration(OrdersConfiguration.class)
			.withPropertyValues("spring.mongodb.uri=" + this.server.uri(this.server.freshDatabase()),
					"orders.uri=" + this.server.uri(this.server.freshDatabase()));
		this.exposed = this.contextRunner.withConfiguration(AutoConfigurations.of(DblockActuateAutoConfiguration.class))
			.withPropertyValues("management.endpoints.web.exposure.include=dblock");
	}

	@Test
	void endpointShowsTheLocksOfEachDatabase() {
		this.exposed.run((context) -> {
			context.getBean(LockTemplates.class).on("orders").acquire("stock");
			DblockEndpoint endpoint = context.getBean(DblockEndpoint.class);
			assertThat(endpoint.locks(null, null, null, null, null).locks()).isEmpty();
			assertThat(endpoint.locks(null, null, null, null, "orders").locks()).hasSize(1);
			assertThatExceptionOfType(InvalidEndpointRequestException.class)
				.isThrownBy(() -> endpoint.locks(null, null, null, null, "oders"))
				.satisfies((ex) -> assertThat(ex.getReason()).contains("'oders'", "orders, mongoDatabaseFactory"));
			assertThat(endpoint.release("stock", null, "oders").meaning()).startsWith("Nothing was changed. ")
				.contains("orders, mongoDatabaseFactory");
			assertThat(endpoint.release("stock", null, "orders").released()).isTrue();
		});
	}

	@Test
	void readingADatabaseCreatesNoEngineForIt() {
		this.exposed.run((looking) -> this.contextRunner.run((locking) -> {
			LockHandle held = locking.getBean(LockTemplates.class).on("orders").acquire("stock");
			DblockEndpoint endpoint = looking.getBean(DblockEndpoint.class);
			assertThat(endpoint.locks(null, null, null, null, "orders").locks()).hasSize(1);
			assertThat(endpoint.lock(new String[] { "stock" }, "orders").held()).isTrue();
			assertThat(endpoint.release("stock", null, "orders").released()).isTrue();
			assertThat(held.release()).isFalse();
			CreatedEngines engines = new CreatedEngines(looking.getSourceApplicationContext().getBeanFactory());
			assertThat(engines.others()).isEmpty();
			looking.getBean(LockTemplates.class).on("orders");
			assertThat(engines.others()).containsOnlyKeys("orders");
			assertThat(endpoint.locks(null, null, null, null, "orders").locks()).hasSize(1);
		}));
	}

	@Test
	void endpointFindsLocksOfEveryTenant() {
		ThreadLocal<String> tenant = new ThreadLocal<>();
		this.exposed.withPropertyValues("dblock.name-prefix=shop-").withBean(LockNamePrefix.class, () -> (name) -> {
			if (tenant.get() == null) {
				throw new IllegalStateException("no tenant");
			}
			return tenant.get() + ":";
		}).run((context) -> {
			tenant.set("acme");
			LockHandle handle = context.getBean(LockTemplate.class).acquire("stock");
			tenant.remove();
			DblockEndpoint endpoint = context.getBean(DblockEndpoint.class);
			assertThat(endpoint.lock(new String[] { "shop-acme:stock" }, null).held()).isTrue();
			assertThat(endpoint.release("shop-acme:stock", null, null).released()).isTrue();
			assertThat(handle.release()).isFalse();
		});
	}

	@Configuration(proxyBeanMethods = false)
	static class OrdersConfiguration {

		@Bean(defaultCandidate = false)
		MongoDatabaseFactory orders(Environment environment) {
			return new SimpleMongoClientDatabaseFactory(environment.getRequiredProperty("orders.uri"));
		}

	}

}
