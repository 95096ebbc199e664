package dev.dblock.job.schedule;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.dblock.DistributedLock;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.LockTemplates;
import dev.dblock.LockUnavailableException;
import dev.dblock.WhenUnavailable;
import dev.dblock.annotation.DistributedLockAdvisor;
import dev.dblock.autoconfigure.DblockAopAutoConfiguration;
import dev.dblock.autoconfigure.DblockJobsAutoConfiguration;
import dev.dblock.engine.LockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobInfo;
import dev.dblock.job.JobInfo.JobStatus;
import dev.dblock.job.JobOperations;
import dev.dblock.job.JobOperations.ManualRun;
import dev.dblock.job.JobPolicy;
import dev.dblock.job.JobPolicy.WhenClockChanges;
import dev.dblock.job.JobPolicy.WhenCrashed;
import dev.dblock.job.JobPolicy.WhenMissed;
import dev.dblock.job.JobRefusal.Reason;
import dev.dblock.job.JobRun;
import dev.dblock.settings.LockSettings;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.ProxyConfig;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.BeanNameAware;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.scheduling.config.CronTask;
import org.springframework.scheduling.config.ScheduledTaskRegistrar;
import org.springframework.scheduling.support.PeriodicTrigger;
import org.springframework.scheduling.support.ScheduledMethodRunnable;
import org.springframework.test.util.AopTestUtils;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * Tests for the checks that fail start-up, and for the results that the scheduler and
 * other callers get for a refused job.
 */
@ExtendWith(OutputCaptureExtension.class)
class JobChecksTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class, AopAutoConfiguration.class,
				TaskSchedulingAutoConfiguration.class, DblockAopAutoConfiguration.class,
				DblockJobsAutoConfiguration.class))
		.withPropertyValues("spring.task.scheduling.pool.size=4")
		.withBean(JobEngine.class)
		.withBean(DefaultLockTemplate.class)
		.withUserConfiguration(Scheduling.class);

	private static ApplicationContextRunner contextWith(JobEngine engine) {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, TaskSchedulingAutoConfiguration.class,
					DblockAopAutoConfiguration.class, DblockJobsAutoConfiguration.class))
			.withBean("engine", JobEngine.class, () -> engine)
			.withBean(DefaultLockTemplate.class)
			.withUserConfiguration(Scheduling.class);
	}

	@Test
	void schedulerThatIsSetLaterStopsTheStart() {
		this.contextRunner.withBean(Job.class)
			.withInitializer((context) -> context.getBeanFactory()
				.registerSingleton("late", (SchedulingConfigurer) (registrar) -> {
					ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
					scheduler.initialize();
					registrar.setTaskScheduler(scheduler);
				}))
			.run((context) -> assertFails(context, "#run(): its planned time cannot be captured",
					"was replaced by " + ThreadPoolTaskScheduler.class.getName(),
					"dblock.once-per-planned-time=false"));
	}

	@Test
	void taskOfAnotherRegistrarStopsTheStart() {
		this.contextRunner.withBean(Job.class)
			.withUserConfiguration(OwnRegistrar.class)
			.run((context) -> assertFails(context, "#run(): its planned time cannot be captured",
					"it was not scheduled by the ScheduledTaskRegistrar of @EnableScheduling"));
	}

	@Test
	void twoJobsWithOneIdStopTheStart() {
		this.contextRunner.withBean("one", Job.class)
			.withBean("two", Job.class)
			.withBean(SameLock.class)
			.run((context) -> assertFails(context,
					"bean 'one', %1$s$Job#run() and bean 'two', %1$s$Job#run()".formatted(getClass().getName()),
					"are different jobs with the same id 'job'", "@JobPolicy(id = …)"));
	}

	@Test
	void twoJobsWithOneLockAndTwoIdsStart() {
		this.contextRunner.withBean(Job.class).withBean(OtherId.class).run((context) -> {
			assertThat(context).hasNotFailed();
			JobEngine engine = context.getBean(JobEngine.class);
			await().atMost(LONG)
				.untilAsserted(() -> assertThat(engine.firings("job")).extracting(JobFiring::jobId)
					.contains("other", (String) null));
		});
	}

	@Test
	void policyOfAMethodThatIsNoJobStopsTheStart() {
		String unused = ", so the policy has no effect; add it, or remove the policy";
		this.contextRunner.withBean("bean", WithoutEffect.class)
			.run((context) -> assertFails(context,
					"bean 'bean', %s$WithoutEffect#unscheduled(): has @JobPolicy, but no @Scheduled%s"
						.formatted(getClass().getName(), unused),
					"$WithoutEffect#unlocked(): has @JobPolicy, but no @DistributedLock" + unused,
					"$WithoutEffect#neither(): has @JobPolicy, but no @Scheduled" + unused,
					"$WithoutEffect#composed(): has @JobPolicy, but no @DistributedLock" + unused,
					"$WithoutEffect#parameter(String): has @JobPolicy, but no @Scheduled" + unused,
					"$WithoutEffect#hidden(): has @JobPolicy, but no @Scheduled" + unused));
		this.contextRunner
			.withBean("later", WithoutEffect.class, WithoutEffect::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> assertFails(context, "bean 'later', ",
					"#unscheduled(): has @JobPolicy, but no @Scheduled"));
		this.contextRunner.withBean(OnClass.class)
			.run((context) -> assertFails(context, "$OnClass: has @JobPolicy on the class, where it has no effect"));
		this.contextRunner.withBean(UnlockedImplementation.class)
			.run((context) -> assertFails(context,
					"$UnlockedImplementation#run(): has @JobPolicy, but no @DistributedLock" + unused));
	}

	@Test
	void policyOfAJobStartsHoweverItIsDeclared() {
		this.contextRunner.withBean(Composed.class)
			.withBean(LockedClass.class)
			.withBean(LockedImplementation.class)
			.withBean(UnscheduledOverride.class)
			.withBean(ByConfigurer.class)
			.withBean("mock", WithoutEffect.class, () -> mock(WithoutEffect.class))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(JobOperations.class).ids()).contains("composed", "locked-class",
						"locked-implementation", "by-configurer");
			});
	}

	@Test
	void policyIsNotCheckedIfNothingIsScheduledOrPlannedTimesAreOff() {
		this.contextRunner.withPropertyValues("dblock.once-per-planned-time=false")
			.withBean(WithoutEffect.class)
			.run((context) -> assertThat(context).hasNotFailed());
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, DblockAopAutoConfiguration.class,
					DblockJobsAutoConfiguration.class))
			.withBean(JobEngine.class)
			.withBean(DefaultLockTemplate.class)
			.withBean(ByConfigurer.class)
			.run((context) -> assertThat(context).as("another instance may schedule it").hasNotFailed());
	}

	@Test
	void settingsForNoJobAreReported(CapturedOutput output) {
		this.contextRunner.withBean(Job.class)
			.withBean(OtherId.class)
			.withPropertyValues("dblock.jobs.job.start-within=5m", "dblock.jobs.other.start-within=5m",
					"dblock.jobs.jbo.start-within=5m")
			.run((context) -> assertThat(output)
				.contains("dblock.jobs has settings for ids that no job of this application context has: jbo."));
	}

	@Test
	void timesThatTheClocksOmitOrRepeatAreReportedOrPlannedOnce(CapturedOutput output) {
		ZoneOffsetTransition gap = nextGapInBerlin();
		LocalDate day = gap.getDateTimeBefore().toLocalDate();
		this.contextRunner.withBean(InTheGap.class)
			.withPropertyValues("gap.cron=0 30 2 %d %d *".formatted(day.getDayOfMonth(), day.getMonthValue()),
					"dblock.jobs.by-property.when-clock-changes=once")
			.run((context) -> {
				JobOperations jobs = context.getBean(JobOperations.class);
				Function<String, @Nullable Instant> next = (
						id) -> jobs.find(id).orElseThrow().schedules().get(0).next();
				assertThat(next.apply("once")).isEqualTo(gap.getInstant());
				assertThat(next.apply("by-property")).isEqualTo(gap.getInstant());
				assertThat(next.apply("as-planned")).isAfter(gap.getInstant());
				assertThat(output.getAll().lines().filter((line) -> line.contains("When the clocks change")))
					.singleElement()
					.asString()
					.contains("WARN", "'as-planned'", "cron 0 30 2 ", "in Europe/Berlin",
							"does not run at the omitted time on " + day, "whenClockChanges = ONCE");
			});
	}

	@Test
	void eachScheduleIsShownInItsOwnTimeZone() {
		this.contextRunner.withBean(InSeveralZones.class)
			.run((context) -> assertThat(context.getBean(JobOperations.class).find("zones").orElseThrow().schedules())
				.extracting(JobInfo.Schedule::description)
				.containsExactlyInAnyOrder("cron 0 0 0 * * * in Europe/Berlin", "cron 0 0 0 * * * in Asia/Tokyo",
						"cron 0 0 1 * * * in " + ZoneId.systemDefault()));
	}

	private static ZoneOffsetTransition nextGapInBerlin() {
		ZoneRules rules = ZoneId.of("Europe/Berlin").getRules();
		ZoneOffsetTransition next = rules.nextTransition(Instant.now());
		return next.isGap() ? next : rules.nextTransition(next.getInstant());
	}

	@Test
	void minimumHoldLongerThanThePeriodStopsTheStart() {
		this.contextRunner.withBean(LongHold.class)
			.run((context) -> assertFails(context,
					"$LongHold#rate(): its minimum hold of 2s is longer than the 1s between two planned times",
					"$LongHold#cron(): its minimum hold of 2s is longer than the 1s between two planned times"));
	}

	@Test
	void fixedDelayMayHaveALongerMinimumHoldAndWait() {
		this.contextRunner.withBean(LongDelay.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void defaultsOfAllLocksAreNoContradiction() {
		JobEngine engine = new JobEngine() {

			@Override
			public LockOptions complete(String name, LockOptions options) {
				return options.waitUpTo(Duration.ofSeconds(30)).minHold(Duration.ofSeconds(30));
			}

		};
		contextWith(engine).withBean(Job.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void twoConditionalLocksStopTheStart() {
		this.contextRunner.withBean(ConditionalLocks.class)
			.run((context) -> assertFails(context, "a planned time needs a lock of its own"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "frozen", "opaque" })
	void proxyThatCarriesNothingStopsTheStart(String property) {
		this.contextRunner.withBean(Job.class)
			.withBean("proxies", BeanFactoryPostProcessor.class,
					() -> (factory) -> factory.getBeanDefinition(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME)
						.getPropertyValues()
						.add(property, true))
			.run((context) -> assertFails(context, ".run: its planned time cannot be captured",
					"frozen, opaque or hidden by a wrapper"));
	}

	@Test
	void jobInACircularReferenceStopsTheStart() {
		this.contextRunner.withAllowCircularReferences(true)
			.withBean(CircularJob.class)
			.withBean(CircularJobClient.class)
			.run((context) -> assertFails(context, "CircularJob.run: would run without its lock",
					"remove the circular reference, for example by @Lazy"));
	}

	static class CircularJob {

		@Autowired
		CircularJobClient client;

		@Scheduled(cron = "0 0 2 * * *")
		@DistributedLock("circular")
		public void run() {
		}

	}

	static class CircularJobClient {

		@Autowired
		CircularJob job;

	}

	@Test
	void childContextThatReliesOnItsParentDoesNotStart() {
		this.contextRunner.run((parent) -> new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, TaskSchedulingAutoConfiguration.class))
			.withUserConfiguration(Scheduling.class)
			.withBean(Job.class)
			.withParent(parent)
			.run((child) -> assertFails(child, ".run: its planned time cannot be captured",
					"a context without the auto-configuration of dblock")));
	}

	@Test
	void childContextCanSwitchPlannedTimesOff() {
		this.contextRunner.run((parent) -> new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, TaskSchedulingAutoConfiguration.class))
			.withPropertyValues("dblock.once-per-planned-time=false")
			.withUserConfiguration(Scheduling.class)
			.withBean(Job.class)
			.withParent(parent)
			.run((child) -> assertThat(child).hasNotFailed()));
	}

	@Test
	void jobsOfTheParentAreNoConcernOfTheChild() {
		this.contextRunner.withBean(Job.class)
			.run((parent) -> this.contextRunner.withBean("another", Job.class)
				.withParent(parent)
				.run((child) -> assertThat(child).hasNotFailed()));
	}

	@Test
	void jobOfTheParentWithTheSameEngineStopsTheStartOfTheChild() {
		this.contextRunner.withBean(Job.class).run((parent) -> {
			ApplicationContextRunner children = new ApplicationContextRunner()
				.withConfiguration(
						AutoConfigurations.of(AopAutoConfiguration.class, TaskSchedulingAutoConfiguration.class,
								DblockAopAutoConfiguration.class, DblockJobsAutoConfiguration.class))
				.withUserConfiguration(Scheduling.class)
				.withParent(parent);
			children.withBean("another", SameLock.class)
				.run((child) -> assertFails(child, "bean 'another', ", "$Job#run() of another application context",
						"are different jobs with the same id 'job'"));
			children.withBean("sibling", OtherId.class).run((sibling) -> {
				assertThat(sibling).hasNotFailed();
				children.withBean("another", OtherId.class)
					.run((child) -> assertFails(child, "bean 'sibling', ", "with the same id 'other'"));
			});
			children.withBean("again", OtherId.class)
				.run((child) -> assertThat(child).as("the sibling is closed").hasNotFailed());
		});
	}

	@Test
	void childThatIsStartedBeforeTheJobsAreScheduledDisturbsNothing() {
		this.contextRunner.withBean(Job.class)
			.withBean(ChildStarter.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void beanThatIsCreatedLaterIsChecked() {
		this.contextRunner.withBean(Job.class)
			.withBean("lazy", LongHold.class, LongHold::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> {
				assertNotCreated(context, LongHold.class, "is longer than the 1s between two planned times");
				((GenericApplicationContext) context.getSourceApplicationContext()).registerBean(SameLock.class);
				assertNotCreated(context, SameLock.class, "are different jobs with the same id 'job'");
				((GenericApplicationContext) context.getSourceApplicationContext()).registerBean(SeveralLocks.class);
				assertNotCreated(context, SeveralLocks.class, "a planned time needs a lock of its own");
			});
	}

	@Test
	void lateBeanWithoutAProxyIsNotCreated() {
		this.contextRunner.withBean("late", Job.class, Job::new, (definition) -> definition.setScope("prototype"))
			.run((context) -> {
				context.getBean(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME, ProxyConfig.class).setOpaque(true);
				assertNotCreated(context, Job.class, ".run: its planned time cannot be captured");
			});
	}

	private static void assertNotCreated(ApplicationContext context, Class<?> type, String message) {
		assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> context.getBean(type))
			.withRootCauseInstanceOf(InvalidJobException.class)
			.havingRootCause()
			.withMessageContaining(message);
	}

	@Test
	void jobsOfTwoDatabasesHaveTwoClocks() {
		JobEngine first = new JobEngine();
		first.answer("first", (name, firing) -> new LockEngine.Refused(
				JobEngine.refused(name, Reason.DONE, null, null, Instant.now().plus(Duration.ofHours(5)))));
		JobEngine second = new JobEngine();
		second.answer("second", (name, firing) -> {
			throw new QueryTimeoutException("away");
		});
		LockTemplates templates = mock(LockTemplates.class);
		given(templates.on("second")).willReturn(new DefaultLockTemplate(second));
		contextWith(first).withBean(LockTemplates.class, () -> templates)
			.withBean(TwoDatabases.class)
			.run((context) -> {
				await().atMost(LONG).until(() -> first.planned("first").size() >= 4);
				await().atMost(LONG).until(() -> Set.copyOf(second.planned("second")).size() >= 4);
				Instant soon = Instant.now().plus(Duration.ofHours(1));
				assertThat(second.planned("second")).allMatch((planned) -> planned.isBefore(soon));
				assertThat(first.planned("first").get(3)).isAfter(soon);
			});
	}

	@Test
	void methodThatIsNotCapturedIsSkippedAsAlways() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, DblockAopAutoConfiguration.class,
					DblockJobsAutoConfiguration.class))
			.withBean(JobEngine.class)
			.withBean(DefaultLockTemplate.class)
			.withBean(Job.class)
			.run((context) -> {
				context.getBean(JobEngine.class)
					.answer("job",
							(name, firing) -> new LockEngine.Refused(new LockRefusal(name, null, Duration.ZERO)));
				context.getBean(Job.class).run();
			});
	}

	@Test
	void instancesOfAScopedBeanAreOneJob() {
		this.contextRunner.withBean("scoped", Job.class, Job::new, (definition) -> definition.setScope("prototype"))
			.run((context) -> {
				Job job = context.getBean(Job.class);
				context.getBean(Job.class);
				context.getBean(Job.class);
				Runnable task = new ScheduledMethodRunnable(job, ReflectionUtils.findMethod(job.getClass(), "run"));
				assertThat(context.getBean(ScheduledJobs.class).of(task)).hasSize(1);
				JobEngine engine = context.getBean(JobEngine.class);
				await().atMost(LONG).until(() -> engine.firings("job").size() >= 6);
				assertThat(engine.asked("job")).extracting(JobEngine.Asked::firing).doesNotContainNull();
			});
	}

	@Test
	void methodsThatNoSchedulerCallsAreIgnored() {
		this.contextRunner.withBean(PlainMethod.class)
			.run((context) -> assertThat(((Advised) context.getBean(PlainMethod.class)).getAdvisors())
				.hasOnlyElementsOfType(DistributedLockAdvisor.class));
	}

	@Test
	void mockedEngineStarts() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, DblockAopAutoConfiguration.class,
					DblockJobsAutoConfiguration.class))
			.withBean(LockEngine.class, () -> mock(LockEngine.class))
			.withBean(DefaultLockTemplate.class)
			.withBean(PlainMethod.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	@Timeout(300)
	void shutdownDoesNotWaitForTheNextPlannedTime() {
		this.contextRunner
			.withPropertyValues("spring.task.scheduling.shutdown.await-termination=true",
					"spring.task.scheduling.shutdown.await-termination-period=1h")
			.withBean(HourlyJob.class)
			.run((context) -> {
				JobEngine engine = context.getBean(JobEngine.class);
				await().atMost(LONG).until(() -> engine.firings("rate").size() + engine.firings("delay").size() == 2);
			});
	}

	@Test
	void waitLongerThanThePeriodStopsTheStart() {
		this.contextRunner.withBean(LongWait.class)
			.run((context) -> assertFails(context, "$LongWait#rate(): it waits up to 3s for its lock, which is longer"
					+ " than the 2s between two planned times"));
	}

	@Test
	void permitsStopTheStart() {
		this.contextRunner.withBean(Permits.class)
			.run((context) -> assertFails(context, "$Permits#run(): a planned time runs once, but the lock has permits,"
					+ " by its declaration or dblock.locks; remove them, or declare them on a method that this one"
					+ " calls"));
	}

	@Test
	void permitsOfTheSettingsStopTheStart() {
		JobEngine engine = new JobEngine() {

			@Override
			public Optional<LockSettings.Setting> setting(String name) {
				return Optional.of(new LockSettings.Setting(LockOptions.defaults().permits(1), null));
			}

		};
		contextWith(engine).withBean(Job.class)
			.run((context) -> assertFails(context, "a planned time runs once, but the lock has permits"));
	}

	@Test
	void permitsOfMethodsThatAreNotCapturedDoNotStopTheStart() {
		this.contextRunner.withBean(Permits.class)
			.withPropertyValues("dblock.once-per-planned-time=false")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void severalLocksStopTheStart() {
		this.contextRunner.withBean(SeveralLocks.class)
			.run((context) -> assertFails(context, "a planned time needs a lock of its own"));
	}

	@Test
	void nothingIsCheckedWhereNothingIsScheduled() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, DblockAopAutoConfiguration.class,
					DblockJobsAutoConfiguration.class))
			.withBean(JobEngine.class)
			.withBean(DefaultLockTemplate.class)
			.withBean(LongHold.class)
			.withBean(SeveralLocks.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void policyAndPropertiesSayWhatHappensToACrashedRun() {
		this.contextRunner.withBean(Policies.class)
			.withPropertyValues("policy.id=from-property", "dblock.once-per-planned-time=true",
					"dblock.jobs.by-property.when-crashed=rerun", "dblock.jobs.overridden.when-crashed=skip")
			.run((context) -> {
				JobEngine engine = context.getBean(JobEngine.class);
				assertRerun(engine, "by-policy", "from-property", true);
				assertRerun(engine, "by-property", null, true);
				assertRerun(engine, "overridden", null, false);
				assertRerun(engine, "unset", null, false);
			});
	}

	@Test
	void anotherLiteralIdOfAMethodMattersWithinAnApplication() {
		ApplicationContextRunner runner = this.contextRunner.withBean("renamed", Renamed.class)
			.withPropertyValues("policy.id=x");
		runner.withPropertyValues("spring.application.name=shop").run((context) -> {
			assertThat(methodOf(context, "unnamed")).isEqualTo("shop/renamed#unnamed");
			assertThat(methodOf(context, "named")).isEqualTo("shop/renamed#named");
			assertThat(methodOf(context, "byProperty")).isNull();
			assertThat(methodOf(context, "byExpression")).isNull();
		});
		runner.run((context) -> assertThat(methodOf(context, "named")).as("of any application").isNull());
	}

	private static String methodOf(AssertableApplicationContext context, String method) {
		return declaration(context, context.getBean(Renamed.class), method).method();
	}

	private static JobMethod.Declaration declaration(AssertableApplicationContext context, Object bean, String method) {
		Runnable task = new ScheduledMethodRunnable(bean, ReflectionUtils.findMethod(bean.getClass(), method));
		Collection<JobMethod> methods = context.getBean(ScheduledJobs.class).of(task);
		assertThat(methods).hasSize(1);
		return methods.iterator().next().declaration();
	}

	@Test
	void propertiesSayWhatHappensToMissedPlannedTimes() {
		this.contextRunner.withBean(Missed.class)
			.withPropertyValues("missed.start-within=90m", "dblock.jobs.by-property.when-missed=run",
					"dblock.jobs.by-property.start-within=5m")
			.run((context) -> {
				assertMissed(context, "byPolicy", true, Duration.ofMinutes(90));
				assertMissed(context, "byProperty", true, Duration.ofMinutes(5));
				assertMissed(context, "unset", false, Duration.ofHours(1));
			});
	}

	private static void assertMissed(AssertableApplicationContext context, String method, boolean run,
			Duration startWithin) {
		JobMethod.Declaration declaration = declaration(context, context.getBean(Missed.class), method);
		assertThat(declaration.runMissed()).isEqualTo(run);
		assertThat(declaration.startWithin()).isEqualTo(startWithin);
	}

	@ParameterizedTest
	@ValueSource(strings = { "0s", "-1m", "PT8760000H" })
	void startWithinThatCannotBeStopsTheStart(String startWithin) {
		this.contextRunner.withBean(Job.class)
			.withPropertyValues("dblock.jobs.job.start-within=" + startWithin)
			.run((context) -> assertFails(context, "$Job#run(): its startWithin is ",
					"must be between one millisecond and 292 years"));
	}

	@Test
	void startWithinThatIsGivenTwiceStopsTheStart() {
		this.contextRunner.withBean(StartWithinTwice.class)
			.run((context) -> assertFails(context, "both startWithinSeconds and startWithinString are set"));
	}

	@Test
	void missedPlannedTimesOfALockWithoutANameStopTheStart() {
		this.contextRunner.withBean(MissedOfUnknownLock.class)
			.run((context) -> assertFails(context, "whenMissed = RUN needs the run record at startup",
					"give the lock a name without expressions"));
	}

	@Test
	void beansBehindOneMethodOfAnInterfaceAreJobsOfTheirOwn() {
		this.contextRunner.withPropertyValues("spring.aop.proxy-target-class=false")
			.withBean(FirstOfSeveral.class)
			.withBean(SecondOfSeveral.class)
			.run((context) -> {
				JobOperations operations = context.getBean(JobOperations.class);
				assertThat(operations.list()).extracting(JobInfo::id).containsExactly("first", "second");
				assertThat(operations.runNow("first").outcome()).isEqualTo(ManualRun.Outcome.STARTED);
				JobEngine engine = context.getBean(JobEngine.class);
				assertThat(engine.asked("first")).hasSize(1);
				assertThat(engine.asked("second")).isEmpty();
			});
	}

	@Test
	void missedPlannedTimesOfSeveralBeansThatATaskDoesNotShowStopTheStart() {
		this.contextRunner.withPropertyValues("spring.aop.proxy-target-class=false")
			.withBean("configurer", SchedulingConfigurer.class,
					() -> (registrar) -> registrar.addCronTask(new Hidden(), "0 0 2 1 1 *"))
			.withBean(FirstOfSeveral.class)
			.withBean(SecondOfSeveral.class)
			.run((context) -> assertFails(context, FirstOfSeveral.class.getName(),
					"whenMissed = RUN needs the run record at startup",
					"several beans as " + OneMethod.class.getName()));
	}

	@Test
	void beansThatInheritAMethodAreJobsWithIdsAndSchedulesOfTheirOwn() {
		this.contextRunner.withBean("north", NorthImport.class).withBean("south", SouthImport.class).run((context) -> {
			JobOperations operations = context.getBean(JobOperations.class);
			assertThat(operations.list()).extracting(JobInfo::id).containsExactly("north-import", "south-import");
			assertThat(operations.find("south-import").orElseThrow().schedules()).hasSize(1);
			assertThat(operations.runNow("south-import").outcome()).isEqualTo(ManualRun.Outcome.STARTED);
			Import south = AopTestUtils.getTargetObject(context.getBean(SouthImport.class));
			Import north = AopTestUtils.getTargetObject(context.getBean(NorthImport.class));
			await().atMost(LONG).until(() -> !south.ran.isEmpty());
			assertThat(north.ran).isEmpty();
		});
	}

	@Test
	void idThatCannotBeEvaluatedStopsTheStart() {
		this.contextRunner.withBean("wrong", WrongId.class)
			.run((context) -> assertFails(context, "bean 'wrong'", "has the expression '#{beanNam}-import'",
					"cannot be evaluated"));
	}

	@Test
	void differentExpressionsThatGiveOneNameAreRefusedAtTheCall(CapturedOutput output) {
		this.contextRunner.withBean(OneNameByExpressions.class).run((context) -> {
			OneNameByExpressions jobs = AopTestUtils.getTargetObject(context.getBean(OneNameByExpressions.class));
			await().atMost(LONG)
				.untilAsserted(() -> assertThat(output).contains("are different jobs whose locks are both 'stock'"));
			context.close();
			assertThat(jobs.ran).hasSizeLessThanOrEqualTo(1);
		});
	}

	@Test
	void lambdaThatCallsALockedMethodIsReported(CapturedOutput output) {
		this.contextRunner.withBean(Unscheduled.class)
			.withBean("configurer", SchedulingConfigurer.class, () -> (registrar) -> {
				registrar.addFixedRateTask(() -> {
				}, Duration.ofMillis(50));
			})
			.withUserConfiguration(ByLambda.class)
			.run((context) -> {
				await().atMost(LONG)
					.untilAsserted(() -> assertThat(output).contains(
							Unscheduled.class.getName() + "#run, whose lock does" + " not know the planned time",
							"Add new ScheduledMethodRunnable(bean, method)"));
				JobEngine engine = context.getBean(JobEngine.class);
				await().atMost(LONG).until(() -> engine.asked("unscheduled").size() > 2);
				assertThat(output.toString().split("does not know the planned time", -1)).hasSize(2);
			});
	}

	@Test
	void beanThatIsCreatedLaterCatchesUp() {
		Instant last = Instant.now().minus(Duration.ofDays(3));
		JobEngine engine = new JobEngine(new JobEngine.JobRecords() {
			@Override
			public Optional<JobStatus> find(String lock, String jobId, @Nullable Duration limit) {
				JobRun run = JobEngine.run("first", daily(last), last);
				return Optional.of(new JobStatus(lock, List.of(run), false, null, null, null, null, Instant.now()));
			}
		});
		contextWith(engine)
			.withBean("late", CatchingUp.class, CatchingUp::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> {
				assertThat(engine.asked("first")).isEmpty();
				context.getBean(CatchingUp.class);
				await().atMost(LONG).until(() -> !engine.firings("first").isEmpty());
				assertThat(engine.planned("first").get(0)).isBefore(Instant.now()).isAfter(last);
			});
	}

	private static Instant daily(Instant at) {
		return at.truncatedTo(ChronoUnit.DAYS).plus(Duration.ofHours(2));
	}

	@Test
	void manualRunReportsWhatBecameOfIt(CapturedOutput output) {
		JobEngine engine = new JobEngine();
		engine.answer("refused", (name, firing) -> new LockEngine.Refused(new LockRefusal(name, null, Duration.ZERO)));
		engine.answer("later", (name, firing) -> {
			throw new QueryTimeoutException("away");
		});
		engine.answer("failing", (name, firing) -> {
			throw new QueryTimeoutException("away");
		});
		contextWith(engine).withBean(ByHand.class).run((context) -> {
			JobOperations operations = context.getBean(JobOperations.class);
			ByHand jobs = AopTestUtils.getTargetObject(context.getBean(ByHand.class));
			ManualRun unlocked = operations.runNow("unlocked");
			assertThat(unlocked.outcome()).isEqualTo(ManualRun.Outcome.STARTED);
			assertThat(unlocked.description()).contains("without its lock");
			await().atMost(LONG).until(() -> jobs.ran.contains("unlocked"));
			assertThat(operations.runNow("granted").outcome()).isEqualTo(ManualRun.Outcome.STARTED);
			assertThat(operations.runNow("failing").outcome()).isEqualTo(ManualRun.Outcome.FAILED);
			assertThat(operations.runNow("later").outcome()).isEqualTo(ManualRun.Outcome.FAILED);
			await().atMost(LONG)
				.untilAsserted(() -> assertThat(output).contains("error occurred in scheduled task",
						"error occurred in scheduled reactive task"));
			assertThat(operations.runNow("refused").outcome()).isEqualTo(ManualRun.Outcome.REFUSED);
			assertThat(operations.runNow("broken").outcome()).isEqualTo(ManualRun.Outcome.STARTED);
			// Logged by another thread, otherwise during the next test
			await().atMost(LONG).untilAsserted(() -> assertThat(output).contains("no sequence"));
			context.close();
			assertThat(jobs.ran).containsExactlyInAnyOrder("unlocked", "granted");
		});
	}

	@Test
	void storeThatCannotBeAskedIsAskedAgain(CapturedOutput output) {
		JobEngine engine = new JobEngine();
		List<String> names = List.of("cron", "mono", "future", "rate", "primitive");
		names.forEach((each) -> engine.answer(each, (name, firing) -> {
			if (engine.firings(name).size() < 4) {
				throw new QueryTimeoutException("away");
			}
			return JobEngine.granted(name, firing);
		}));
		contextWith(engine).withBean(Unanswered.class).run((context) -> {
			Unanswered job = context.getBean(Unanswered.class);
			await().atMost(LONG).untilAsserted(() -> assertThat(job.ran()).containsAll(names));
			for (String name : names) {
				assertThat(output).containsOnlyOnce("for the lock of the job '" + name + "' failed.");
			}
			for (String name : names.subList(1, names.size())) {
				assertThat(engine.firings(name)).extracting(JobFiring::id)
					.as(name)
					.hasSize(4)
					.containsOnly(engine.firings(name).get(0).id());
			}
			assertThatExceptionOfType(QueryTimeoutException.class).isThrownBy(() -> {
				engine.answer("rate", (name, firing) -> {
					throw new QueryTimeoutException("away");
				});
				job.rate();
			});
		});
		assertThat(output).doesNotContain("Unexpected error");
	}

	private static void assertRerun(JobEngine engine, String name, String id, boolean rerun) {
		await().atMost(LONG).until(() -> !engine.firings(name).isEmpty());
		assertThat(engine.firings(name).get(0).jobId()).isEqualTo(id);
		assertThat(engine.firings(name).get(0).rerun()).isEqualTo(rerun);
	}

	@Test
	void aSettledFiringReturnsQuietly(CapturedOutput output) {
		JobEngine engine = new JobEngine();
		for (Reason reason : new Reason[] { Reason.DONE, Reason.NOT_DUE, Reason.PAUSED, Reason.RUNNING }) {
			engine.answer(reason.name(), (name,
					firing) -> new LockEngine.Refused(JobEngine.refused(name, reason, null, null, Instant.now())));
		}
		contextWith(engine).withBean(Settled.class).run((context) -> {
			for (Reason reason : new Reason[] { Reason.DONE, Reason.NOT_DUE, Reason.PAUSED, Reason.RUNNING }) {
				await().atMost(LONG).until(() -> engine.firings(reason.name()).size() >= 2);
			}
			assertThat(context.getBean(Settled.class).runs()).isZero();
		});
		assertThat(output).doesNotContain("Skipped").doesNotContain("Exception").doesNotContain("ERROR");
	}

	@Test
	void aSettledFiringIsLoggedAtDebug(CapturedOutput output) {
		Logger logger = (Logger) LoggerFactory.getLogger("dev.dblock.annotation");
		logger.setLevel(Level.DEBUG);
		try {
			this.contextRunner.withBean(Job.class).run((context) -> {
				context.getBean(JobEngine.class)
					.answer("job", (name, firing) -> new LockEngine.Refused(
							JobEngine.refused(name, Reason.RUNNING, null, null, Instant.now())));
				await().atMost(LONG)
					.untilAsserted(() -> assertThat(output)
						.containsPattern("DEBUG.*Skipped JobChecksTests.Job#run \\(lock 'job'\\): running"));
			});
		}
		finally {
			logger.setLevel(null);
		}
	}

	@Test
	void otherLocksAreSkippedForTheSchedulerAndThrownForOtherCode(CapturedOutput output) {
		this.contextRunner.withBean(Job.class).run((context) -> {
			JobEngine engine = context.getBean(JobEngine.class);
			engine.answer("job", (name, firing) -> new LockEngine.Refused(new LockRefusal(name, null, Duration.ZERO)));
			int before = engine.firings("job").size();
			await().atMost(LONG).until(() -> engine.firings("job").size() > before + 1);
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> context.getBean(Job.class).run());
		});
		assertThat(output).contains("Skipped JobChecksTests.Job#run").doesNotContain("Unexpected error");
	}

	@Test
	void otherCodeIsSkippedWhereThatIsDeclared() {
		this.contextRunner.withBean(DeclaredSkip.class).run((context) -> {
			JobEngine engine = context.getBean(JobEngine.class);
			engine.answer("declared",
					(name, firing) -> new LockEngine.Refused(new LockRefusal(name, null, Duration.ZERO)));
			context.getBean(DeclaredSkip.class).run();
			assertThat(engine.asked("declared")).extracting(JobEngine.Asked::firing).containsNull();
		});
	}

	private static void assertFails(AssertableApplicationContext context, String... message) {
		assertThat(context).hasFailed();
		assertThat(context.getStartupFailure()).isInstanceOf(InvalidJobException.class)
			.hasMessageContainingAll(message);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class Scheduling {

	}

	static class Job {

		@Scheduled(fixedRate = 100)
		@DistributedLock(name = "job")
		void run() {
		}

	}

	/**
	 * Starts a child context, as Actuator does for a management port of its own.
	 */
	static class ChildStarter implements SmartLifecycle {

		private final GenericApplicationContext child = new GenericApplicationContext();

		ChildStarter(ApplicationContext parent) {
			this.child.setParent(parent);
		}

		@Override
		public void start() {
			this.child.refresh();
		}

		@Override
		public void stop() {
			this.child.close();
		}

		@Override
		public boolean isRunning() {
			return this.child.isActive();
		}

	}

	static class TwoDatabases {

		@Scheduled(cron = "* * * * * *")
		@DistributedLock(name = "first")
		void first() {
		}

		@Scheduled(cron = "* * * * * *")
		@DistributedLock(name = "second", databaseFactory = "second")
		void second() {
		}

	}

	static class WithoutEffect {

		@DistributedLock(name = "unscheduled")
		@JobPolicy
		void unscheduled() {
		}

		@Scheduled(cron = "0 0 0 1 1 *")
		@JobPolicy
		void unlocked() {
		}

		@JobPolicy
		void neither() {
		}

		@Scheduled(cron = "0 0 0 1 1 *")
		@OwnPolicy
		void composed() {
		}

		@DistributedLock(name = "parameter")
		@JobPolicy
		void parameter(String parameter) {
		}

		@JobPolicy
		private void hidden() {
		}

	}

	@JobPolicy(startWithinSeconds = 10)
	@Retention(RetentionPolicy.RUNTIME)
	@interface OwnPolicy {

	}

	@Scheduled(cron = "0 0 0 1 1 *")
	@DistributedLock(name = "composed")
	@JobPolicy
	@Retention(RetentionPolicy.RUNTIME)
	@interface Nightly {

	}

	@OwnPolicy
	static class OnClass {

		@Scheduled(cron = "0 0 0 1 1 *")
		@DistributedLock(name = "on-class")
		void run() {
		}

	}

	static class Composed {

		@Nightly
		void run() {
		}

	}

	@DistributedLock("locked-class")
	static class LockedClass {

		@Schedules({ @Scheduled(cron = "0 0 0 1 1 *"), @Scheduled(cron = "0 0 0 2 1 *") })
		@JobPolicy
		void run() {
		}

	}

	interface WithPolicy {

		@JobPolicy(id = "locked-implementation")
		void run();

	}

	static class LockedImplementation implements WithPolicy {

		@Override
		@Scheduled(cron = "0 0 0 1 1 *")
		@DistributedLock("locked-implementation")
		public void run() {
		}

	}

	static class UnlockedImplementation implements WithPolicy {

		@Override
		@Scheduled(cron = "0 0 0 1 1 *")
		public void run() {
		}

	}

	static class UnscheduledOverride extends LockedImplementation {

		@Override
		public void run() {
		}

	}

	static class ByConfigurer implements SchedulingConfigurer, BeanNameAware, BeanFactoryAware {

		private String name = "";

		private BeanFactory beans;

		@Override
		public void setBeanName(String name) {
			this.name = name;
		}

		@Override
		public void setBeanFactory(BeanFactory beans) {
			this.beans = beans;
		}

		@Override
		public void configureTasks(ScheduledTaskRegistrar registrar) {
			Object proxy = this.beans.getBean(this.name);
			registrar.addCronTask(new CronTask(
					new ScheduledMethodRunnable(proxy, ReflectionUtils.findMethod(proxy.getClass(), "run")),
					"0 0 0 1 1 *"));
		}

		@DistributedLock("by-configurer")
		@JobPolicy
		public void run() {
		}

	}

	static class SameLock {

		@Scheduled(fixedRate = 100)
		@DistributedLock(name = "job")
		void other() {
		}

	}

	static class InSeveralZones {

		@Scheduled(cron = "@daily", zone = "Europe/Berlin")
		@Scheduled(cron = "@daily", zone = "Asia/Tokyo")
		@Scheduled(cron = "0 0 1 * * *")
		@DistributedLock(name = "zones")
		void run() {
		}

	}

	static class InTheGap {

		@Scheduled(cron = "${gap.cron}", zone = "Europe/Berlin")
		@DistributedLock(name = "as-planned")
		void asPlanned() {
		}

		@Scheduled(cron = "${gap.cron}", zone = "Europe/Berlin")
		@DistributedLock(name = "once")
		@JobPolicy(whenClockChanges = WhenClockChanges.ONCE)
		void once() {
		}

		@Scheduled(cron = "${gap.cron}", zone = "Europe/Berlin")
		@DistributedLock(name = "by-property")
		void byProperty() {
		}

	}

	static class OtherId {

		@Scheduled(fixedRate = 100)
		@DistributedLock(name = "job")
		@JobPolicy(id = "other")
		void other() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnRegistrar {

		@Bean
		ScheduledTaskRegistrar own(Job job) {
			ScheduledTaskRegistrar registrar = new ScheduledTaskRegistrar();
			registrar.addCronTask(new CronTask(
					new ScheduledMethodRunnable(job, ReflectionUtils.findMethod(Job.class, "run")), "0 0 0 1 1 *"));
			return registrar;
		}

	}

	static class LongHold {

		@Scheduled(fixedRate = 1000)
		@DistributedLock(name = "rate", minHoldSeconds = 2)
		void rate() {
		}

		@Scheduled(cron = "0,30,31 * * * * *")
		@DistributedLock(name = "cron", minHoldSeconds = 2)
		void cron() {
		}

		@Scheduled(cron = "*/2 * * * * *")
		@DistributedLock(name = "right", minHoldSeconds = 2)
		void right() {
		}

	}

	static class LongWait {

		@Scheduled(fixedRate = 2000)
		@DistributedLock(name = "rate", waitSeconds = 3)
		void rate() {
		}

	}

	static class LongDelay {

		@Scheduled(fixedDelay = 1000)
		@DistributedLock(name = "delay", waitSeconds = 3, minHoldSeconds = 2)
		void delay() {
		}

	}

	static class HourlyJob {

		@Scheduled(fixedRate = 3_600_000)
		@DistributedLock(name = "rate")
		void rate() {
		}

		@Scheduled(fixedDelay = 3_600_000)
		@DistributedLock(name = "delay")
		void delay() {
		}

	}

	static class PlainMethod {

		@DistributedLock(name = "plain")
		void run() {
		}

	}

	static class ConditionalLocks {

		@Scheduled(fixedRate = 1000)
		@DistributedLock(name = "first", condition = "true")
		@DistributedLock(name = "second", condition = "true")
		void run() {
		}

	}

	static class Permits {

		@Scheduled(fixedRate = 1000)
		@DistributedLock(name = "permits", permits = 3)
		void run() {
		}

	}

	static class SeveralLocks {

		@Scheduled(fixedRate = 1000)
		@DistributedLock(name = "first")
		@DistributedLock(name = "second")
		void run() {
		}

	}

	static class Policies {

		@Scheduled(fixedRate = 100)
		@DistributedLock(name = "by-policy")
		@JobPolicy(id = "${policy.id}", whenCrashed = WhenCrashed.RERUN)
		void byPolicy() {
		}

		@Scheduled(fixedRate = 100)
		@DistributedLock(name = "by-property")
		void byProperty() {
		}

		@Scheduled(fixedRate = 100)
		@DistributedLock(name = "overridden")
		@JobPolicy(whenCrashed = WhenCrashed.RERUN)
		void overridden() {
		}

		@Scheduled(fixedRate = 100)
		@DistributedLock(name = "unset")
		void unset() {
		}

	}

	static class Renamed {

		@Scheduled(fixedRate = 100)
		@DistributedLock(name = "unnamed")
		void unnamed() {
		}

		@Scheduled(fixedRate = 100)
		@DistributedLock(name = "named")
		@JobPolicy(id = "an id")
		void named() {
		}

		@Scheduled(fixedRate = 100)
		@DistributedLock(name = "by-property")
		@JobPolicy(id = "${policy.id}")
		void byProperty() {
		}

		@Scheduled(fixedRate = 100)
		@DistributedLock(name = "by-expression")
		@JobPolicy(id = "#{beanName}")
		void byExpression() {
		}

	}

	static class Missed {

		@Scheduled(cron = "0 0 0 1 1 *")
		@DistributedLock(name = "by-policy")
		@JobPolicy(whenMissed = WhenMissed.RUN, startWithinString = "${missed.start-within}")
		void byPolicy() {
		}

		@Scheduled(cron = "0 0 0 1 1 *")
		@DistributedLock(name = "by-property")
		@JobPolicy(startWithinSeconds = 10)
		void byProperty() {
		}

		@Scheduled(cron = "0 0 0 1 1 *")
		@DistributedLock(name = "unset")
		void unset() {
		}

	}

	static class StartWithinTwice {

		@Scheduled(cron = "0 0 0 1 1 *")
		@DistributedLock(name = "twice")
		@JobPolicy(startWithinSeconds = 10, startWithinString = "10s")
		void run() {
		}

	}

	static class MissedOfUnknownLock {

		@Scheduled(cron = "0 0 0 1 1 *")
		@DistributedLock(name = "#{#root.methodName}")
		@JobPolicy(whenMissed = WhenMissed.RUN)
		void run() {
		}

	}

	static class Unanswered {

		private final Set<String> ran = ConcurrentHashMap.newKeySet();

		Set<String> ran() {
			return this.ran;
		}

		@Scheduled(cron = "0/30 * * * * *")
		@DistributedLock(name = "cron")
		void cron() {
			this.ran.add("cron");
		}

		@Scheduled(fixedRate = 3_600_000)
		@DistributedLock(name = "mono")
		Mono<Void> mono() {
			return Mono.fromRunnable(() -> this.ran.add("mono"));
		}

		@Scheduled(fixedRate = 3_600_000)
		@DistributedLock(name = "future")
		Future<Void> future() {
			this.ran.add("future");
			FutureTask<Void> done = new FutureTask<>(() -> null);
			done.run();
			return done;
		}

		@Scheduled(fixedRate = 3_600_000)
		@DistributedLock(name = "rate")
		void rate() {
			this.ran.add("rate");
		}

		@Scheduled(fixedRate = 3_600_000)
		@DistributedLock(name = "primitive", whenUnavailable = WhenUnavailable.THROW)
		int primitive() {
			this.ran.add("primitive");
			return 1;
		}

	}

	static class Settled {

		private final AtomicInteger runs = new AtomicInteger();

		int runs() {
			return this.runs.get();
		}

		@Scheduled(fixedRate = 100)
		@DistributedLock(name = "DONE")
		void done() {
			this.runs.incrementAndGet();
		}

		@Scheduled(fixedRate = 100)
		@DistributedLock(name = "NOT_DUE", whenUnavailable = WhenUnavailable.THROW)
		int notDue() {
			return this.runs.incrementAndGet();
		}

		@Scheduled(cron = "* * * * * *")
		@DistributedLock(name = "PAUSED", whenUnavailable = WhenUnavailable.THROW)
		void paused() {
			this.runs.incrementAndGet();
		}

		@Scheduled(fixedDelay = 100)
		@DistributedLock(name = "RUNNING")
		void running() {
			this.runs.incrementAndGet();
		}

	}

	static class DeclaredSkip {

		@Scheduled(cron = "0 0 0 1 1 *")
		@DistributedLock(name = "declared", whenUnavailable = WhenUnavailable.SKIP)
		void run() {
		}

	}

	interface OneMethod {

		void run();

	}

	static class FirstOfSeveral implements OneMethod {

		@Override
		@Scheduled(cron = "0 0 2 1 1 *")
		@DistributedLock(name = "first")
		@JobPolicy(whenMissed = WhenMissed.RUN)
		public void run() {
		}

	}

	static class SecondOfSeveral implements OneMethod {

		@Override
		@Scheduled(cron = "0 0 2 1 1 *")
		@DistributedLock(name = "second")
		public void run() {
		}

	}

	/**
	 * A task that looks as if it belonged to either bean.
	 */
	static class Hidden implements Runnable {

		@Override
		public void run() {
		}

		@Override
		public String toString() {
			return OneMethod.class.getName() + ".run";
		}

	}

	abstract static class Import {

		final Set<String> ran = ConcurrentHashMap.newKeySet();

		@Scheduled(cron = "0 0 2 1 1 *")
		@DistributedLock(name = "import")
		@JobPolicy(id = "#{beanName}-import")
		void run() {
			this.ran.add("run");
		}

	}

	static class WrongId {

		@Scheduled(cron = "0 0 2 1 1 *")
		@DistributedLock(name = "wrong")
		@JobPolicy(id = "#{beanNam}-import")
		void run() {
		}

	}

	static class NorthImport extends Import {

	}

	static class SouthImport extends Import {

	}

	static class OneNameByExpressions {

		private final Set<String> ran = ConcurrentHashMap.newKeySet();

		@Scheduled(fixedRate = 50)
		@DistributedLock(name = "#{'st' + 'ock'}")
		void one() {
			this.ran.add("one");
		}

		@Scheduled(fixedRate = 50)
		@DistributedLock(name = "#{'stoc' + 'k'}")
		void two() {
			this.ran.add("two");
		}

	}

	static class Unscheduled {

		@DistributedLock(name = "unscheduled")
		public void run() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ByLambda {

		@Bean
		SchedulingConfigurer byLambda(Unscheduled job) {
			return (registrar) -> registrar.addTriggerTask(job::run, new PeriodicTrigger(Duration.ofMillis(50)));
		}

	}

	static class CatchingUp {

		@Scheduled(cron = "0 0 2 * * *", zone = "UTC")
		@DistributedLock(name = "first")
		@JobPolicy(whenMissed = WhenMissed.RUN, startWithinString = "3d")
		void run() {
		}

	}

	static class ByHand {

		private final Set<String> ran = ConcurrentHashMap.newKeySet();

		@Scheduled(cron = "0 0 2 1 1 *")
		@DistributedLock(name = "unlocked", condition = "false")
		void unlocked() {
			this.ran.add("unlocked");
		}

		@Scheduled(cron = "0 0 2 1 1 *")
		@DistributedLock(name = "granted")
		void granted() {
			this.ran.add("granted");
		}

		@Scheduled(cron = "0 0 2 1 1 *")
		@DistributedLock(name = "failing")
		void failing() {
			this.ran.add("failing");
		}

		@Scheduled(cron = "0 0 2 1 1 *")
		@DistributedLock(name = "later")
		Mono<String> later() {
			return Mono.fromSupplier(() -> {
				this.ran.add("later");
				return "later";
			});
		}

		@Scheduled(cron = "0 0 2 1 1 *")
		@DistributedLock(name = "broken")
		Mono<String> broken() {
			throw new IllegalStateException("no sequence");
		}

		@Scheduled(cron = "0 0 2 1 1 *")
		@DistributedLock(name = "refused", fallback = "otherwise")
		void refused() {
			this.ran.add("refused");
		}

		void otherwise() {
			this.ran.add("otherwise");
		}

	}

}
