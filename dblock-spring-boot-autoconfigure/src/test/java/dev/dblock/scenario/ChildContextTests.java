package dev.dblock.scenario;

import java.util.List;

import dev.dblock.DistributedLock;
import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockTemplate;
import dev.dblock.annotation.DistributedLockAdvisor;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.transaction.LockTransactions;
import dev.dblock.engine.LockEngine;
import dev.dblock.local.LocalLockRepository;
import dev.dblock.local.LocalLockStore;
import dev.dblock.observation.LockObserver;
import dev.dblock.settings.EngineSettings;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.MongoTransactionManager;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A child context, which takes its locks from its parent.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class ChildContextTests {

	private Instances instances;

	private Instance other;

	private ConfigurableApplicationContext parent;

	@BeforeEach
	void start(MongoServer server) {
		this.instances = new Instances(server);
		this.other = this.instances.start("other");
		this.parent = this.instances.startApplication("application", ParentConfiguration.class, "dblock.lease=10m");
		this.instances.collection("orders").insertOne(new Document());
	}

	@AfterEach
	void stop() throws Exception {
		this.instances.close();
	}

	private ConfigurableApplicationContext child(Class<?> configuration, String... arguments) {
		return new SpringApplicationBuilder(configuration).parent(this.parent)
			.web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.registerShutdownHook(false)
			.logStartupInfo(false)
			.run(arguments);
	}

	private void insert(ConfigurableApplicationContext context) {
		new TransactionTemplate(context.getBean(MongoTransactionManager.class))
			.executeWithoutResult((status) -> context.getBean(MongoTemplate.class).insert(new Document(), "orders"));
	}

	@Test
	void transactionOfAChildIsFencedByTheLocksOfItsParent() {
		try (ConfigurableApplicationContext child = child(TransactionsConfiguration.class)) {
			LockTemplate locks = child.getBean(LockTemplate.class);
			assertThat(locks).isSameAs(this.parent.getBean(LockTemplate.class));
			LockHandle stale = locks.acquire("stock");
			this.instances.expire("stock");
			LockHandle successor = this.other.locks().acquire("stock");
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> insert(child));
			assertThat(this.instances.collection("orders").countDocuments()).isEqualTo(1);
			successor.ensureHeld();
			stale.release();
		}
	}

	@Test
	void lockTakenInsideATransactionOfAChildIsKeptUntilItEnds() {
		try (ConfigurableApplicationContext child = child(TransactionsConfiguration.class)) {
			LockTemplate locks = child.getBean(LockTemplate.class);
			new TransactionTemplate(child.getBean(MongoTransactionManager.class)).executeWithoutResult((status) -> {
				locks.execute("stock", () -> child.getBean(MongoTemplate.class).insert(new Document(), "orders"));
				assertThat(this.other.locks().tryAcquire("stock")).as("before the commit").isEmpty();
			});
		}
	}

	@Test
	void placeholdersOfAChildAreItsOwn() {
		try (ConfigurableApplicationContext child = child(JobConfiguration.class, "--job.name=mine")) {
			child.getBean(Job.class).run();
			assertThat(this.instances.isReleased("mine")).isTrue();
		}
	}

	@Test
	void childWithAnEngineOfItsOwnLocksItsMethodsWithIt() {
		try (ConfigurableApplicationContext child = child(EngineConfiguration.class)) {
			child.getBean(FixedJob.class).run();
			assertThat(this.instances.document("fixed")).as("in the engine of the parent").isNull();
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class ParentConfiguration {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class TransactionsConfiguration {

		@Bean
		MongoTransactionManager transactionManager(MongoDatabaseFactory factory) {
			return new MongoTransactionManager(factory);
		}

	}

	static class Job {

		@DistributedLock("${job.name}")
		public void run() {
		}

	}

	static class FixedJob {

		@DistributedLock("fixed")
		public void run() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class JobConfiguration {

		@Bean
		Job job() {
			return new Job();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class EngineConfiguration {

		@Bean
		LockEngine lockEngine(EngineSettings settings) {
			return new DefaultLockEngine(new LocalLockRepository(new LocalLockStore()), settings, List.of(),
					LockObserver.NONE, new LockTransactions());
		}

		@Bean
		FixedJob job() {
			return new FixedJob();
		}

	}

	@Test
	void childOfAParentWithAnAdvisorOfItsOwnHasNoOther() {
		this.parent.close();
		this.parent = this.instances.startApplication("application", AdvisorConfiguration.class);
		try (ConfigurableApplicationContext child = child(FixedJobConfiguration.class)) {
			child.getBean(FixedJob.class).run();
			assertThat(this.instances.isReleased("fixed")).isTrue();
			assertThat(child.getBeansOfType(DistributedLockAdvisor.class)).isEmpty();
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class AdvisorConfiguration {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static DistributedLockAdvisor advisorOfTheApplication(ConfigurableListableBeanFactory beans,
				ObjectProvider<LockEngine> engine) {
			return new DistributedLockAdvisor(beans, engine, DistributedLockAdvisor.DEFAULT_ORDER);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class FixedJobConfiguration {

		@Bean
		FixedJob job() {
			return new FixedJob();
		}

	}

}
