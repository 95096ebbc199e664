package dev.dblock.autoconfigure;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.invocation.RecordingEngine;
import dev.dblock.execution.DefaultLockTemplate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCache;
import org.springframework.cache.support.SimpleCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskExecutor;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@Timeout(300)
class AdvisorOrderTests {

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, DblockAopAutoConfiguration.class))
		.withBean(RecordingEngine.class)
		.withBean(DefaultLockTemplate.class)
		.withUserConfiguration(Everything.class);

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void lockIsInsideOfAsyncAndOutsideOfCacheAndTransaction(boolean aspectj) {
		this.contextRunner.withClassLoader(new FilteredClassLoader(aspectj ? "none" : "org.aspectj")).run((context) -> {
			RecordingEngine engine = context.getBean(RecordingEngine.class);
			context.getBean(Work.class).everything();
			await().atMost(Duration.ofSeconds(60)).until(() -> engine.events().contains("unlock everything"));
			assertThat(engine.events()).containsExactly("async", "lock everything", "cache get", "begin", "run",
					"commit", "cache put", "unlock everything");
		});
	}

	@Test
	void advisorsAreOrdered() {
		this.contextRunner.run((context) -> {
			List<String> advices = Arrays.stream(((Advised) context.getBean(Work.class)).getAdvisors())
				.map(Advisor::getAdvice)
				.map((advice) -> advice.getClass().getSimpleName())
				.filter((name) -> !name.startsWith("Expose"))
				.toList();
			assertThat(advices).containsExactly("AnnotationAsyncExecutionInterceptor", "ConcurrencyLimitInterceptor",
					"RetryAnnotationInterceptor", "LockInterceptor", "CacheInterceptor", "TransactionInterceptor");
		});
	}

	@Test
	void eachAttemptOfARetryAcquiresTheLock() {
		this.contextRunner.run((context) -> {
			context.getBean(Work.class).retried();
			assertThat(context.getBean(RecordingEngine.class).events()).containsExactly("lock retried", "begin", "run",
					"rollback", "unlock retried", "lock retried", "begin", "run", "commit", "unlock retried");
		});
	}

	@Test
	void aCachedResultIsReturnedUnderTheLockWithoutTheMethod() {
		this.contextRunner.run((context) -> {
			Work work = context.getBean(Work.class);
			assertThat(work.cached()).isEqualTo("result");
			context.getBean(RecordingEngine.class).clear();
			assertThat(work.cached()).isEqualTo("result");
			assertThat(context.getBean(RecordingEngine.class).events()).containsExactly("lock cached", "cache get",
					"unlock cached");
		});
	}

	@Test
	void callThatWaitsForTheConcurrencyLimitHoldsNoLock() {
		this.contextRunner.run((context) -> {
			Work work = context.getBean(Work.class);
			Thread first = new Thread(work::limited);
			Thread second = new Thread(work::limited);
			first.start();
			work.awaitEntered();
			second.start();
			await().atMost(Duration.ofSeconds(60)).until(() -> second.getState() == Thread.State.WAITING);
			assertThat(context.getBean(RecordingEngine.class).events()).containsExactly("lock limited", "run");
			work.goOn();
			first.join();
			second.join();
			assertThat(context.getBean(RecordingEngine.class).events()).containsExactly("lock limited", "run",
					"unlock limited", "lock limited", "run", "unlock limited");
		});
	}

	@Test
	void orderCanBeSet() {
		this.contextRunner.withPropertyValues("dblock.advisor-order=2147483647").run((context) -> {
			context.getBean(Work.class).transactional();
			assertThat(context.getBean(RecordingEngine.class).events()).startsWith("begin", "lock transactional");
		});
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync(proxyTargetClass = true)
	@EnableCaching(proxyTargetClass = true)
	@EnableTransactionManagement(proxyTargetClass = true)
	@EnableResilientMethods(proxyTargetClass = true)
	static class Everything {

		@Bean
		Work work(RecordingEngine engine) {
			return new Work(engine);
		}

		@Bean
		TaskExecutor taskExecutor(RecordingEngine engine) {
			SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor();
			executor.setTaskDecorator((task) -> () -> {
				engine.event("async");
				task.run();
			});
			return executor;
		}

		@Bean
		CacheManager cacheManager(RecordingEngine engine) {
			SimpleCacheManager manager = new SimpleCacheManager();
			manager.setCaches(List.of(new RecordingCache(engine)));
			return manager;
		}

		@Bean
		PlatformTransactionManager transactionManager(RecordingEngine engine) {
			return new RecordingTransactionManager(engine);
		}

	}

	public static class Work {

		private final CountDownLatch entered = new CountDownLatch(1);

		private final CountDownLatch proceed = new CountDownLatch(1);

		private final AtomicInteger attempts = new AtomicInteger();

		private final RecordingEngine engine;

		Work(RecordingEngine engine) {
			this.engine = engine;
		}

		void awaitEntered() throws InterruptedException {
			this.entered.await();
		}

		void goOn() {
			this.proceed.countDown();
		}

		@Transactional
		@Cacheable("cache")
		@DistributedLock("everything")
		@Retryable
		@ConcurrencyLimit(1)
		@Async
		public void everything() {
			this.engine.event("run");
		}

		@Transactional
		@Retryable(delay = 1)
		@DistributedLock("retried")
		public void retried() {
			this.engine.event("run");
			if (this.attempts.incrementAndGet() == 1) {
				throw new IllegalStateException("first attempt");
			}
		}

		@Cacheable("cache")
		@DistributedLock("cached")
		public String cached() {
			return "result";
		}

		@ConcurrencyLimit(1)
		@DistributedLock("limited")
		public void limited() {
			this.engine.event("run");
			this.entered.countDown();
			try {
				this.proceed.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

		@Transactional
		@DistributedLock("transactional")
		public void transactional() {
		}

	}

	static class RecordingCache extends ConcurrentMapCache {

		private final RecordingEngine engine;

		RecordingCache(RecordingEngine engine) {
			super("cache");
			this.engine = engine;
		}

		@Override
		public ValueWrapper get(Object key) {
			this.engine.event("cache get");
			return super.get(key);
		}

		@Override
		public void put(Object key, Object value) {
			this.engine.event("cache put");
			super.put(key, value);
		}

	}

	static class RecordingTransactionManager extends AbstractPlatformTransactionManager {

		private static final long serialVersionUID = 1L;

		private final transient RecordingEngine engine;

		RecordingTransactionManager(RecordingEngine engine) {
			this.engine = engine;
		}

		@Override
		protected Object doGetTransaction() {
			return new Object();
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
			this.engine.event("begin");
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
			this.engine.event("commit");
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
			this.engine.event("rollback");
		}

	}

}
