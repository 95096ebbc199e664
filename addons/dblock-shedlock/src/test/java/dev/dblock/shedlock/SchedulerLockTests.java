package dev.dblock.shedlock;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;

import dev.dblock.DistributedLock;
import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockInfo;
import dev.dblock.LockLostException;
import dev.dblock.LockTemplate;
import dev.dblock.autoconfigure.DblockAopAutoConfiguration;
import dev.dblock.autoconfigure.DblockAutoConfiguration;
import dev.dblock.autoconfigure.DblockJobsAutoConfiguration;
import dev.dblock.job.JobInfo;
import dev.dblock.job.JobOperations;
import dev.dblock.job.JobRun;
import dev.dblock.job.schedule.ScheduledJobs;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.LockingTaskExecutor;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock.InterceptMode;
import net.javacrumbs.shedlock.spring.annotation.LockProviderToUse;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.MDC;

import org.springframework.aop.framework.autoproxy.BeanNameAutoProxyCreator;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.PriorityOrdered;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Methods with ShedLock's annotation, in an application whose locks are in memory.
 */
@ExtendWith(OutputCaptureExtension.class)
class SchedulerLockTests {

	private static final Instant PLANNED = Instant.now().minusSeconds(600).truncatedTo(ChronoUnit.SECONDS);

	private final ApplicationContextRunner application = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DblockAutoConfiguration.class, DblockAopAutoConfiguration.class,
				DblockJobsAutoConfiguration.class, DblockShedLockAutoConfiguration.class))
		.withUserConfiguration(Application.class)
		.withPropertyValues("dblock.mode=local");

	private void run(ContextConsumer<AssertableApplicationContext> test, String... properties) {
		this.application.withPropertyValues(properties).run((context) -> {
			assertThat(context).hasNotFailed();
			test.accept(context);
		});
	}

	private static LockInfo info(ApplicationContext context, String lock) {
		return context.getBean(LockTemplate.class).inspect(lock).orElseThrow();
	}

	private static <T> T elsewhere(Callable<T> work) throws Exception {
		FutureTask<T> task = new FutureTask<>(work);
		Thread thread = new Thread(task, "elsewhere");
		thread.start();
		return task.get();
	}

	private static void fire(ApplicationContext context, Instant planned, Runnable call) {
		context.getBean(ScheduledJobs.class).fire(planned, call);
	}

	@Test
	void methodRunsUnderALockOfDblock() {
		run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			jobs.work(() -> {
				LockInfo held = info(context, "nightly");
				assertThat(held.held()).isTrue();
				assertThat(held.why()).isEqualTo(Jobs.class.getName() + "#nightly");
				assertThat(LockContext.current("nightly")).isPresent();
				assertThat(Duration.between(held.acquiredAt(), held.expiresAt()))
					.isGreaterThanOrEqualTo(Duration.ofMinutes(1))
					.isLessThan(Duration.ofMinutes(2));
				assertThat(MDC.get("dblock.name")).isEqualTo("nightly");
				assertThat(MDC.get("dblock.token"))
					.isEqualTo(Long.toString(LockContext.current().orElseThrow().token()));
			});
			jobs.nightly();
			assertThat(jobs.ran()).containsExactly("nightly under nightly");
			assertThat(LockContext.current()).isEmpty();
			assertThat(MDC.get("dblock.name")).isNull();
			assertThat(info(context, "nightly").held()).isFalse();
		});
	}

	@Test
	void methodIsNotReportedAsUnlocked(CapturedOutput output) {
		this.application.withBean(Purge.class)
			.run((context) -> assertThat(output.getAll().lines().filter((line) -> line.contains("every instance runs")))
				.singleElement()
				.asString()
				.contains("Without @DistributedLock, every instance runs " + Purge.class.getName() + "#run. "));
	}

	@Test
	void methodIsReportedAsUnlockedOnlyWithoutTheInterceptorsOfShedLock() {
		ApplicationContextRunner strict = new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DblockAutoConfiguration.class, DblockAopAutoConfiguration.class,
					DblockJobsAutoConfiguration.class, DblockShedLockAutoConfiguration.class))
			.withPropertyValues("dblock.mode=local", "dblock.jobs.unlocked=fail")
			.withBean(Jobs.class);
		strict.withUserConfiguration(SchedulerProxy.class).run((context) -> assertThat(context).hasNotFailed());
		strict.withUserConfiguration(WithoutShedLock.class)
			.run((context) -> assertThat(context.getStartupFailure())
				.hasMessageContaining(Jobs.class.getName() + "#nightly: is @Scheduled without a lock"));
	}

	@Test
	void prefixOfTheApplicationAppliesAndBothNamesAreFound() {
		run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			jobs.work(() -> dev.dblock.LockAssert.assertLocked("nightly"));
			jobs.nightly();
			assertThat(jobs.ran()).containsExactly("nightly under shop:nightly");
		}, "dblock.name-prefix=shop:");
	}

	@Test
	void methodFindsALockThatItHasLost() {
		run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			jobs.work(() -> {
				LockHandle lock = LockContext.current().orElseThrow();
				context.getBean(LockTemplate.class).forceReleaseNow("nightly");
				assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::renew);
				assertThat(LockContext.current()).containsSame(lock);
			});
			jobs.nightly();
			assertThat(jobs.ran()).hasSize(1);
			assertThat(LockContext.current()).isEmpty();
		});
	}

	@Test
	void callIsSkippedWhileTheLockIsHeld() {
		run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			try (LockHandle other = context.getBean(LockTemplate.class).acquire("tenant-acme")) {
				assertThat(elsewhere(() -> jobs.report("acme"))).isEmpty();
				assertThat(jobs.report("other")).contains("other");
				other.ensureHeld();
			}
			assertThat(jobs.report("acme")).contains("acme");
			assertThat(jobs.ran()).containsExactly("report other under tenant-other", "report acme under tenant-acme");
		});
	}

	@Test
	void methodsOfBothLibrariesShareTheLockOfAThread() {
		run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			jobs.work(() -> context.getBean(Stock.class).nightly());
			jobs.nightly();
			assertThat(context.getBean(Stock.class).calls()).hasValue(1);
		});
	}

	@Test
	void taskExecutorsLockIsFoundInItsThread() {
		run((context) -> {
			LockingTaskExecutor executor = new DefaultLockingTaskExecutor(context.getBean(LockProvider.class));
			executor.executeWithLock(
					(Runnable) () -> assertThat(LockContext.current()).map(LockHandle::name).contains("task"),
					new LockConfiguration(ClockProvider.now(), "task", Duration.ofMinutes(1), Duration.ZERO));
			assertThat(LockContext.current()).isEmpty();
		});
	}

	@Test
	void plannedTimeRunsOnce() {
		run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			fire(context, PLANNED, jobs::nightly);
			fire(context, PLANNED, jobs::nightly);
			assertThat(jobs.ran()).hasSize(1);
			fire(context, PLANNED.plusSeconds(1), jobs::nightly);
			assertThat(jobs.ran()).hasSize(2);
			jobs.nightly();
			assertThat(jobs.ran()).as("a call by other code is no firing").hasSize(3);
		});
	}

	@Test
	void plannedTimeRunsAgainIfThatIsSwitchedOff() {
		run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			assertThat(context).doesNotHaveBean(JobOperations.class);
			jobs.nightly();
			jobs.nightly();
			assertThat(jobs.ran()).hasSize(2);
		}, "dblock.once-per-planned-time=false");
	}

	@Test
	void jobsOfOneLockHaveRecordsOfTheirOwn() {
		run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			String place = Jobs.class.getName();
			assertThat(context.getBean(JobOperations.class).list()).extracting(JobInfo::id)
				.containsExactlyInAnyOrder("nightly", place + "#first", place + "#second");
			fire(context, PLANNED, jobs::second);
			fire(context, PLANNED, jobs::first);
			assertThat(jobs.ran()).containsExactly("second under shared", "first under shared");
			fire(context, PLANNED.plusSeconds(1), jobs::second);
			assertThat(jobs.ran()).as("lockAtLeastFor of the first").hasSize(2);
		});
	}

	@Test
	void failureIsRecordedInTheRun() {
		run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			jobs.work(() -> {
				throw new IllegalStateException("no paper");
			});
			assertThatIllegalStateException().isThrownBy(() -> fire(context, PLANNED, jobs::nightly));
			JobInfo info = context.getBean(JobOperations.class).find("nightly").orElseThrow();
			assertThat(info.runs()).singleElement().satisfies((run) -> {
				assertThat(run.outcome()).isEqualTo(JobRun.Outcome.FAILED);
				assertThat(run.plannedAt()).isEqualTo(PLANNED);
				assertThat(run.error()).contains("no paper");
			});
		});
	}

	@Test
	void runWhoseMethodIsNotCalledIsRecordedAsFailed() {
		this.application.withUserConfiguration(InnerAdvice.class).run((context) -> {
			assertThat(context).hasNotFailed();
			Jobs jobs = context.getBean(Jobs.class);
			fire(context, PLANNED, jobs::nightly);
			assertThat(jobs.ran()).isEmpty();
			JobInfo info = context.getBean(JobOperations.class).find("nightly").orElseThrow();
			assertThat(info.runs()).singleElement().satisfies((run) -> {
				assertThat(run.outcome()).isEqualTo(JobRun.Outcome.FAILED);
				assertThat(run.error()).contains("The method was not called under its lock");
			});
			fire(context, PLANNED, jobs::first);
			assertThat(context.getBean(JobOperations.class).find(Jobs.class.getName() + "#first").orElseThrow().runs())
				.singleElement()
				.extracting(JobRun::outcome)
				.isEqualTo(JobRun.Outcome.SUCCEEDED);
		});
	}

	@Configuration(proxyBeanMethods = false)
	static class InnerAdvice {

		@Bean
		static MethodInterceptor advice() {
			return (invocation) -> invocation.getMethod().getName().equals("nightly") ? null : invocation.proceed();
		}

		@Bean
		static InnerProxies innerProxies() {
			return new InnerProxies();
		}

	}

	/** Applied before Spring's own creator, so that its proxy is the inner one. */
	@SuppressWarnings("serial")
	static final class InnerProxies extends BeanNameAutoProxyCreator implements PriorityOrdered {

		InnerProxies() {
			setBeanNames("jobs");
			setInterceptorNames("advice");
			setProxyTargetClass(true);
		}

	}

	@Test
	void nestedTaskDoesNotTakeThePlannedTime() {
		run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			LockProvider provider = context.getBean(LockProvider.class);
			jobs.work(() -> {
				assertThat(provider
					.lock(new LockConfiguration(ClockProvider.now(), "inner", Duration.ofMinutes(1), Duration.ZERO)))
					.hasValueSatisfying((lock) -> {
						assertThat(JobRun.of(LockContext.current().orElseThrow())).isEmpty();
						lock.unlock();
					});
				assertThat(JobRun.current()).isPresent();
			});
			fire(context, PLANNED, jobs::nightly);
			assertThat(jobs.ran()).hasSize(1);
		});
	}

	@Test
	void taskInsideAReenteredMethodIsNotTakenForTheMethod() {
		run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			LockProvider provider = context.getBean(LockProvider.class);
			jobs.work(() -> {
				jobs.work(() -> {
					provider
						.lock(new LockConfiguration(ClockProvider.now(), "inner", Duration.ofMinutes(1), Duration.ZERO))
						.orElseThrow()
						.unlock();
					assertThat(info(context, "inner").why()).isNotEqualTo(Jobs.class.getName() + "#nightly");
				});
				jobs.nightly();
			});
			jobs.nightly();
			assertThat(jobs.ran()).hasSize(2);
		});
	}

	@Test
	void methodWithAnotherProviderIsNoJob() {
		this.application.withUserConfiguration(TwoProviders.class).run((context) -> {
			Other other = context.getBean(Other.class);
			Jobs jobs = context.getBean(Jobs.class);
			assertThat(context.getBean(JobOperations.class).ids()).contains("nightly").doesNotContain("other");
			fire(context, PLANNED, other::other);
			fire(context, PLANNED, other::other);
			fire(context, PLANNED, jobs::nightly);
			fire(context, PLANNED, jobs::nightly);
			assertThat(other.calls()).hasValue(2);
			assertThat(jobs.ran()).hasSize(1);
		});
	}

	private void runsOnce(AssertableApplicationContext context, Runnable job, AtomicInteger calls) {
		assertThat(context).hasNotFailed();
		fire(context, PLANNED, job);
		fire(context, PLANNED, job);
		assertThat(calls).hasValue(1);
	}

	@Test
	void beanOfTheProviderCanBeDeclaredAsAnyProvider() {
		this.application.withUserConfiguration(ChangedBean.class, Other.class).run((context) -> {
			Other other = context.getBean(Other.class);
			assertThat(context.getBean(JobOperations.class).ids()).contains("nightly", "other");
			runsOnce(context, other::other, other.calls());
		});
	}

	@Test
	void providerThatIsDeclaredBesideItsJobIsReported(CapturedOutput output) {
		this.application.withUserConfiguration(AllInOne.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean(JobOperations.class).ids()).doesNotContain("one");
			assertThat(output).contains("AllInOne#one excludes other runs, but does not run once per planned time")
				.contains("Declare DblockLockProvider as the type of the bean 'lockProvider'");
		});
	}

	@Test
	void jobBesideItsOldProviderRunsOnceWithBoth() {
		this.application.withUserConfiguration(OldAllInOne.class)
			.withPropertyValues("dblock.shedlock.beside=true")
			.run((context) -> {
				OldAllInOne all = context.getBean(OldAllInOne.class);
				runsOnce(context, all::old, all.calls());
				assertThat(all.requests()).hasValue(1);
			});
	}

	@Test
	void nameOfAProviderIsIgnoredIfThereIsOnlyOne() {
		this.application.withUserConfiguration(Other.class).run((context) -> {
			Other other = context.getBean(Other.class);
			runsOnce(context, other::other, other.calls());
		});
	}

	@Test
	void invalidLockOfAJobFailsTheStart() {
		this.application.withPropertyValues("jobs.shared=" + "x".repeat(2000))
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("Jobs#first")
				.hasMessageContaining("xxx"));
		this.application.withPropertyValues("jobs.at-most=400d")
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("Jobs#second")
				.hasMessageContaining("longer than 365"));
		this.application.withPropertyValues("jobs.at-most=100ms", "dblock.shedlock.keep-alive=true")
			.run((context) -> assertThat(context).getFailure().hasMessageContaining("too short to be renewed"));
		this.application.withPropertyValues("jobs.at-most=10s", "jobs.at-least=20s")
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("lockAtLeastFor is longer than lockAtMostFor"));
	}

	@Test
	void methodWithBothAnnotationsFailsTheStart() {
		this.application.withUserConfiguration(Both.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("Both#same has @SchedulerLock and @DistributedLock"));
	}

	static class Purge {

		@Scheduled(cron = "0 0 0 29 2 *")
		void run() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class WithoutShedLock {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	@EnableSchedulerLock(defaultLockAtMostFor = "10m", interceptMode = InterceptMode.PROXY_SCHEDULER)
	@SuppressWarnings("removal")
	static class SchedulerProxy {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	@EnableSchedulerLock(defaultLockAtMostFor = "10m")
	static class Application {

		@Bean
		Jobs jobs() {
			return new Jobs();
		}

		@Bean
		Stock stock() {
			return new Stock();
		}

	}

	static class Stock {

		private final AtomicInteger calls = new AtomicInteger();

		public AtomicInteger calls() {
			return this.calls;
		}

		@DistributedLock(name = "nightly")
		public void nightly() {
			this.calls.incrementAndGet();
		}

	}

	static class Other {

		private final AtomicInteger calls = new AtomicInteger();

		public AtomicInteger calls() {
			return this.calls;
		}

		@Scheduled(cron = "0 0 0 1 1 *")
		@SchedulerLock(name = "other")
		@LockProviderToUse("free")
		public void other() {
			this.calls.incrementAndGet();
		}

	}

	static class Both {

		@Scheduled(cron = "0 0 0 1 1 *")
		@SchedulerLock(name = "same")
		@DistributedLock(name = "same")
		void same() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ChangedBean {

		@Bean
		LockProvider lockProvider(LockTemplate template) {
			return new DblockLockProvider(template);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class AllInOne {

		@Bean
		LockProvider lockProvider(LockTemplate template) {
			return new DblockLockProvider(template);
		}

		@Scheduled(cron = "0 0 0 1 1 *")
		@SchedulerLock(name = "one")
		void one() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OldAllInOne {

		private final AtomicInteger requests = new AtomicInteger();

		private final AtomicInteger calls = new AtomicInteger();

		AtomicInteger requests() {
			return this.requests;
		}

		AtomicInteger calls() {
			return this.calls;
		}

		@Bean
		LockProvider lockProvider() {
			return (configuration) -> {
				this.requests.incrementAndGet();
				return Optional.of(() -> {
				});
			};
		}

		@Scheduled(cron = "0 0 0 1 1 *")
		@SchedulerLock(name = "old")
		void old() {
			this.calls.incrementAndGet();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoProviders {

		@Bean
		Other other() {
			return new Other();
		}

		@Bean
		LockProvider free() {
			return (configuration) -> Optional.of(() -> {
			});
		}

		@Bean
		@Primary
		DblockLockProvider dblock(LockTemplate template) {
			return new DblockLockProvider(template);
		}

	}

}
