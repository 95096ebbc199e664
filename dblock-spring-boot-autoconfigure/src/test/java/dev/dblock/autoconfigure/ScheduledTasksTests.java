package dev.dblock.autoconfigure;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

import dev.dblock.DistributedLock;
import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobPolicy;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.awaitility.Awaitility;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.TriggerContext;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.support.ScheduledMethodRunnable;
import org.springframework.test.util.AopTestUtils;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares Spring Boot's view and metrics of scheduled methods in an application with
 * dblock and in the same one without it.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.STANDALONE)
class ScheduledTasksTests {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private static final Instant PLANNED = Instant.now().truncatedTo(ChronoUnit.MINUTES);

	private final HttpClient http = HttpClient.newHttpClient();

	private final List<ConfigurableApplicationContext> started = new ArrayList<>();

	private String uri;

	private ConfigurableApplicationContext application;

	private ConfigurableApplicationContext plain;

	@BeforeEach
	void connect(MongoServer server) {
		this.uri = server.uri(server.freshDatabase());
	}

	private void start(Class<?> jobs) {
		this.application = start(jobs, "");
		this.plain = start(jobs, StreamSupport
			.stream(ImportCandidates.load(AutoConfiguration.class, getClass().getClassLoader()).spliterator(), false)
			.filter((name) -> name.startsWith("dev.dblock."))
			.collect(Collectors.joining(",")));
		assertThat(this.plain.getBeanProvider(LockTemplate.class).stream()).isEmpty();
	}

	private ConfigurableApplicationContext start(Class<?> jobs, String without) {
		ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class, jobs)
			.properties("server.port=0", "spring.mongodb.uri=" + this.uri,
					"management.endpoints.web.exposure.include=scheduledtasks", "spring.task.scheduling.pool.size=4",
					"spring.autoconfigure.exclude=" + without)
			.run();
		this.started.add(context);
		return context;
	}

	@AfterEach
	void stop() {
		this.started.forEach(ConfigurableApplicationContext::close);
	}

	@Test
	void endpointShowsTheSameTasks() {
		start(Periodic.class);
		Awaitility.await().atMost(LIMIT).untilAsserted(() -> {
			Document shown = tasks(this.application);
			assertThat(withoutTimes(shown)).isEqualTo(withoutTimes(tasks(this.plain)));
			assertThat(shown.getList("cron", Document.class)).hasSize(2);
			for (String type : List.of("cron", "fixedDelay", "fixedRate", "custom")) {
				assertThat(shown.getList(type, Document.class)).as(type).isNotEmpty();
			}
			assertThat(executions(shown))
				.isEqualTo(Set.of("yearly next", "each next", "each last", "rate next", "rate last", "delay next",
						"delay last", "failing next", "failing last", "trigger next", "trigger last"));
		});
	}

	private Document tasks(ConfigurableApplicationContext application) throws IOException, InterruptedException {
		String port = application.getEnvironment().getRequiredProperty("local.server.port");
		URI uri = URI.create("http://127.0.0.1:" + port + "/actuator/scheduledtasks");
		HttpResponse<String> response = this.http.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
		assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
		return Document.parse(response.body());
	}

	private static Document withoutTimes(Document tasks) {
		Document copy = Document.parse(tasks.toJson());
		copy.keySet().forEach((type) -> copy.getList(type, Document.class).forEach((task) -> {
			for (String execution : List.of("nextExecution", "lastExecution")) {
				if (task.get(execution) instanceof Document shown) {
					assertThat(Instant.parse(shown.getString("time"))).isAfter(PLANNED);
					shown.remove("time");
				}
			}
		}));
		return copy;
	}

	private static Set<String> executions(Document tasks) {
		Set<String> executions = new TreeSet<>();
		for (String type : tasks.keySet()) {
			for (Document task : tasks.getList(type, Document.class)) {
				String target = task.get("runnable", Document.class).getString("target");
				String method = target.substring(target.lastIndexOf('.') + 1);
				if (task.containsKey("nextExecution")) {
					executions.add(method + " next");
				}
				if (task.containsKey("lastExecution")) {
					executions.add(method + " last");
				}
			}
		}
		return executions;
	}

	/**
	 * As without dblock, each call that the scheduler makes is observed once. So is one
	 * for a planned time that another instance has run, which does not call the method.
	 */
	@Test
	void eachCallOfTheSchedulerIsObservedOnce() {
		LockTemplate locks = start(NoJobs.class, "").getBean(LockTemplate.class);
		locks.execute("elsewhere", LockOptions.defaults().claim(JobFiring.at(PLANNED)), () -> true);
		LockHandle held = locks.acquire("held");
		start(Once.class);
		Awaitility.await().atMost(LIMIT).untilAsserted(() -> {
			assertThat(observed(this.application, "run", "elsewhere", "failing"))
				.isEqualTo(observed(this.plain, "run", "elsewhere", "failing"))
				.containsExactlyInAnyOrder("elsewhere SUCCESS none, 1 times", "run SUCCESS none, 1 times",
						"failing ERROR IllegalStateException, 1 times");
		});
		OnceJobs jobs = AopTestUtils.getTargetObject(this.application.getBean(OnceJobs.class));
		assertThat(jobs.runs).hasValue(1);
		assertThat(jobs.failures).hasValue(1);
		assertThat(jobs.elsewhere).hasValue(0);
		assertThat(jobs.observed).isEqualTo("tasks.scheduled.execution");
		// A firing that stays due is requested again, by a call that is observed as well
		Awaitility.await().atMost(LIMIT).until(() -> countOf(this.application, "held") > 1);
		assertThat(jobs.late).hasValue(0);
		held.close();
		Awaitility.await().atMost(LIMIT).until(() -> jobs.late.get() == 1);
	}

	private static List<String> observed(ConfigurableApplicationContext application, String... methods) {
		return application.getBean(MeterRegistry.class)
			.find("tasks.scheduled.execution")
			.timers()
			.stream()
			.filter((timer) -> Set.of(methods).contains(timer.getId().getTag("code.function")))
			.map((timer) -> {
				assertThat(timer.getId().getTags()).extracting(Tag::getKey)
					.containsExactlyInAnyOrder("code.function", "code.namespace", "error", "exception", "outcome");
				assertThat(timer.getId().getTag("code.namespace")).isEqualTo(OnceJobs.class.getCanonicalName());
				return "%s %s %s, %d times".formatted(timer.getId().getTag("code.function"),
						timer.getId().getTag("outcome"), timer.getId().getTag("error"), timer.count());
			})
			.sorted()
			.toList();
	}

	private static long countOf(ConfigurableApplicationContext application, String method) {
		return application.getBean(MeterRegistry.class)
			.find("tasks.scheduled.execution")
			.tag("code.function", method)
			.timers()
			.stream()
			.mapToLong(Timer::count)
			.sum();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class Application {

	}

	@Configuration(proxyBeanMethods = false)
	static class NoJobs {

	}

	@Configuration(proxyBeanMethods = false)
	@Import(PeriodicJobs.class)
	static class Periodic {

		@Bean
		SchedulingConfigurer byTrigger(PeriodicJobs jobs) {
			Runnable task = new ScheduledMethodRunnable(jobs,
					ReflectionUtils.findMethod(PeriodicJobs.class, "trigger"));
			return (registrar) -> registrar.addTriggerTask(task, new EachSecond());
		}

	}

	/**
	 * A trigger that is neither a cron expression nor a period.
	 */
	private static final class EachSecond implements Trigger {

		@Override
		public Instant nextExecution(TriggerContext context) {
			return context.getClock().instant().truncatedTo(ChronoUnit.SECONDS).plusSeconds(1);
		}

		@Override
		public String toString() {
			return "each second";
		}

	}

	static class PeriodicJobs {

		@Scheduled(cron = "0 0 2 1 1 *", zone = "Europe/Berlin")
		@DistributedLock(name = "yearly")
		public void yearly() {
		}

		@Scheduled(cron = "* * * * * *")
		@DistributedLock(name = "each")
		public void each() {
		}

		@Scheduled(fixedRate = 1000, initialDelay = 100)
		@DistributedLock(name = "rate")
		public void rate() {
		}

		@Scheduled(fixedDelayString = "PT1S")
		@DistributedLock(name = "delay")
		public void delay() {
		}

		@Scheduled(fixedDelay = 1000, initialDelayString = "${no.such.delay:50}")
		@DistributedLock(name = "failing")
		public void failing() {
			throw new IllegalStateException("out of paper");
		}

		@DistributedLock(name = "trigger")
		public void trigger() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(OnceJobs.class)
	static class Once {

		@Bean
		SchedulingConfigurer once(OnceJobs jobs, ObservationRegistry observations) {
			return (registrar) -> {
				for (String method : List.of("run", "failing", "elsewhere", "held")) {
					registrar.addTriggerTask(
							new ScheduledMethodRunnable(jobs, ReflectionUtils.findMethod(OnceJobs.class, method), "",
									() -> observations),
							(context) -> (context.lastScheduledExecution() == null) ? PLANNED : null);
				}
			};
		}

	}

	static class OnceJobs {

		final AtomicInteger runs = new AtomicInteger();

		final AtomicInteger failures = new AtomicInteger();

		final AtomicInteger elsewhere = new AtomicInteger();

		final AtomicInteger late = new AtomicInteger();

		volatile String observed = "nothing";

		private final ObservationRegistry registry;

		OnceJobs(ObservationRegistry registry) {
			this.registry = registry;
		}

		@DistributedLock(name = "run")
		public void run() {
			this.runs.incrementAndGet();
			Observation observation = this.registry.getCurrentObservation();
			this.observed = (observation != null) ? observation.getContext().getName() : "nothing";
		}

		@DistributedLock(name = "failing")
		public void failing() {
			this.failures.incrementAndGet();
			throw new IllegalStateException("out of paper");
		}

		@DistributedLock(name = "elsewhere")
		public void elsewhere() {
			this.elsewhere.incrementAndGet();
		}

		@DistributedLock(name = "held")
		@JobPolicy(startWithinString = "2h")
		public void held() {
			this.late.incrementAndGet();
		}

	}

}
