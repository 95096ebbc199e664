package dev.dblock.annotation.invocation;

import java.io.IOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

import dev.dblock.DistributedLock;
import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockShutdownException;
import dev.dblock.LockUnavailableException;
import dev.dblock.WhenLost;
import dev.dblock.WhenUnavailable;
import dev.dblock.annotation.DistributedLockAdvisor;
import dev.dblock.annotation.LockingConfiguration;
import dev.dblock.job.JobRefusal;
import dev.dblock.testing.StructuredLog;
import org.aopalliance.intercept.MethodInterceptor;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.MDC;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.target.EmptyTargetSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.mock.env.MockEnvironment;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

@ExtendWith(OutputCaptureExtension.class)
class LockInterceptorTests {

	private static final String PATH = Invoices.class.getName() + "#";

	private static final String SKIPPED = "Skipped LockInterceptorTests.Invoices#";

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	private RecordingEngine engine;

	private Invoices invoices;

	@BeforeEach
	void start() {
		this.context
			.setEnvironment(new MockEnvironment().withProperty("jobs.lease", "40s").withProperty("zone", "north"));
		this.context.register(LockingConfiguration.class, Invoices.class, Whole.class);
		this.context.refresh();
		this.engine = this.context.getBean(RecordingEngine.class);
		this.invoices = this.context.getBean(Invoices.class);
		this.engine.clear();
	}

	@AfterEach
	void close() {
		this.context.close();
	}

	@Test
	void methodRunsUnderItsLock() throws Exception {
		assertThat(AopUtils.isCglibProxy(this.invoices)).isTrue();
		assertThat(this.invoices.run("march")).isEqualTo("ran march");
		assertThat(this.engine.events()).containsExactly("lock invoices-march", "run", "unlock invoices-march");
	}

	@Test
	void packagePrivateMethodIsLocked() {
		this.invoices.packagePrivate();
		assertThat(this.engine.events()).containsExactly("lock " + PATH + "packagePrivate", "run",
				"unlock " + PATH + "packagePrivate");
	}

	@Test
	void methodsOfAnAnnotatedClassAreLockedWhetherPublicOrNot() {
		Whole whole = this.context.getBean(Whole.class);
		whole.open();
		whole.ofThePackage();
		whole.ofTheFamily();
		assertThat(this.engine.events()).containsExactly("lock whole", "open", "unlock whole", "lock whole",
				"ofThePackage", "unlock whole", "lock whole", "ofTheFamily", "unlock whole");
	}

	@Test
	void otherMethodIsNot() {
		this.invoices.free();
		assertThat(this.engine.events()).containsExactly("run");
	}

	@Test
	void handleIsFoundUnderTheMethod() {
		assertThat(this.invoices.name()).isEqualTo("invoices-north");
		assertThat(LockContext.current()).isEmpty();
	}

	@Test
	void methodWithinTheSameLockReenters() throws Exception {
		this.invoices.callThrough(this.invoices);
		this.invoices.outer("march");
		assertThat(this.engine.events()).containsExactly("lock invoices-march", "run", "unlock invoices-march");
	}

	@Test
	void exceptionsOfTheMethodPassUnchanged() {
		IOException checked = new IOException("checked");
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> this.invoices.fail(checked)).isSameAs(checked);
		IllegalStateException unchecked = new IllegalStateException("unchecked");
		assertThatIllegalStateException().isThrownBy(() -> this.invoices.fail(unchecked)).isSameAs(unchecked);
		AssertionError error = new AssertionError("error");
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> this.invoices.fail(error)).isSameAs(error);
		assertThat(this.engine.events()).filteredOn((event) -> event.startsWith("unlock")).hasSize(3);
	}

	@Test
	void leftOutOptionsAreTheEngines() {
		this.invoices.packagePrivate();
		assertThat(this.engine.lastOptions())
			.isEqualTo(LockOptions.defaults().why(PATH + "packagePrivate").label(PATH + "packagePrivate"));
	}

	@Test
	void nameIsTheLabelAsItIsDeclared() {
		this.invoices.run("march");
		assertThat(this.engine.lastOptions().label()).isEqualTo("invoices-#{#month}");
	}

	@Test
	void optionsAreThoseOfTheAnnotation() {
		this.invoices.numbers();
		assertThat(this.engine.lastOptions())
			.isEqualTo(new LockOptions(Duration.ofSeconds(30), Duration.ofSeconds(5), Duration.ofSeconds(10),
					Duration.ofSeconds(600), false, WhenLost.INTERRUPT, PATH + "numbers", PATH + "numbers")
				.permits(3));
		this.invoices.texts();
		assertThat(this.engine.lastOptions()).isEqualTo(new LockOptions(Duration.ofSeconds(40), Duration.ofMillis(250),
				Duration.ofSeconds(3), Duration.ZERO, null, null, PATH + "texts", PATH + "texts")
			.permits(4));
	}

	@Test
	void unavailableThrowsElsewhere() {
		this.engine.holdElsewhere("invoices-march");
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.invoices.run("march"))
			.withMessage("The lock 'invoices-march' is not available")
			.extracting(LockUnavailableException::name)
			.isEqualTo("invoices-march");
		assertThat(this.engine.events()).containsExactly("refuse invoices-march");
	}

	@ParameterizedTest
	@ValueSource(strings = { "scheduled", "scheduledTwice", "scheduledInContainer", "scheduledByMeta", "skipping",
			"skippingObject" })
	void unavailableSkipsUnderAScheduleAndWhenAsked(String method, CapturedOutput output) {
		this.engine.holdElsewhere(method);
		assertThat(call(method)).isNull();
		assertThat(this.engine.events()).containsExactly("refuse " + method);
		assertThat(output.getOut().lines().filter((line) -> line.contains("Skipped"))).singleElement()
			.asString()
			.contains("INFO")
			.contains(SKIPPED + method + " (lock '" + method + "'): ");
	}

	@ParameterizedTest
	@EnumSource(JobRefusal.Reason.class)
	void aPlannedTimeThatNeedsNoRunIsNotWorthALine(JobRefusal.Reason reason, CapturedOutput output) {
		this.engine.refuse("scheduled", reason);
		assertThat(call("scheduled")).isNull();
		boolean logged = reason == JobRefusal.Reason.RUNNING || reason == JobRefusal.Reason.OVERLAPPED;
		assertThat(output.getOut().contains(SKIPPED + "scheduled")).isEqualTo(logged);
	}

	@Test
	void skippedCallIsLoggedWithTheLockAmongTheFields() {
		this.engine.holdElsewhere("skipping");
		MDC.put("dblock.token", "of a lock around it");
		try (StructuredLog log = new StructuredLog("ecs")) {
			call("skipping");
			assertThat(log.line("Skipped").get("dblock")).isEqualTo(new Document("name", "skipping"));
			assertThat(MDC.get("dblock.token")).isEqualTo("of a lock around it");
		}
		finally {
			MDC.remove("dblock.token");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "scheduled", "skippingObject" })
	void callThatMaySkipIsSkippedWhileTheApplicationCloses(String method, CapturedOutput output) {
		this.engine.beginClosing();
		assertThat(call(method)).isNull();
		assertThat(this.engine.events()).isEmpty();
		assertThat(output.getOut().lines().filter((line) -> line.contains("is closing"))).singleElement()
			.asString()
			.contains("INFO")
			.contains(SKIPPED + method + ": the application is closing");
	}

	@Test
	void callThatMayNotSkipIsRefusedWhileTheApplicationCloses() {
		this.engine.beginClosing();
		assertThatExceptionOfType(LockShutdownException.class).isThrownBy(() -> this.invoices.run("march"));
		assertThatExceptionOfType(LockShutdownException.class).isThrownBy(() -> call("scheduledThrowing"));
	}

	@Test
	void aShutdownInTheMiddleOfAMethodIsNoSkip() {
		assertThatExceptionOfType(LockShutdownException.class).isThrownBy(() -> call("skippingAndLockingLate"));
	}

	@Test
	void scheduledMethodCanThrow() {
		this.engine.holdElsewhere("scheduledThrowing");
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> call("scheduledThrowing"));
	}

	@Test
	void skippedOptionalIsEmpty() {
		this.engine.holdElsewhere("optional");
		assertThat(this.invoices.optional()).isSameAs(Optional.empty());
		assertThat(this.invoices.optionalInt()).isSameAs(OptionalInt.empty());
		assertThat(this.invoices.optionalLong()).isSameAs(OptionalLong.empty());
		assertThat(this.invoices.optionalDouble()).isSameAs(OptionalDouble.empty());
	}

	@Test
	void callThatGivesNoNameIsRefusedAndNotRun() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.invoices.run(null))
			.withMessageContaining(PATH + "run(String)")
			.withMessageContaining("#{#month} in the name 'invoices-#{#month}' is null");
		assertThat(this.engine.events()).isEmpty();
	}

	@Test
	void nameThatCannotBeIsRefusedAndNotRun() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.invoices.run("x".repeat(8192)))
			.withMessageContaining("A name of 8201 characters");
		assertThat(this.engine.events()).isEmpty();
	}

	@Test
	void futureThatWasNotDeclaredIsWaitedForUnderTheLock() throws Exception {
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<Object> call = CompletableFuture.supplyAsync(() -> this.invoices.object(work));
		await().atMost(Duration.ofSeconds(60)).until(() -> this.engine.events().contains("run"));
		assertThat(this.engine.isHeld("object")).isTrue();
		work.complete("x");
		assertThat(((Future<?>) call.get()).get()).isEqualTo("x");
		assertThat(this.engine.isHeld("object")).isFalse();
	}

	@Test
	void callableThatWasNotDeclaredIsRefused() {
		assertThatIllegalStateException().isThrownBy(() -> this.invoices.object((Callable<String>) () -> "x"))
			.withMessageContaining(PATH + "object(Object) returned a ");
		assertThat(this.engine.isHeld("object")).isFalse();
	}

	@Test
	void interfaceWithoutATargetIsLocked() {
		ProxyFactory factory = new ProxyFactory(Declarative.class, EmptyTargetSource.INSTANCE);
		factory.addAdvisor(this.context.getBean(DistributedLockAdvisor.class));
		factory.addAdvice((MethodInterceptor) (invocation) -> invocation.getMethod().getName());
		Declarative declarative = (Declarative) factory.getProxy();
		assertThat(declarative.call("7")).isEqualTo("call");
		assertThat(this.engine.events()).containsExactly("lock call-7", "unlock call-7");
	}

	@Test
	void adviceLetsOtherMethodsPass() {
		ProxyFactory factory = new ProxyFactory(Declarative.class, EmptyTargetSource.INSTANCE);
		factory.addAdvice(this.context.getBean(DistributedLockAdvisor.class).getAdvice());
		factory.addAdvice((MethodInterceptor) (invocation) -> invocation.getMethod().getName());
		assertThat(((Declarative) factory.getProxy()).free()).isEqualTo("free");
		assertThat(this.engine.events()).isEmpty();
	}

	private Object call(String method) {
		return ReflectionUtils.invokeMethod(ReflectionUtils.findMethod(Invoices.class, method), this.invoices);
	}

	interface Declarative {

		@DistributedLock("call-#{#id}")
		String call(String id);

		String free();

	}

	@Retention(RetentionPolicy.RUNTIME)
	@Scheduled(cron = "0 0 2 * * *")
	@interface Nightly {

	}

	public static class Invoices {

		private final RecordingEngine engine;

		private Invoices self;

		Invoices(RecordingEngine engine) {
			this.engine = engine;
		}

		void callThrough(Invoices proxy) {
			this.self = proxy;
		}

		@DistributedLock("invoices-#{#month}")
		public String run(String month) {
			this.engine.event("run");
			return "ran " + month;
		}

		@DistributedLock("invoices-#{#month}")
		public String outer(String month) {
			return this.self.run(month);
		}

		@DistributedLock
		void packagePrivate() {
			this.engine.event("run");
		}

		public void free() {
			this.engine.event("run");
		}

		@DistributedLock("invoices-${zone}")
		public String name() {
			return LockContext.current().map(LockHandle::name).orElse(null);
		}

		@DistributedLock
		public void fail(Throwable ex) throws IOException {
			if (ex instanceof IOException checked) {
				throw checked;
			}
			if (ex instanceof Error error) {
				throw error;
			}
			throw (RuntimeException) ex;
		}

		@DistributedLock(leaseSeconds = 30, waitSeconds = 5, minHoldSeconds = 10, maxHoldSeconds = 600, permits = 3,
				autoRenew = false, whenLost = WhenLost.INTERRUPT)
		public void numbers() {
		}

		@DistributedLock(leaseString = "${jobs.lease:30s}", waitString = "250ms", minHoldString = "${jobs.min:3}",
				maxHoldString = "PT0S", permitsString = "${jobs.permits:4}")
		public void texts() {
		}

		@Scheduled(fixedRate = 1000)
		@DistributedLock("scheduled")
		public void scheduled() {
			this.engine.event("run");
		}

		@Scheduled(fixedRate = 1000)
		@Scheduled(cron = "0 0 2 * * *")
		@DistributedLock("scheduledTwice")
		public void scheduledTwice() {
			this.engine.event("run");
		}

		@Schedules(@Scheduled(fixedRate = 1000))
		@DistributedLock("scheduledInContainer")
		public void scheduledInContainer() {
			this.engine.event("run");
		}

		@Nightly
		@DistributedLock("scheduledByMeta")
		public void scheduledByMeta() {
			this.engine.event("run");
		}

		@Scheduled(fixedRate = 1000)
		@DistributedLock(name = "scheduledThrowing", whenUnavailable = WhenUnavailable.THROW)
		public void scheduledThrowing() {
			this.engine.event("run");
		}

		@DistributedLock(name = "skippingAndLockingLate", whenUnavailable = WhenUnavailable.SKIP)
		public void skippingAndLockingLate() {
			throw new LockShutdownException("another");
		}

		@DistributedLock(name = "skipping", whenUnavailable = WhenUnavailable.SKIP)
		public void skipping() {
			this.engine.event("run");
		}

		@DistributedLock(name = "skippingObject", whenUnavailable = WhenUnavailable.SKIP)
		public Integer skippingObject() {
			return 1;
		}

		@DistributedLock(name = "optional", whenUnavailable = WhenUnavailable.SKIP)
		public Optional<String> optional() {
			return Optional.of("x");
		}

		@DistributedLock(name = "optional", whenUnavailable = WhenUnavailable.SKIP)
		public OptionalInt optionalInt() {
			return OptionalInt.of(1);
		}

		@DistributedLock(name = "optional", whenUnavailable = WhenUnavailable.SKIP)
		public OptionalLong optionalLong() {
			return OptionalLong.of(1);
		}

		@DistributedLock(name = "optional", whenUnavailable = WhenUnavailable.SKIP)
		public OptionalDouble optionalDouble() {
			return OptionalDouble.of(1);
		}

		@DistributedLock("object")
		public Object object(Object result) {
			this.engine.event("run");
			return result;
		}

	}

	@DistributedLock("whole")
	static class Whole {

		private final RecordingEngine engine;

		Whole(RecordingEngine engine) {
			this.engine = engine;
		}

		public void open() {
			this.engine.event("open");
		}

		void ofThePackage() {
			this.engine.event("ofThePackage");
		}

		protected void ofTheFamily() {
			this.engine.event("ofTheFamily");
		}

	}

}
