package dev.dblock.recipes;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.recipes.changes.AddCurrency;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import io.mongock.driver.mongodb.springdata.v4.SpringDataMongoV4Driver;
import io.mongock.runner.core.executor.MongockRunner;
import io.mongock.runner.springboot.MongockSpringboot;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A migration by Mongock at the start of several instances.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class MigrationTests {

	/** Of the instances that start. */
	private static final List<DefaultLockEngine> ENGINES = new CopyOnWriteArrayList<>();

	private static final List<Long> SEEN_BY_JOBS = new CopyOnWriteArrayList<>();

	@Test
	void migrationIsNotBesideAJobOfTheOldVersionAndRunsOnce(MongoServer server) {
		ENGINES.clear();
		SEEN_BY_JOBS.clear();
		try (Instances instances = new Instances(server)) {
			LockHandle job = instances.start("old", OldApplication.class)
				.getBean(LockTemplate.class)
				.acquire("nightly-invoices");
			List<CompletableFuture<ConfigurableApplicationContext>> starts = Stream.of("one", "two")
				.map((name) -> instances.startInBackground(name, Application.class))
				.toList();
			Instances.eventually()
				.during(Duration.ofMillis(500))
				.until(() -> ENGINES.stream().filter((engine) -> engine.state().waiting() == 1).count() == starts
					.size());
			assertThat(instances.collection("orders").countDocuments()).isZero();
			assertThat(starts).noneMatch(CompletableFuture::isDone);
			job.release();
			assertThat(starts).allSatisfy((start) -> assertThat(start).succeedsWithin(Duration.ofSeconds(120)));
			Instances.eventually().until(() -> !SEEN_BY_JOBS.isEmpty());
		}
		assertThat(SEEN_BY_JOBS).as("changes, seen by jobs").containsOnly(1L);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class OldApplication {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class Application {

		@Bean
		InitializingBean migration(LockTemplate locks, MongoTemplate template, ApplicationContext context) {
			LockOptions options = LockOptions.defaults().waitUpTo(Duration.ofMinutes(10));
			MongockRunner mongock = MongockSpringboot.builder()
				.setDriver(SpringDataMongoV4Driver.withDefaultLock(template))
				.addMigrationScanPackage(AddCurrency.class.getPackageName())
				.setSpringContext(context)
				.setTransactional(false)
				.buildRunner();
			return () -> locks.execute("nightly-invoices", options, mongock::execute);
		}

		@Bean
		Invoices invoices(MongoTemplate template) {
			return new Invoices(template);
		}

		@Bean
		static BeanPostProcessor engines() {
			return new BeanPostProcessor() {

				@Override
				public Object postProcessAfterInitialization(Object bean, String name) {
					if (bean instanceof DefaultLockEngine engine) {
						ENGINES.add(engine);
					}
					return bean;
				}

			};
		}

	}

	static class Invoices {

		private final MongoTemplate template;

		Invoices(MongoTemplate template) {
			this.template = template;
		}

		@Scheduled(fixedDelay = 100)
		@DistributedLock("nightly-invoices")
		void invoice() {
			SEEN_BY_JOBS.add(this.template.getCollection("orders").countDocuments());
		}

	}

}
