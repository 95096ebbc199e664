package dev.dblock.autoconfigure;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.dblock.DistributedLock;
import dev.dblock.LockUnavailableException;
import dev.dblock.annotation.invocation.RecordingEngine;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Locked methods that Spring calls: schedulers, events, executors, retries, caches, and
 * listeners that are called reflectively.
 */
@Timeout(300)
class MethodCallersTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, DblockAopAutoConfiguration.class,
				TaskExecutionAutoConfiguration.class, TaskSchedulingAutoConfiguration.class))
		.withBean(RecordingEngine.class);

	@ParameterizedTest
	@ValueSource(strings = { "rate", "delay", "cron", "reactive", "reactiveDelay", "many" })
	void scheduledMethodIsLockedEachTime(String kind) {
		this.contextRunner.withUserConfiguration(SchedulingConfiguration.class)
			.withPropertyValues("job." + kind + "=1", "job.cron." + kind + "=* * * * * *")
			.run((context) -> {
				RecordingEngine engine = context.getBean(RecordingEngine.class);
				await().atMost(LONG).until(() -> count(engine, "unlock " + kind) >= 2);
				assertRunsAreLocked(engine.events(), kind);
			});
	}

	/**
	 * A sequence at a fixed rate may begin again before it has ended.
	 */
	private static void assertRunsAreLocked(List<String> events, String kind) {
		int locked = 0;
		int run = 0;
		int unlocked = 0;
		for (String event : events) {
			locked += event.equals("lock " + kind) ? 1 : 0;
			run += event.equals("run " + kind) ? 1 : 0;
			unlocked += event.equals("unlock " + kind) ? 1 : 0;
			assertThat(run).as("%s", events).isBetween(unlocked, locked);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "rate", "reactive" })
	void scheduledMethodIsSkippedAndContinuesLater(String kind) {
		this.contextRunner.withUserConfiguration(SchedulingConfiguration.class)
			.withPropertyValues("job." + kind + "=1")
			.withInitializer((context) -> context
				.addBeanFactoryPostProcessor((beans) -> beans.addBeanPostProcessor(new HeldElsewhere(kind))))
			.run((context) -> {
				RecordingEngine engine = context.getBean(RecordingEngine.class);
				await().atMost(LONG).until(() -> count(engine, "refuse " + kind) >= 2);
				assertThat(engine.events()).doesNotContain("run " + kind);
				engine.freeElsewhere(kind);
				await().atMost(LONG).until(() -> engine.events().contains("run " + kind));
			});
	}

	@Test
	void eventListenerIsLocked() {
		this.contextRunner.withUserConfiguration(EventConfiguration.class).run((context) -> {
			context.publishEvent(new Ordered("7"));
			RecordingEngine engine = context.getBean(RecordingEngine.class);
			assertThat(engine.events()).containsExactly("lock order-7", "run", "unlock order-7");
			engine.holdElsewhere("order-8");
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> context.publishEvent(new Ordered("8")));
		});
	}

	@Test
	void listenerThatIsCalledReflectivelyThroughItsProxyIsLocked() {
		this.contextRunner.withUserConfiguration(EventConfiguration.class).run((context) -> {
			RecordingEngine engine = context.getBean(RecordingEngine.class);
			Object bean = context.getBean("listener");
			List<String> container = new CopyOnWriteArrayList<>();
			ProxyFactory factory = new ProxyFactory(bean);
			factory.setProxyTargetClass(true);
			factory.addAdvice((MethodInterceptor) (invocation) -> {
				container.add("container");
				return invocation.proceed();
			});
			for (Object called : new Object[] { bean, factory.getProxy() }) {
				engine.clear();
				Method method = ReflectionUtils.findMethod(called.getClass(), "receive", Ordered.class);
				method.invoke(called, new Ordered("7"));
				assertThat(engine.events()).containsExactly("lock message-7", "run", "unlock message-7");
			}
			assertThat(container).containsExactly("container");
			engine.holdElsewhere("message-8");
			Method method = ReflectionUtils.findMethod(bean.getClass(), "receive", Ordered.class);
			assertThatExceptionOfType(InvocationTargetException.class)
				.isThrownBy(() -> method.invoke(bean, new Ordered("8")))
				.withCauseInstanceOf(LockUnavailableException.class);
		});
	}

	@Test
	void asyncMethodIsLockedInItsOwnThread() {
		this.contextRunner.withUserConfiguration(EventConfiguration.class).run((context) -> {
			RecordingEngine engine = context.getBean(RecordingEngine.class);
			Listener listener = context.getBean(Listener.class);
			assertThat(listener.later("7").get()).isNotEqualTo(Thread.currentThread().getName());
			assertThat(engine.events()).containsExactly("lock later-7", "run", "unlock later-7");
			assertThat(engine.thread("later-7")).isNotSameAs(Thread.currentThread());
		});
	}

	@Test
	void retriedSequenceAcquiresTheLockEachTime() {
		this.contextRunner.withUserConfiguration(EventConfiguration.class).run((context) -> {
			RecordingEngine engine = context.getBean(RecordingEngine.class);
			Listener listener = context.getBean(Listener.class);
			assertThat(listener.retried().block(LONG)).isEqualTo("second");
			assertThat(engine.events()).containsExactly("lock retried", "run", "unlock retried", "lock retried", "run",
					"unlock retried");
		});
	}

	@Test
	void cachedSequenceIsAnsweredUnderTheLockWithoutTheMethod() {
		this.contextRunner.withUserConfiguration(EventConfiguration.class).run((context) -> {
			RecordingEngine engine = context.getBean(RecordingEngine.class);
			Listener listener = context.getBean(Listener.class);
			assertThat(listener.cached("7").block(LONG)).isEqualTo("7");
			assertThat(listener.cached("7").block(LONG)).isEqualTo("7");
			assertThat(engine.events()).containsExactly("lock cached", "run", "unlock cached", "lock cached",
					"unlock cached");
			assertThat(listener.cachedFuture("8").get()).isEqualTo("8");
			assertThat(listener.cachedFuture("8").get()).isEqualTo("8");
			assertThat(count(engine, "run")).isEqualTo(2);
		});
	}

	@Test
	@EnabledForJreRange(min = JRE.JAVA_21)
	void virtualThreadsRunThemAll() {
		this.contextRunner.withUserConfiguration(SchedulingConfiguration.class, EventConfiguration.class)
			.withPropertyValues("spring.threads.virtual.enabled=true", "job.rate=1")
			.run((context) -> {
				RecordingEngine engine = context.getBean(RecordingEngine.class);
				Listener listener = context.getBean(Listener.class);
				listener.later("7").get();
				listener.cached("7").block(LONG);
				await().atMost(LONG).until(() -> count(engine, "unlock rate") >= 2);
				for (String name : List.of("later-7", "cached", "rate")) {
					assertThat(engine.thread(name)).extracting(MethodCallersTests::isVirtual).as(name).isEqualTo(true);
				}
			});
	}

	/**
	 * The tests compile for a release that has no virtual threads.
	 */
	private static boolean isVirtual(Thread thread) {
		Method isVirtual = ReflectionUtils.findMethod(Thread.class, "isVirtual");
		return Boolean.TRUE.equals(ReflectionUtils.invokeMethod(isVirtual, thread));
	}

	private static long count(RecordingEngine engine, String event) {
		return engine.events().stream().filter(event::equals).count();
	}

	record Ordered(String id) {
	}

	record HeldElsewhere(String name) implements BeanPostProcessor {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			if (bean instanceof RecordingEngine engine) {
				engine.holdElsewhere(this.name);
			}
			return bean;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class SchedulingConfiguration {

		@Bean
		Jobs jobs(RecordingEngine engine) {
			return new Jobs(engine);
		}

	}

	public static class Jobs {

		private static final String NEVER = "3600000";

		private final RecordingEngine engine;

		Jobs(RecordingEngine engine) {
			this.engine = engine;
		}

		@Scheduled(fixedRateString = "${job.rate:" + NEVER + "}")
		@DistributedLock("rate")
		public void rate() {
			this.engine.event("run rate");
		}

		@Scheduled(fixedDelayString = "${job.delay:" + NEVER + "}")
		@DistributedLock("delay")
		public void delay() {
			this.engine.event("run delay");
		}

		@Scheduled(cron = "${job.cron.cron:-}")
		@DistributedLock("cron")
		public void cron() {
			this.engine.event("run cron");
		}

		@Scheduled(fixedRateString = "${job.reactive:" + NEVER + "}")
		@DistributedLock("reactive")
		public Mono<Void> reactive() {
			return Mono.fromRunnable(() -> this.engine.event("run reactive"));
		}

		@Scheduled(fixedDelayString = "${job.reactiveDelay:" + NEVER + "}")
		@DistributedLock("reactiveDelay")
		public Mono<String> reactiveDelay() {
			this.engine.event("run reactiveDelay");
			return Mono.just("x");
		}

		@Scheduled(fixedRateString = "${job.many:" + NEVER + "}")
		@DistributedLock("many")
		public Flux<Integer> many() {
			this.engine.event("run many");
			return Flux.range(1, 3);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync(proxyTargetClass = true)
	@EnableCaching(proxyTargetClass = true)
	@EnableResilientMethods(proxyTargetClass = true)
	static class EventConfiguration {

		@Bean
		Listener listener(RecordingEngine engine) {
			return new Listener(engine);
		}

		@Bean
		CacheManager cacheManager() {
			ConcurrentMapCacheManager manager = new ConcurrentMapCacheManager("cache");
			manager.setAllowNullValues(false);
			return manager;
		}

	}

	public static class Listener {

		private final Map<String, Integer> attempts = new ConcurrentHashMap<>();

		private final RecordingEngine engine;

		Listener(RecordingEngine engine) {
			this.engine = engine;
		}

		@EventListener
		@DistributedLock("order-#{#event.id}")
		public void on(Ordered event) {
			this.engine.event("run");
		}

		@DistributedLock("message-#{#message.id}")
		public void receive(Ordered message) {
			this.engine.event("run");
		}

		@Async
		@DistributedLock("later-#{#id}")
		public CompletableFuture<String> later(String id) {
			this.engine.event("run");
			return CompletableFuture.completedFuture(Thread.currentThread().getName());
		}

		@Retryable(delay = 1)
		@DistributedLock("retried")
		public Mono<String> retried() {
			this.engine.event("run");
			return (this.attempts.merge("retried", 1, Integer::sum) == 1)
					? Mono.error(new IllegalStateException("first")) : Mono.just("second");
		}

		@Cacheable("cache")
		@DistributedLock("cached")
		public Mono<String> cached(String id) {
			this.engine.event("run");
			return Mono.just(id);
		}

		@Cacheable("cache")
		@DistributedLock("cached")
		public CompletableFuture<String> cachedFuture(String id) {
			this.engine.event("run");
			return CompletableFuture.completedFuture(id);
		}

	}

}
