package dev.dblock.shedlock;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import com.example.invoices.InvoiceApplication;
import com.example.invoices.InvoiceJobs;
import com.mongodb.MongoTimeoutException;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import dev.dblock.LockInfo;
import dev.dblock.LockTemplate;
import dev.dblock.job.JobOperations;
import dev.dblock.job.JobRun;
import dev.dblock.job.schedule.ScheduledJobs;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerTest;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.mongo.MongoLockProvider;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.awaitility.Awaitility;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application that uses ShedLock, before and after it moved to dblock. Its classes are
 * the same: the bean of ShedLock's provider is removed together with the dependency.
 */
@MongoServerTest
class MigratedApplicationTests {

	private final List<ConfigurableApplicationContext> started = new ArrayList<>();

	private MongoServer server;

	private String database;

	private MongoDatabase data;

	@BeforeEach
	void prepare(MongoServer server) {
		this.server = server;
		this.database = server.freshDatabase();
		this.data = server.client().getDatabase(this.database);
	}

	@AfterEach
	void stop() {
		this.started.forEach(ConfigurableApplicationContext::close);
	}

	private ConfigurableApplicationContext start(String... properties) {
		return start(new Class<?>[] { InvoiceApplication.class }, properties);
	}

	private ConfigurableApplicationContext start(Class<?>[] configuration, String... properties) {
		ConfigurableApplicationContext context = new SpringApplicationBuilder(configuration)
			.web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.registerShutdownHook(false)
			.run(Stream.concat(Stream.of("spring.mongodb.uri=" + this.server.uri(this.database)), Stream.of(properties))
				.map("--"::concat)
				.toArray(String[]::new));
		this.started.add(context);
		return context;
	}

	private ConfigurableApplicationContext startOld() {
		return start(new Class<?>[] { InvoiceApplication.class, OldProvider.class },
				"spring.autoconfigure.exclude=" + DblockShedLockAutoConfiguration.class.getName());
	}

	private List<Document> runs(String job) {
		return this.data.getCollection("runs").find(Filters.eq("job", job)).into(new ArrayList<>());
	}

	private void awaitRuns(String job, int runs) {
		int before = runs(job).size();
		Awaitility.await().atMost(Duration.ofMinutes(2)).until(() -> runs(job).size() >= before + runs);
	}

	@Test
	void applicationRunsWithShedLocksProvider() {
		startOld().getBean(InvoiceJobs.class).archive();
		awaitRuns("invoices", 1);
		awaitRuns("reminders", 2);
		assertThat(runs("archive")).hasSize(1);
		assertThat(this.data.getCollection("shedLock").countDocuments()).isEqualTo(3);
	}

	@Test
	void sameApplicationRunsWithDblock() {
		ConfigurableApplicationContext context = start();
		context.getBean(InvoiceJobs.class).archive();
		awaitRuns("invoices", 1);
		awaitRuns("reminders", 2);
		assertThat(runs("archive")).hasSize(1);
		assertThat(this.data.getCollection("shedLock").countDocuments()).isZero();
		LockTemplate locks = context.getBean(LockTemplate.class);
		assertThat(locks.listAll("", 1000).locks()).extracting(LockInfo::name)
			.contains("archive", "invoices", "reminders");
		assertThat(locks.inspect("archive").orElseThrow().why()).isEqualTo(InvoiceJobs.class.getName() + "#archive");
	}

	@Test
	void eachSecondRunsOnOneOfSeveralInstances() {
		ConfigurableApplicationContext context = start();
		start();
		start();
		awaitRuns("invoices", 4);
		JobOperations jobs = context.getBean(JobOperations.class);
		jobs.pause("invoices", "test");
		List<JobRun> recorded = Awaitility.await()
			.atMost(Duration.ofMinutes(2))
			.until(() -> jobs.find("invoices").orElseThrow().runs(),
					(all) -> all.stream().noneMatch((run) -> run.outcome() == null));
		assertThat(recorded).extracting(JobRun::plannedAt).doesNotHaveDuplicates();
		// The record keeps the latest twenty, and a slow machine may have run more, or
		// have got a grant too late for its run
		assertThat(recorded).hasSizeBetween(Math.min(20, runs("invoices").size()), 20);
		assertThat(recorded).filteredOn((run) -> run.outcome() == JobRun.Outcome.SUCCEEDED)
			.hasSizeBetween(1, runs("invoices").size());
	}

	@Test
	void oldAndNewInstancesExcludeEachOther() {
		LockProvider old = startOld().getBean(LockProvider.class);
		ConfigurableApplicationContext update = start(new Class<?>[] { InvoiceApplication.class, OldProvider.class },
				"dblock.shedlock.beside=true");
		LockProvider both = update.getBean(LockProvider.class);
		LockConfiguration stock = DblockLockProviderTests.configuration("stock", Duration.ofMinutes(1), Duration.ZERO);
		SimpleLock held = old.lock(stock).orElseThrow();
		assertThat(both.lock(stock)).isEmpty();
		held.unlock();
		held = both.lock(stock).orElseThrow();
		assertThat(old.lock(stock)).isEmpty();
		assertThat(update.getBean(LockTemplate.class).tryAcquire("stock")).isEmpty();
		held.unlock();
		assertThat(old.lock(stock)).isPresent();
		awaitRuns("invoices", 2);
	}

	@Test
	void plannedTimeIsRepeatedAfterAFailureOfTheOldProvider() {
		ConfigurableApplicationContext context = start(new Class<?>[] { InvoiceApplication.class, Reports.class },
				"dblock.shedlock.beside=true");
		Reports reports = context.getBean(Reports.class);
		Awaitility.await().atMost(Duration.ofMinutes(2)).until(() -> reports.ran().get() > 0);
		assertThat(reports.requests()).hasValueGreaterThan(Reports.FAILURES);
		assertThat(context.getBean(JobOperations.class).find("report").orElseThrow().runs()).hasSize(1);
		assertThat(reports.ran()).hasValue(1);
	}

	@Test
	void plannedTimeRunsOnAnotherInstanceAfterAFailureOfTheOldProvider() {
		Instant planned = Instant.now().minusSeconds(60).truncatedTo(ChronoUnit.SECONDS);
		Class<?>[] configuration = { InvoiceApplication.class, Reports.class };
		String[] properties = { "dblock.shedlock.beside=true", "reports.delay=1000000" };
		ConfigurableApplicationContext first = start(configuration, properties);
		ConfigurableApplicationContext second = start(configuration, properties);
		Reports reports = second.getBean(Reports.class);
		reports.requests().set(Reports.FAILURES);
		first.getBean(ScheduledJobs.class).fire(planned, first.getBean(Reports.class)::report);
		assertThat(first.getBean(Reports.class).ran()).hasValue(0);
		second.getBean(ScheduledJobs.class).fire(planned, reports::report);
		second.getBean(ScheduledJobs.class).fire(planned, reports::report);
		assertThat(reports.ran()).hasValue(1);
	}

	/**
	 * A job that is not due again during a test, and a provider that is unreachable at
	 * first.
	 */
	@Configuration(proxyBeanMethods = false)
	static class Reports {

		static final int FAILURES = 3;

		private final AtomicInteger requests = new AtomicInteger();

		private final AtomicInteger ran = new AtomicInteger();

		AtomicInteger requests() {
			return this.requests;
		}

		AtomicInteger ran() {
			return this.ran;
		}

		@Bean
		LockProvider lockProvider(MongoDatabaseFactory factory) {
			LockProvider mongo = new MongoLockProvider(factory.getMongoDatabase());
			return (lock) -> {
				if (lock.getName().equals("report") && this.requests.incrementAndGet() <= FAILURES) {
					throw new MongoTimeoutException("No server");
				}
				return mongo.lock(lock);
			};
		}

		@Scheduled(fixedRate = 1_000_000, initialDelayString = "${reports.delay:0}")
		@SchedulerLock(name = "report", lockAtMostFor = "1m")
		void report() {
			this.ran.incrementAndGet();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OldProvider {

		@Bean
		LockProvider lockProvider(MongoDatabaseFactory factory) {
			return new MongoLockProvider(factory.getMongoDatabase());
		}

	}

}
