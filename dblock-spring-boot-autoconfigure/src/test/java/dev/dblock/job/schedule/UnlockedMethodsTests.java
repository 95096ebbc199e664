package dev.dblock.job.schedule;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.EnableDistributedLocks;
import dev.dblock.autoconfigure.DblockAopAutoConfiguration;
import dev.dblock.autoconfigure.DblockJobsAutoConfiguration;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.job.JobOperations;
import dev.dblock.job.RunsOnEveryInstance;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanDefinitionCustomizer;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.CustomScopeConfigurer;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.SchedulingConfigurer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the report of scheduled methods that every instance runs, since they have no
 * lock.
 */
@ExtendWith(OutputCaptureExtension.class)
class UnlockedMethodsTests {

	private static final String NEVER = "0 0 0 29 2 *";

	private static final String LINE = "Without @DistributedLock, every instance runs ";

	private static final String OWN = UnlockedMethodsTests.class.getName() + "$";

	private final ApplicationContextRunner withoutJob = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class, AopAutoConfiguration.class,
				TaskSchedulingAutoConfiguration.class, DblockAopAutoConfiguration.class,
				DblockJobsAutoConfiguration.class))
		.withBean(JobEngine.class)
		.withBean(DefaultLockTemplate.class)
		.withUserConfiguration(Scheduling.class);

	private final ApplicationContextRunner withJob = this.withoutJob.withBean(Job.class);

	private static List<String> lines(CapturedOutput output) {
		return output.getAll().lines().filter((line) -> line.contains(LINE)).toList();
	}

	private static BeanDefinitionCustomizer lazy() {
		return (definition) -> definition.setLazyInit(true);
	}

	@Test
	void areOneLineThatNamesThemAndWhatToDo(CapturedOutput output) {
		this.withJob.withBean("one", Unlocked.class)
			.withBean("other", Unlocked.class)
			.withBean(InConfiguration.class)
			.withBean(Twice.class)
			.run((context) -> assertThat(lines(output)).singleElement()
				.asString()
				.contains("INFO")
				.endsWith(LINE
						+ "%1$sInConfiguration#refresh, %1$sTwice#run, %1$sUnlocked#composed, %1$sUnlocked#once,"
							.formatted(OWN)
						+ " %1$sUnlocked#purge, %1$sUnlocked#reactive. Add it to run each planned time".formatted(OWN)
						+ " once, or add @RunsOnEveryInstance if that is intended; dblock.jobs.unlocked=ignore omits this"
						+ " line"));
	}

	@Test
	void areFoundBehindProxiesOfTheirInterface(CapturedOutput output) {
		this.withJob.withPropertyValues("spring.aop.proxy-target-class=false")
			.withBean(HalfLocked.class)
			.withUserConfiguration(MeantBehindInterface.class)
			.run((context) -> assertThat(lines(output)).singleElement()
				.asString()
				.contains(LINE + OWN + "HalfLocked#reactiveWithout, " + OWN + "HalfLocked#without. "));
	}

	@Test
	void areFoundInScopedBeans(CapturedOutput output) {
		this.withJob.withUserConfiguration(Scoped.class).run((context) -> {
			assertThat(lines(output)).isEmpty();
			context.getBean("meant");
			context.getBean("scopedTarget.meant");
			assertThat(lines(output)).isEmpty();
			context.getBean("scopedTarget.purge");
			assertThat(lines(output)).singleElement().asString().contains(LINE + OWN + "Purge#run. ");
		});
	}

	@Test
	void areOnlyThoseWithoutALockThatAreScheduledAndNotMeant(CapturedOutput output) {
		this.withJob.withBean(LockedClass.class)
			.withBean(Meant.class)
			.withBean(MeantClass.class)
			.withBean(MeantByBase.class)
			.withBean(Disabled.class)
			.withUserConfiguration(MeantBean.class)
			.withBean("lambda", SchedulingConfigurer.class, () -> (registrar) -> registrar.addCronTask(() -> {
			}, NEVER))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(lines(output)).isEmpty();
			});
	}

	@Test
	void areNotThoseWhosePlannedTimesCannotBeCaptured() {
		withProxies("opaque").withBean(Job.class)
			.run((context) -> assertThat(((InvalidJobException) context.getStartupFailure()).findings()).singleElement()
				.asString()
				.contains("its planned time cannot be captured"));
		withProxies("frozen").withBean(LockedClass.class).run((context) -> assertThat(context).hasNotFailed());
	}

	private ApplicationContextRunner withProxies(String property) {
		return this.withoutJob.withPropertyValues("dblock.jobs.unlocked=fail")
			.withBean("proxies", BeanFactoryPostProcessor.class,
					() -> (factory) -> factory.getBeanDefinition(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME)
						.getPropertyValues()
						.add(property, true));
	}

	@ParameterizedTest
	@ValueSource(strings = { "ignore", "log" })
	void areNoConcernOfAnApplicationWithoutJobs(String value, CapturedOutput output) {
		this.withoutJob.withPropertyValues("dblock.jobs.unlocked=" + value)
			.withBean(Purge.class)
			.withBean(LockedService.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(lines(output)).isEmpty();
			});
	}

	@Test
	void areReportedInAChildOfAContextWithAJob(CapturedOutput output) {
		this.withJob.run((parent) -> this.withoutJob.withBean(Purge.class)
			.withParent(parent)
			.run((child) -> assertThat(lines(output)).singleElement().asString().contains("Purge#run")));
	}

	@Test
	void canBeIgnored(CapturedOutput output) {
		this.withJob.withPropertyValues("dblock.jobs.unlocked=ignore")
			.withBean(Purge.class)
			.withBean("later", MeantOnOneBean.class, MeantOnOneBean::new, lazy())
			.run((context) -> {
				context.getBean(MeantOnOneBean.class);
				assertThat(lines(output)).isEmpty();
			});
	}

	@Test
	void canStopTheStartWithAndWithoutJobs(CapturedOutput output) {
		for (ApplicationContextRunner runner : List.of(this.withJob, this.withoutJob)) {
			runner.withPropertyValues("dblock.jobs.unlocked=fail")
				.withBean(Purge.class)
				.withBean(InConfiguration.class)
				.run((context) -> {
					String problem = ": is @Scheduled without a lock, so every instance runs it, which"
							+ " dblock.jobs.unlocked=fail forbids; add @DistributedLock, or @RunsOnEveryInstance if"
							+ " that is intended";
					assertThat(context.getStartupFailure()).isInstanceOf(InvalidJobException.class);
					assertThat(((InvalidJobException) context.getStartupFailure()).findings())
						.containsExactly(OWN + "InConfiguration#refresh" + problem, OWN + "Purge#run" + problem);
				});
		}
		assertThat(lines(output)).isEmpty();
	}

	@Test
	void doNotStopTheStartIfAllAreMeant() {
		this.withJob.withPropertyValues("dblock.jobs.unlocked=fail")
			.withBean(Meant.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@ValueSource(strings = { "log", "fail" })
	void ofALaterBeanAreLoggedOnceAndBreakNoRequest(String value, CapturedOutput output) {
		ApplicationContextRunner runner = value.equals("fail") ? this.withoutJob : this.withJob;
		runner.withPropertyValues("dblock.jobs.unlocked=" + value)
			.withBean("lazy", Purge.class, Purge::new, lazy())
			.withBean("prototype", Disabled.class, Disabled::new,
					(definition) -> definition.setScope(BeanDefinition.SCOPE_PROTOTYPE))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(lines(output)).isEmpty();
				assertThat(context.getBean(Purge.class)).isNotNull();
				assertThat(lines(output)).singleElement().asString().contains(LINE + OWN + "Purge#run. ");
				context.getBean(Disabled.class);
				assertThat(lines(output)).hasSize(1);
			});
	}

	@Test
	void ofAPrototypeAreLoggedOnce(CapturedOutput output) {
		this.withJob
			.withBean("prototype", Purge.class, Purge::new,
					(definition) -> definition.setScope(BeanDefinition.SCOPE_PROTOTYPE))
			.run((context) -> {
				context.getBean(Purge.class);
				context.getBean(Purge.class);
				assertThat(lines(output)).hasSize(1);
			});
	}

	@Test
	void ofOneClassAreMeantByEachBeanOfItsOwn(CapturedOutput output) {
		this.withJob.withUserConfiguration(MeantBean.class)
			.withBean("another", MeantOnOneBean.class)
			.run((context) -> assertThat(lines(output)).singleElement()
				.asString()
				.contains(LINE + OWN + "MeantOnOneBean#run. "));
	}

	@Test
	void havePropertyBesideTheSettingsOfJobs(CapturedOutput output) {
		this.withoutJob.withBean(JobNamedUnlocked.class)
			.withBean(Purge.class)
			.withPropertyValues("dblock.jobs.unlocked=${how:ignore}", "dblock.jobs.unlocked.start-within=7m",
					"dblock.jobs.jbo.start-within=7m")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(lines(output)).isEmpty();
				ScheduledJobs jobs = context.getBean(ScheduledJobs.class);
				assertThat(jobs.settings("unlocked").startWithin()).isEqualTo(Duration.ofMinutes(7));
				assertThat(output).contains("has settings for ids that no job of this application context has: jbo. ");
			});
	}

	@Test
	void canBeIgnoredByAVariable(CapturedOutput output) {
		this.withJob.withBean(Purge.class)
			.withInitializer((context) -> context.getEnvironment()
				.getPropertySources()
				.addFirst(new SystemEnvironmentPropertySource("test-systemEnvironment",
						Map.of("DBLOCK_JOBS_UNLOCKED", "IGNORE"))))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(lines(output)).isEmpty();
			});
	}

	@Test
	void areFoundWithoutTheAutoConfiguration(CapturedOutput output) {
		ApplicationContextRunner plain = new ApplicationContextRunner()
			.withUserConfiguration(Scheduling.class, Plain.class)
			.withBean(JobEngine.class)
			.withBean(DefaultLockTemplate.class)
			.withBean(Job.class)
			.withBean(Purge.class);
		plain.withPropertyValues("dblock.jobs.unlocked=ignore").run((context) -> assertThat(lines(output)).isEmpty());
		plain.run((context) -> assertThat(lines(output)).singleElement().asString().contains("Purge#run"));
	}

	@Test
	void areNoJobs() {
		this.withJob.withBean(Purge.class)
			.run((context) -> assertThat(context.getBean(JobOperations.class).ids()).containsExactly("job"));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class Scheduling {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableDistributedLocks
	static class Plain {

	}

	static class Job {

		@Scheduled(cron = NEVER)
		@DistributedLock(name = "job")
		void run() {
		}

	}

	static class JobNamedUnlocked {

		@Scheduled(cron = NEVER)
		@DistributedLock(name = "unlocked")
		void run() {
		}

	}

	static class LockedService {

		@DistributedLock(name = "service")
		void run() {
		}

	}

	static class Purge {

		@Scheduled(cron = NEVER)
		void run() {
		}

	}

	@Configuration
	static class InConfiguration {

		@Scheduled(cron = NEVER)
		void refresh() {
		}

	}

	@Retention(RetentionPolicy.RUNTIME)
	@Scheduled(cron = NEVER)
	@interface Nightly {

	}

	static class Unlocked {

		@Scheduled(cron = NEVER)
		void purge() {
		}

		@Nightly
		void composed() {
		}

		@Scheduled(initialDelay = 1_000_000_000L)
		private void once() {
		}

		@Scheduled(fixedRate = 1_000_000_000L, initialDelay = 1_000_000_000L)
		Mono<Void> reactive() {
			return Mono.empty();
		}

	}

	static class Twice {

		@Scheduled(cron = NEVER)
		@Scheduled(fixedRate = 1_000_000_000L, initialDelay = 1_000_000_000L)
		void run() {
		}

	}

	interface Half {

		void with();

		void without();

		Mono<Void> reactiveWithout();

	}

	static class HalfLocked implements Half {

		@Override
		@Scheduled(cron = NEVER)
		@DistributedLock(name = "half")
		public void with() {
		}

		@Override
		@Scheduled(cron = NEVER)
		public void without() {
		}

		@Override
		@Scheduled(fixedRate = 1_000_000_000L, initialDelay = 1_000_000_000L)
		public Mono<Void> reactiveWithout() {
			return Mono.empty();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Scoped {

		@Bean
		static CustomScopeConfigurer threadScope() {
			CustomScopeConfigurer configurer = new CustomScopeConfigurer();
			configurer.addScope("thread", new SimpleThreadScope());
			return configurer;
		}

		@Bean
		@Scope(scopeName = "thread", proxyMode = ScopedProxyMode.TARGET_CLASS)
		Purge purge() {
			return new Purge();
		}

		@Bean
		@Scope(scopeName = "thread", proxyMode = ScopedProxyMode.TARGET_CLASS)
		@RunsOnEveryInstance
		MeantOnOneBean meant() {
			return new MeantOnOneBean();
		}

	}

	@DistributedLock(name = "locked-class")
	static class LockedClass {

		@Scheduled(cron = NEVER)
		void run() {
		}

	}

	@Retention(RetentionPolicy.RUNTIME)
	@RunsOnEveryInstance
	@interface InMemory {

	}

	static class Meant {

		@Scheduled(cron = NEVER)
		@RunsOnEveryInstance
		void run() {
		}

		@Scheduled(cron = NEVER)
		@InMemory
		void composed() {
		}

		@Scheduled(fixedRate = 1_000_000_000L, initialDelay = 1_000_000_000L)
		@RunsOnEveryInstance
		Mono<Void> reactive() {
			return Mono.empty();
		}

	}

	@InMemory
	static class MeantClass {

		@Scheduled(cron = NEVER)
		void run() {
		}

	}

	interface Behind {

		void locked();

		void meant();

	}

	@Configuration(proxyBeanMethods = false)
	static class MeantBehindInterface {

		@Bean
		Behind behind() {
			return new MeantBehindProxy();
		}

	}

	@RunsOnEveryInstance
	static class MeantBehindProxy implements Behind {

		@Override
		@Scheduled(cron = NEVER)
		@DistributedLock(name = "behind")
		public void locked() {
		}

		@Override
		@Scheduled(cron = NEVER)
		public void meant() {
		}

	}

	static class MeantByBase extends MeantClass {

		@Scheduled(cron = NEVER)
		void another() {
		}

	}

	static class MeantOnOneBean {

		@Scheduled(cron = NEVER)
		void run() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class MeantBean {

		@Bean
		@RunsOnEveryInstance
		MeantOnOneBean meant() {
			return new MeantOnOneBean();
		}

		@Bean
		@Lazy
		@RunsOnEveryInstance
		Purge neverCreated() {
			return new Purge();
		}

	}

	static class Disabled {

		@Scheduled(cron = Scheduled.CRON_DISABLED)
		void run() {
		}

	}

}
