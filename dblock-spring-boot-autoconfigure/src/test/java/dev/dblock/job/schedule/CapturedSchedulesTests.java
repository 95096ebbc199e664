package dev.dblock.job.schedule;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

import dev.dblock.DistributedLock;
import dev.dblock.autoconfigure.DblockAopAutoConfiguration;
import dev.dblock.autoconfigure.DblockJobsAutoConfiguration;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobOperations;
import dev.dblock.job.JobOperations.ManualRun.Outcome;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.aop.Advisor;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.scheduling.config.ScheduledTask;
import org.springframework.scheduling.config.ScheduledTaskHolder;
import org.springframework.scheduling.support.PeriodicTrigger;
import org.springframework.scheduling.support.ScheduledMethodRunnable;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Which firings the methods of an application ask for, with Spring's real scheduling.
 */
class CapturedSchedulesTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class, AopAutoConfiguration.class,
				TaskExecutionAutoConfiguration.class, DblockAopAutoConfiguration.class,
				DblockJobsAutoConfiguration.class))
		.withBean(JobEngine.class)
		.withBean(DefaultLockTemplate.class);

	@ParameterizedTest
	@EnumSource
	void everyKindOfScheduleIsCaptured(Schedulers schedulers) {
		schedulers.in(this.contextRunner).withUserConfiguration(Application.class).run((context) -> {
			assertThat(context).hasNotFailed();
			JobEngine engine = context.getBean(JobEngine.class);
			for (String cron : List.of("cron", "mono", "flux", "async", "trigger", "by-configurer")) {
				await().atMost(LONG).until(() -> engine.firings(cron).size() >= 2);
				assertThat(engine.asked(cron)).as(cron).extracting(JobEngine.Asked::firing).doesNotContainNull();
				assertThat(engine.planned(cron)).as(cron).doesNotHaveDuplicates();
				// Firings with a thread each can overtake each other
				if (schedulers != Schedulers.VIRTUAL_THREADS && schedulers != Schedulers.SIMPLE) {
					assertThat(engine.planned(cron)).as(cron).isSorted();
				}
			}
			assertThat(engine.planned("cron")).allMatch((planned) -> planned.getNano() == 0);
			assertAsked(engine, "rate", new Schedule.FixedRate(Duration.ofMillis(100)));
			assertAsked(engine, "delay", new Schedule.FixedDelay(Duration.ofMillis(100)));
			assertAsked(engine, "mono-delay", new Schedule.FixedDelay(Duration.ofMillis(100)));
			assertAsked(engine, "periodic-trigger", new Schedule.FixedDelay(Duration.ofMillis(100)));
			await().atMost(LONG).until(() -> kinds(engine, "repeated").size() == 2);
			await().atMost(LONG).until(() -> !engine.asked("once").isEmpty());
			// What only weak references lead to would be gone
			System.gc();
			JobOperations operations = context.getBean(JobOperations.class);
			assertThat(operations.runNow("once").outcome()).isEqualTo(Outcome.STARTED);
			assertThat(operations.runNow("never").outcome()).isEqualTo(Outcome.STARTED);
			assertThat(engine.asked("once")).hasSize(2).extracting(JobEngine.Asked::firing).containsOnlyNulls();
			await().atMost(LONG).until(() -> engine.firings("retried").size() >= 4);
			assertThat(engine.firings("retried").subList(0, 3)).extracting(JobFiring::id)
				.containsOnly(engine.firings("retried").get(0).id());
			assertThat(engine.firings("retried").get(3).id()).isNotEqualTo(engine.firings("retried").get(0).id());
			await().atMost(LONG).until(() -> engine.asked("called").size() >= 2);
			assertThat(engine.asked("called")).extracting(JobEngine.Asked::firing).containsOnlyNulls();
			await().atMost(LONG).until(() -> context.getBean(Jobs.class).unlockedCalls() >= 2);
		});
	}

	private static Set<Class<?>> kinds(JobEngine engine, String name) {
		return engine.firings(name).stream().map((firing) -> firing.schedule().getClass()).collect(Collectors.toSet());
	}

	private static void assertAsked(JobEngine engine, String name, Schedule schedule) {
		await().atMost(LONG).until(() -> engine.firings(name).size() >= 3);
		assertThat(engine.asked(name)).as(name).extracting(JobEngine.Asked::firing).doesNotContainNull();
		assertThat(engine.firings(name)).as(name).extracting(JobFiring::schedule).containsOnly(schedule);
		assertThat(engine.firings(name)).as(name).extracting(JobFiring::id).doesNotHaveDuplicates();
	}

	@Test
	void qualifierChoosesTheScheduler() {
		Schedulers.POOL.in(this.contextRunner)
			.withUserConfiguration(AnotherScheduler.class)
			.withBean(QualifiedJob.class)
			.run((context) -> {
				JobEngine engine = context.getBean(JobEngine.class);
				await().atMost(LONG).until(() -> engine.firings("qualified").size() >= 4);
				assertThat(engine.asked("qualified")).allMatch((asked) -> asked.thread().startsWith("another-"));
			});
	}

	@Test
	void interfaceProxiesAreCaptured() {
		Schedulers.POOL.in(this.contextRunner)
			.withPropertyValues("spring.aop.proxy-target-class=false")
			.withUserConfiguration(Scheduling.class)
			.withBean("job", InterfaceJob.class, InterfaceJob::new)
			.run((context) -> {
				JobEngine engine = context.getBean(JobEngine.class);
				for (String name : List.of("interface", "interface-mono")) {
					await().atMost(LONG).until(() -> engine.asked(name).size() >= 2);
					assertThat(engine.asked(name)).as(name).extracting(JobEngine.Asked::firing).doesNotContainNull();
				}
			});
	}

	@Test
	void answersSayWhenJobsAreDueNext() {
		Schedulers.POOL.in(this.contextRunner)
			.withUserConfiguration(AsyncScheduling.class)
			.withBean(HourlyJobs.class)
			.run((context) -> {
				JobEngine engine = context.getBean(JobEngine.class);
				for (String name : HourlyJobs.NAMES) {
					await(name).atMost(LONG).until(() -> engine.firings(name).size() >= 3);
				}
			});
	}

	@Test
	void contextThatIsStoppedAndStartedAgainContinues() {
		Schedulers.POOL.in(this.contextRunner).withUserConfiguration(Application.class).run((context) -> {
			JobEngine engine = context.getBean(JobEngine.class);
			await().atMost(LONG).until(() -> !engine.firings("cron").isEmpty());
			context.getSourceApplicationContext().stop();
			int before = engine.firings("cron").size();
			context.getSourceApplicationContext().start();
			await().atMost(LONG).until(() -> engine.firings("cron").size() >= before + 2);
			assertThat(engine.planned("cron")).doesNotHaveDuplicates();
		});
	}

	@Test
	void childContextsCaptureTheirOwnJobs() {
		Schedulers.POOL.in(this.contextRunner)
			.withUserConfiguration(Scheduling.class)
			.withBean("parentJob", ParentJob.class, ParentJob::new)
			.run((parent) -> Schedulers.POOL.in(this.contextRunner)
				.withUserConfiguration(Scheduling.class)
				.withBean("childJob", QuickJob.class, QuickJob::new)
				.withParent(parent)
				.run((child) -> {
					JobEngine engine = child.getBean(JobEngine.class);
					await().atMost(LONG).until(() -> engine.firings("quick").size() >= 2);
					JobEngine ofParent = parent.getBean(JobEngine.class);
					await().atMost(LONG).until(() -> ofParent.firings("parent").size() >= 2);
				}));
	}

	@Test
	void tasksLookToTheActuatorAsTheyDo() {
		List<String> tasks = Schedulers.POOL.tasks(this.contextRunner);
		List<String> today = Schedulers.POOL
			.tasks(this.contextRunner.withPropertyValues("dblock.once-per-planned-time=false"));
		assertThat(tasks).isNotEmpty().containsExactlyInAnyOrderElementsOf(today);
	}

	@Test
	void switchedOffNothingIsCaptured() {
		Schedulers.POOL.in(this.contextRunner)
			.withPropertyValues("dblock.once-per-planned-time=false")
			.withUserConfiguration(Application.class)
			.run((context) -> {
				JobEngine engine = context.getBean(JobEngine.class);
				await().atMost(LONG).until(() -> engine.asked("cron").size() >= 2 && engine.asked("rate").size() >= 2);
				assertThat(engine.firings("cron")).isEmpty();
				assertThat(engine.firings("rate")).isEmpty();
			});
	}

	enum Schedulers {

		POOL, VIRTUAL_THREADS, SIMPLE, SET_BY_USER, EXECUTOR_SERVICE, NONE;

		ApplicationContextRunner in(ApplicationContextRunner runner) {
			ApplicationContextRunner boot = runner
				.withConfiguration(AutoConfigurations.of(TaskSchedulingAutoConfiguration.class))
				.withPropertyValues("spring.task.scheduling.pool.size=8");
			return switch (this) {
				case POOL -> boot;
				case VIRTUAL_THREADS -> boot.withPropertyValues("spring.threads.virtual.enabled=true");
				case SIMPLE -> boot.withBean("taskScheduler", SimpleAsyncTaskScheduler.class);
				case SET_BY_USER -> boot.withUserConfiguration(SchedulerOfUser.class);
				case EXECUTOR_SERVICE -> runner.withBean("executor", ScheduledExecutorService.class,
						() -> Executors.newScheduledThreadPool(8), (bean) -> bean.setDestroyMethodName("shutdownNow"));
				case NONE -> runner;
			};
		}

		List<String> tasks(ApplicationContextRunner runner) {
			AtomicReferenceList<String> tasks = new AtomicReferenceList<>();
			in(runner).withUserConfiguration(Application.class)
				.run((context) -> tasks.value = context.getBeanProvider(ScheduledTaskHolder.class)
					.stream()
					.flatMap((holder) -> holder.getScheduledTasks().stream())
					.map(ScheduledTask::getTask)
					.map((task) -> task.getClass().getSimpleName() + " " + task.toString().replaceAll("\\$.*", ""))
					.toList());
			return tasks.value;
		}

	}

	private static final class AtomicReferenceList<T> {

		private volatile List<T> value = List.of();

	}

	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@interface Retried {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class Scheduling {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	@EnableAsync
	static class AsyncScheduling {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	@EnableAsync
	static class Application {

		@Bean
		Called called() {
			return new Called();
		}

		@Bean
		Jobs jobs(Called called) {
			return new Jobs(called);
		}

		@Bean
		SchedulingConfigurer users(Jobs jobs) {
			AtomicInteger count = new AtomicInteger();
			Instant first = Instant.now();
			return (registrar) -> {
				registrar.addCronTask(task(jobs, "byConfigurer"), "* * * * * *");
				registrar.addTriggerTask(task(jobs, "byTrigger"),
						(context) -> first.plusMillis(200L * count.incrementAndGet()));
				registrar.addTriggerTask(task(jobs, "byPeriodicTrigger"), new PeriodicTrigger(Duration.ofMillis(100)));
			};
		}

		private static Runnable task(Jobs jobs, String name) {
			Method method = ReflectionUtils.findMethod(Jobs.class, name);
			return new ScheduledMethodRunnable(jobs, method);
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static Advisor retries() {
			DefaultPointcutAdvisor retries = new DefaultPointcutAdvisor(
					AnnotationMatchingPointcut.forMethodAnnotation(Retried.class), (MethodInterceptor) (invocation) -> {
						for (int attempt = 1;; attempt++) {
							try {
								return ((ProxyMethodInvocation) invocation).invocableClone().proceed();
							}
							catch (IllegalStateException ex) {
								if (attempt == 3) {
									return null;
								}
							}
						}
					});
			retries.setOrder(Ordered.LOWEST_PRECEDENCE - 200);
			return retries;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class SchedulerOfUser {

		@Bean(defaultCandidate = false)
		ThreadPoolTaskScheduler ofUser() {
			ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
			scheduler.setPoolSize(8);
			return scheduler;
		}

		@Bean
		SchedulingConfigurer setting(@Qualifier("ofUser") ThreadPoolTaskScheduler scheduler) {
			return (registrar) -> registrar.setTaskScheduler(scheduler);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class AnotherScheduler {

		@Bean(defaultCandidate = false)
		@Qualifier("another")
		ThreadPoolTaskScheduler another() {
			ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
			scheduler.setThreadNamePrefix("another-");
			return scheduler;
		}

	}

	static class QualifiedJob {

		@Scheduled(cron = "* * * * * *", scheduler = "another")
		@Scheduled(fixedRate = 100, scheduler = "another")
		@DistributedLock(name = "qualified")
		void run() {
		}

	}

	static class QuickJob {

		@Scheduled(fixedRate = 100)
		@DistributedLock(name = "quick")
		void run() {
		}

	}

	static class ParentJob {

		@Scheduled(fixedRate = 100)
		@DistributedLock(name = "parent")
		void run() {
		}

	}

	interface Interface {

		void run();

		Mono<Void> runReactively();

	}

	static class InterfaceJob implements Interface {

		@Override
		@Scheduled(fixedRate = 100)
		@DistributedLock(name = "interface")
		public void run() {
		}

		@Override
		@Scheduled(fixedRate = 100)
		@DistributedLock(name = "interface-mono")
		public Mono<Void> runReactively() {
			return Mono.empty();
		}

	}

	static class HourlyJobs {

		private static final List<String> NAMES = List.of("hourly", "hourly-async", "hourly-mono");

		/**
		 * Create the jobs with their answers, which must be there before the first
		 * firing: another answer would put the next one off by an hour.
		 */
		HourlyJobs(JobEngine engine) {
			for (String name : NAMES) {
				engine.answer(name, (lock, firing) -> JobEngine.granted(lock,
						Instant.now().minus(Duration.ofHours(1)).plusMillis(100), Instant.now()));
			}
		}

		@Scheduled(initialDelay = 500, fixedRate = 3_600_000)
		@DistributedLock(name = "hourly")
		void blocking() {
		}

		@Async
		@Scheduled(initialDelay = 500, fixedRate = 3_600_000)
		@DistributedLock(name = "hourly-async")
		void async() {
		}

		@Scheduled(initialDelay = 500, fixedRate = 3_600_000)
		@DistributedLock(name = "hourly-mono")
		Mono<Void> mono() {
			return Mono.delay(Duration.ofMillis(10)).then();
		}

	}

	static class Called {

		// Called only by another job; its own schedule does not begin
		@Scheduled(cron = "0 0 0 1 1 *")
		@DistributedLock(name = "called")
		void run() {
		}

	}

	static class Jobs {

		private final AtomicInteger unlocked = new AtomicInteger();

		private final AtomicInteger attempts = new AtomicInteger();

		private final @Nullable Called called;

		Jobs() {
			this(null);
		}

		Jobs(@Nullable Called called) {
			this.called = called;
		}

		@Scheduled(cron = "* * * * * *")
		@DistributedLock(name = "cron")
		void cron() {
			this.called.run();
		}

		@Scheduled(fixedRate = 100)
		@DistributedLock(name = "rate")
		void rate() {
		}

		@Scheduled(fixedDelay = 100, initialDelay = 150)
		@DistributedLock(name = "delay")
		void delay() {
		}

		@Scheduled(cron = "* * * * * *")
		@Scheduled(fixedRate = 300)
		@DistributedLock(name = "repeated")
		void repeated() {
		}

		@Scheduled(initialDelay = 100)
		@DistributedLock(name = "once")
		void once() {
		}

		@Scheduled(cron = "0 0 0 30 2 *")
		@DistributedLock(name = "never")
		void never() {
		}

		@Scheduled(cron = "* * * * * *")
		@DistributedLock(name = "mono")
		Mono<Void> mono() {
			return Mono.delay(Duration.ofMillis(10)).then();
		}

		@Scheduled(cron = "* * * * * *")
		@DistributedLock(name = "flux")
		Flux<Integer> flux() {
			return Flux.just(1, 2);
		}

		@Scheduled(fixedDelay = 100)
		@DistributedLock(name = "mono-delay")
		Mono<Void> monoDelay() {
			return Mono.delay(Duration.ofMillis(10)).then();
		}

		@Async
		@Scheduled(cron = "* * * * * *")
		@DistributedLock(name = "async")
		void async() {
		}

		@Retried
		@Scheduled(cron = "* * * * * *")
		@DistributedLock(name = "retried")
		void retried() {
			if (this.attempts.incrementAndGet() % 3 != 0) {
				throw new IllegalStateException("Again");
			}
		}

		@Scheduled(fixedRate = 100)
		void unlocked() {
			this.unlocked.incrementAndGet();
		}

		int unlockedCalls() {
			return this.unlocked.get();
		}

		@DistributedLock(name = "by-configurer")
		void byConfigurer() {
		}

		@DistributedLock(name = "trigger")
		void byTrigger() {
		}

		@DistributedLock(name = "periodic-trigger")
		void byPeriodicTrigger() {
		}

	}

}
