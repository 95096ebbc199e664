package dev.dblock.scenario;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.invocation.InvalidLockDeclarationException;
import dev.dblock.job.JobInfo;
import dev.dblock.job.JobOperations;
import dev.dblock.job.JobOperations.ManualRun;
import dev.dblock.job.JobPolicy;
import dev.dblock.job.JobPolicy.WhenCrashed;
import dev.dblock.job.JobRun;
import dev.dblock.job.JobRun.Outcome;
import dev.dblock.job.schedule.ScheduledJobs;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.aop.Advisor;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.autoproxy.BeanNameAutoProxyCreator;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.Ordered;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.config.CronTask;
import org.springframework.scheduling.support.ScheduledMethodRunnable;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Jobs whose lock is granted, but whose method may not be called because of advice inside
 * of the lock.
 */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
@MongoServerTest(kind = MongoServerKind.STANDALONE)
@SameOnEachJdk
class UncalledMethodTests {

	private static final String NEVER = "0 0 0 1 1 *";

	private static final Instant PLANNED = Instant.now().minus(Duration.ofHours(1)).truncatedTo(ChronoUnit.SECONDS);

	private static final Set<String> CALLED = ConcurrentHashMap.newKeySet();

	private Instances instances;

	@BeforeEach
	void start(MongoServer server) {
		CALLED.clear();
		this.instances = new Instances(server);
	}

	@AfterEach
	void stop() throws Exception {
		this.instances.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "cached", "fallback", "interrupted", "fallbackFuture", "noFuture", "fallbackMono",
			"fallbackFlux", "behindInnerProxy" })
	void runIsRecordedAsFailedIfTheMethodWasNotCalled(String job, CapturedOutput output) {
		ConfigurableApplicationContext context = this.instances.startApplication("instance", Application.class);
		context.getBean(CacheManager.class).getCache("cached").put("cached", "earlier");
		fire(context, job);
		assertThat(Thread.interrupted()).isEqualTo(job.equals("interrupted"));
		assertThat(CALLED).isEmpty();
		assertThat(run(context, job)).satisfies((run) -> {
			assertThat(run.plannedAt()).isEqualTo(PLANNED);
			assertThat(run.outcome()).isEqualTo(Outcome.FAILED);
			assertThat(run.error()).contains("The method was not called under its lock");
		});
		assertThat(output).contains("The job '" + job + "' has not run for its planned time " + PLANNED
				+ ", which is recorded as failed: its lock was acquired, but bean 'jobs', " + Jobs.class.getName() + "#"
				+ job + "() was not called before the lock was released.");
		fire(context, job);
		assertThat(runs(context, job)).as("the planned time is used up").hasSize(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "blocking", "future", "mono", "flux", "elsewhere", "elsewhereFuture", "twice", "recovered",
			"asynchronous" })
	void runIsRecordedAsSucceededIfTheMethodWasCalledHoweverThatIs(String job, CapturedOutput output) {
		ConfigurableApplicationContext context = this.instances.startApplication("instance", Application.class);
		fire(context, job);
		Instances.eventually().until(() -> this.instances.isReleased(job));
		assertThat(CALLED).containsExactly(job);
		assertThat(run(context, job)).extracting(JobRun::outcome, JobRun::error)
			.containsExactly(Outcome.SUCCEEDED, null);
		assertThat(output).doesNotContain("has not run");
	}

	@Test
	void runWhoseMethodIsCalledAfterwardsIsNotRepeatedElsewhere() throws Exception {
		ConfigurableApplicationContext context = this.instances.startApplication("instance", Application.class);
		fire(context, "later");
		assertThat(run(context, "later").outcome()).isEqualTo(Outcome.FAILED);
		ConfigurableApplicationContext other = this.instances.startApplication("other", Application.class);
		fire(other, "later");
		assertThat(runs(other, "later")).hasSize(1);
		Jobs.LATER.countDown();
		Instances.eventually().until(() -> CALLED.contains("later"));
		assertThat(run(context, "later").outcome()).isEqualTo(Outcome.FAILED);
	}

	@Test
	void failureInsideOfTheLockIsRecordedAsItIs() {
		ConfigurableApplicationContext context = this.instances.startApplication("instance", Application.class);
		assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> fire(context, "refused"));
		assertThat(run(context, "refused").error()).contains("The circuit is open");
	}

	@Test
	void callByAnOperatorIsReported(CapturedOutput output) {
		ConfigurableApplicationContext context = this.instances.startApplication("instance", Application.class);
		assertThat(context.getBean(JobOperations.class).runNow("fallback").outcome())
			.isEqualTo(ManualRun.Outcome.STARTED);
		Instances.eventually()
			.untilAsserted(() -> assertThat(output).contains("The job 'fallback' has not run: its lock was acquired"));
	}

	@Test
	void secondAutoProxyCreatorStopsTheStart() {
		assertThatExceptionOfType(InvalidLockDeclarationException.class)
			.isThrownBy(() -> this.instances.startApplication("instance", TwoProxiesApplication.class))
			.withMessageContainingAll("bean 'asyncJob', ", "AsyncJob: its methods would be locked twice",
					"auto-proxy creators besides Spring's own create further proxies with all advisors ('second')");
	}

	@Test
	void jobUnderTwoProxiesThatIsCreatedLaterIsNeverRecordedAsSucceeded() {
		ConfigurableApplicationContext context = this.instances.startApplication("instance",
				LateTwoProxiesApplication.class);
		context.getBean(AsyncJob.class);
		Instances.eventually().until(() -> runs(context, "async").size() >= 5);
		// The method runs only if its thread is so late that the outer lock was released
		assertThat(runs(context, "async")).extracting(JobRun::outcome).doesNotContain(Outcome.SUCCEEDED);
	}

	private static void fire(ConfigurableApplicationContext context, String job) {
		Object bean = context.getBean("jobs");
		context.getBean(ScheduledJobs.class)
			.fire(PLANNED, () -> subscribe(
					ReflectionUtils.invokeMethod(ReflectionUtils.findMethod(bean.getClass(), job), bean)));
	}

	private static void subscribe(@Nullable Object result) {
		if (result instanceof Mono<?> mono) {
			mono.block();
		}
		else if (result instanceof Flux<?> flux) {
			flux.blockLast();
		}
		else if (result instanceof CompletableFuture<?> future) {
			future.join();
		}
	}

	private static JobRun run(ConfigurableApplicationContext context, String job) {
		List<JobRun> runs = runs(context, job);
		assertThat(runs).hasSize(1);
		return runs.get(0);
	}

	private static List<JobRun> runs(ConfigurableApplicationContext context, String job) {
		return context.getBean(JobOperations.class)
			.find(job)
			.map(JobInfo::runs)
			.orElseThrow()
			.stream()
			.filter((run) -> run.outcome() != null)
			.toList();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	@EnableCaching
	@EnableAsync
	static class Application {

		@Bean
		Jobs jobs() {
			return new Jobs();
		}

		/** Spring schedules no method with a future that is only annotated. */
		@Bean
		SchedulingConfigurer futures(Jobs jobs) {
			return (registrar) -> Stream.of("fallbackFuture", "noFuture", "future", "elsewhereFuture")
				.map((name) -> ReflectionUtils.findMethod(Jobs.class, name))
				.forEach((method) -> registrar
					.addCronTask(new CronTask(new ScheduledMethodRunnable(jobs, method), NEVER)));
		}

		@Bean
		CacheManager cacheManager() {
			return new ConcurrentMapCacheManager("cached");
		}

		@Bean
		static Advisor jobAdvice() {
			return new JobAdvice();
		}

		@Bean
		static MethodInterceptor innerAdvice() {
			return (invocation) -> invocation.getMethod().getName().equals("behindInnerProxy") ? null
					: invocation.proceed();
		}

		/** Applied before Spring's own creator, so that its proxy is the inner one. */
		@Bean
		static BeanNameAutoProxyCreator innerProxies() {
			BeanNameAutoProxyCreator creator = new BeanNameAutoProxyCreator();
			creator.setBeanNames("jobs");
			creator.setInterceptorNames("innerAdvice");
			creator.setProxyTargetClass(true);
			creator.setOrder(Ordered.HIGHEST_PRECEDENCE);
			return creator;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	@EnableAsync
	static class TwoProxiesApplication {

		@Bean
		AsyncJob asyncJob() {
			return new AsyncJob();
		}

		@Bean
		static DefaultAdvisorAutoProxyCreator second() {
			return new DefaultAdvisorAutoProxyCreator();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	@EnableAsync
	static class LateTwoProxiesApplication {

		@Bean
		@Lazy
		AsyncJob asyncJob() {
			return new AsyncJob();
		}

		@Bean
		static DefaultAdvisorAutoProxyCreator second() {
			return new DefaultAdvisorAutoProxyCreator();
		}

	}

	static class AsyncJob {

		@Async
		@Scheduled(fixedRate = 50)
		@DistributedLock("async")
		void run() {
			CALLED.add("async");
		}

	}

	static class Jobs {

		static final CountDownLatch LATER = new CountDownLatch(1);

		@Scheduled(cron = NEVER)
		@DistributedLock("cached")
		@Cacheable(cacheNames = "cached", key = "'cached'")
		public @Nullable String cached() {
			return called("cached");
		}

		@Scheduled(cron = NEVER)
		@DistributedLock("fallback")
		public void fallback() {
			called("fallback");
		}

		@Scheduled(cron = NEVER)
		@DistributedLock("interrupted")
		@JobPolicy(whenCrashed = WhenCrashed.RERUN)
		public void interrupted() {
			called("interrupted");
		}

		@DistributedLock("fallbackFuture")
		public CompletableFuture<String> fallbackFuture() {
			return CompletableFuture.completedFuture(called("fallbackFuture"));
		}

		@DistributedLock("noFuture")
		public CompletableFuture<String> noFuture() {
			return CompletableFuture.completedFuture(called("noFuture"));
		}

		@Scheduled(cron = NEVER)
		@DistributedLock("fallbackMono")
		public Mono<String> fallbackMono() {
			return Mono.fromSupplier(() -> called("fallbackMono"));
		}

		@Scheduled(cron = NEVER)
		@DistributedLock("fallbackFlux")
		public Flux<String> fallbackFlux() {
			return Flux.defer(() -> Flux.just(called("fallbackFlux")));
		}

		@Scheduled(cron = NEVER)
		@DistributedLock("behindInnerProxy")
		public void behindInnerProxy() {
			called("behindInnerProxy");
		}

		@Scheduled(cron = NEVER)
		@DistributedLock("later")
		public void later() {
			called("later");
		}

		@Scheduled(cron = NEVER)
		@DistributedLock("refused")
		public void refused() {
			called("refused");
		}

		@Scheduled(cron = NEVER)
		@DistributedLock("blocking")
		public void blocking() {
			called("blocking");
		}

		@DistributedLock("future")
		public CompletableFuture<String> future() {
			return CompletableFuture.supplyAsync(() -> called("future"));
		}

		@Scheduled(cron = NEVER)
		@DistributedLock("mono")
		public Mono<String> mono() {
			return Mono.fromSupplier(() -> called("mono"));
		}

		@Scheduled(cron = NEVER)
		@DistributedLock("flux")
		public Flux<String> flux() {
			return Flux.defer(() -> Flux.just(called("flux"), "another"));
		}

		@Scheduled(cron = NEVER)
		@DistributedLock("elsewhere")
		public void elsewhere() {
			called("elsewhere");
		}

		@DistributedLock("elsewhereFuture")
		public CompletableFuture<String> elsewhereFuture() {
			return CompletableFuture.completedFuture(called("elsewhereFuture"));
		}

		@Scheduled(cron = NEVER)
		@DistributedLock("twice")
		public void twice() {
			called("twice");
		}

		@Scheduled(cron = NEVER)
		@DistributedLock("recovered")
		public void recovered() {
			called("recovered");
			throw new IllegalStateException("The advice recovers from it");
		}

		@Async
		@Scheduled(cron = NEVER)
		@DistributedLock("asynchronous")
		public void asynchronous() {
			called("asynchronous");
		}

		private static String called(String job) {
			CALLED.add(job);
			return job;
		}

	}

	/**
	 * Advice inside of the lock that treats each job in a way of its own.
	 */
	@SuppressWarnings("serial")
	static final class JobAdvice extends StaticMethodMatcherPointcutAdvisor {

		private static final Executor THREADS = (task) -> new Thread(task, "advice").start();

		JobAdvice() {
			super((MethodInterceptor) JobAdvice::invoke);
			setClassFilter(Jobs.class::isAssignableFrom);
			setOrder(Ordered.LOWEST_PRECEDENCE);
		}

		@Override
		public boolean matches(Method method, Class<?> type) {
			return true;
		}

		private static @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
			return switch (invocation.getMethod().getName()) {
				case "fallback", "noFuture" -> null;
				case "interrupted" -> {
					Thread.currentThread().interrupt();
					yield null;
				}
				case "fallbackFuture" -> CompletableFuture.completedFuture("fallback");
				case "fallbackMono" -> Mono.just("fallback");
				case "fallbackFlux" -> Flux.just("fallback");
				case "refused" -> throw new IllegalArgumentException("The circuit is open");
				case "later" -> {
					Supplier<@Nullable Object> method = call(invocation);
					THREADS.execute(new FutureTask<>(() -> {
						await(Jobs.LATER);
						return method.get();
					}));
					yield null;
				}
				case "elsewhere" -> CompletableFuture.supplyAsync(call(invocation), THREADS).join();
				case "elsewhereFuture" -> CompletableFuture.supplyAsync(call(invocation), THREADS)
					.thenCompose((future) -> (CompletableFuture<?>) future);
				case "twice" -> {
					Object first = call(invocation).get();
					yield (first != null) ? first : invocation.proceed();
				}
				case "recovered" -> {
					try {
						yield invocation.proceed();
					}
					catch (IllegalStateException ex) {
						yield null;
					}
				}
				default -> invocation.proceed();
			};
		}

		private static Supplier<@Nullable Object> call(MethodInvocation invocation) {
			MethodInvocation call = ((ProxyMethodInvocation) invocation).invocableClone();
			return () -> {
				try {
					return call.proceed();
				}
				catch (Throwable ex) {
					throw new IllegalStateException(ex);
				}
			};
		}

		private static void await(CountDownLatch latch) {
			try {
				assertThat(latch.await(5, TimeUnit.MINUTES)).isTrue();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

	}

}
