package dev.dblock.autoconfigure;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.dblock.LockHandle;
import dev.dblock.LockTemplate;
import dev.dblock.engine.LockEngine;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.awaitility.Awaitility;
import org.bson.Document;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.data.mongodb.autoconfigure.DataMongoAutoConfiguration;
import org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration;
import org.springframework.boot.mongodb.autoconfigure.MongoClientSettingsBuilderCustomizer;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for how {@link DedicatedClient} is made and closed.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class DedicatedClientTests {

	private static final String ON = "dblock.mongodb.dedicated-client=true";

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DblockAutoConfiguration.class))
		.withPropertyValues("dblock.lease=30s");

	private final ApplicationContextRunner onMongo = this.contextRunner
		.withConfiguration(AutoConfigurations.of(MongoAutoConfiguration.class, DataMongoAutoConfiguration.class));

	@Test
	void isMadeAtTheFirstLockAndClosedWithTheApplication(MongoServer server) {
		this.onMongo.withUserConfiguration(NamedConfiguration.class)
			.withPropertyValues(ON, "spring.mongodb.uri=" + server.uri(server.freshDatabase()))
			.run((context) -> {
				context.getBean(MongoDatabaseFactory.class).getMongoDatabase().listCollectionNames().first();
				assertThat(applications(server)).contains("shop").doesNotContain("shop-dblock");
				LockHandle handle = context.getBean(LockTemplate.class).acquire("stock");
				assertThat(applications(server)).contains("shop", "shop-dblock");
				assertThat(handle.isHeld()).isTrue();
			});
		Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.untilAsserted(() -> assertThat(applications(server)).doesNotContain("shop", "shop-dblock"));
	}

	@Test
	void thereIsNoneUnlessConfigured(MongoServer server) {
		this.onMongo.withUserConfiguration(NamedConfiguration.class)
			.withPropertyValues("spring.mongodb.uri=" + server.uri(server.freshDatabase()))
			.run((context) -> {
				context.getBean(LockTemplate.class).acquire("stock").release();
				assertThat(applications(server)).contains("shop").doesNotContain("shop-dblock");
			});
	}

	@Test
	void applicationKeepsItsOnlyClientAndItsOnlyFactory() {
		this.onMongo.withPropertyValues(ON, "spring.mongodb.uri=mongodb://127.0.0.1:1/test")
			.run((context) -> assertThat(context).hasSingleBean(LockEngine.class)
				.hasSingleBean(MongoClient.class)
				.hasSingleBean(MongoDatabaseFactory.class));
	}

	@Test
	void isClosedAfterTheEngine() {
		this.onMongo.withPropertyValues(ON, "spring.mongodb.uri=mongodb://127.0.0.1:1/test").run((context) -> {
			ConfigurableListableBeanFactory beanFactory = context.getSourceApplicationContext().getBeanFactory();
			assertThat(beanFactory.getDependentBeans("dblockDedicatedClient")).contains("lockRepository");
			assertThat(beanFactory.getDependentBeans("lockRepository")).contains("lockEngine");
		});
	}

	@Test
	void customClientOfTheApplicationFailsStartup() {
		this.onMongo.withUserConfiguration(OwnClientConfiguration.class)
			.withPropertyValues(ON)
			.run((context) -> assertRefused(context, "127.0.0.1:1"));
	}

	@Test
	void customClientOfTheApplicationOnTheUsualAddressFailsStartupToo() {
		this.onMongo.withBean(MongoClient.class, () -> MongoClients.create("mongodb://localhost:27017/?replicaSet=rs"))
			.withPropertyValues(ON)
			.run((context) -> assertRefused(context, "localhost:27017"));
	}

	@Test
	void clientWithCredentialsThatTheKnownSettingsLackFailsStartup() {
		this.onMongo
			.withBean(MongoClient.class,
					() -> MongoClients.create("mongodb://app:secret@localhost:27017/shop?authSource=admin"))
			.withPropertyValues(ON)
			.run((context) -> assertRefused(context, "authenticates as 'app' of 'admin'"));
	}

	@Test
	void customClientOfTheApplicationThatFollowsTheKnownSettingsIsAccepted() {
		this.onMongo.withUserConfiguration(OwnClientByProperty.class)
			.withPropertyValues(ON, "spring.mongodb.uri=mongodb://app:secret@127.0.0.1:1/shop?replicaSet=rs")
			.run((context) -> assertThat(context).hasSingleBean(LockEngine.class));
	}

	@Test
	void factoryOfTheApplicationsOwnWithoutSettingsStopsTheStart() {
		this.contextRunner.withUserConfiguration(OwnFactoryConfiguration.class)
			.withPropertyValues(ON)
			.run((context) -> assertRefused(context, "no MongoClientSettings bean"));
	}

	@Test
	void absenceOfBootsMongodbModuleStopsTheStart() {
		this.contextRunner.withUserConfiguration(OwnFactoryConfiguration.class)
			.withClassLoader(new FilteredClassLoader("org.springframework.boot.mongodb"))
			.withPropertyValues(ON)
			.run((context) -> assertRefused(context, "not on the classpath"));
	}

	@Test
	void absenceOfBootsMongodbModuleChangesNothingUnlessConfigured() {
		this.contextRunner.withUserConfiguration(OwnFactoryConfiguration.class)
			.withClassLoader(new FilteredClassLoader("org.springframework.boot.mongodb"))
			.run((context) -> assertThat(context).hasSingleBean(LockEngine.class));
	}

	private static void assertRefused(AssertableApplicationContext context, String reason) {
		assertThat(context).hasFailed();
		Throwable failure = context.getStartupFailure();
		while (failure != null && !(failure instanceof InvalidConfigurationPropertyValueException)) {
			failure = failure.getCause();
		}
		assertThat(failure).hasMessageContaining("dblock.mongodb.dedicated-client")
			.hasMessageContaining(reason)
			.hasMessageContaining("LockRepository bean");
	}

	/**
	 * Returns the application names of the clients that are connected to a server.
	 */
	private static Set<String> applications(MongoServer server) {
		return server.client()
			.getDatabase("admin")
			.aggregate(List.of(new Document("$currentOp", new Document("idleConnections", true)),
					new Document("$match", new Document("appName", new Document("$exists", true)))))
			.map((operation) -> operation.getString("appName"))
			.into(new HashSet<>());
	}

	@Configuration(proxyBeanMethods = false)
	static class NamedConfiguration {

		@Bean
		MongoClientSettingsBuilderCustomizer named() {
			return (settings) -> settings.applicationName("shop");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnClientConfiguration {

		@Bean
		MongoClient mongo() {
			return MongoClients.create("mongodb://127.0.0.1:1/");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnClientByProperty {

		@Bean
		MongoClient mongo(@Value("${spring.mongodb.uri}") String uri) {
			return MongoClients.create(uri);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnFactoryConfiguration {

		@Bean
		MongoDatabaseFactory mongoDatabaseFactory() {
			return new SimpleMongoClientDatabaseFactory("mongodb://127.0.0.1:1/test");
		}

	}

}
