package dev.dblock.annotation.invocation;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import dev.dblock.DistributedLock;
import dev.dblock.DistributedLocks;
import dev.dblock.LockContext;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockShutdownException;
import dev.dblock.LockUnavailableException;
import dev.dblock.WhenUnavailable;
import dev.dblock.annotation.LockingConfiguration;
import dev.dblock.engine.LockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Methods with more than one lock.
 */
class SeveralLocksOfMethodsTests {

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	private RecordingEngine engine;

	private Accounts accounts;

	@BeforeEach
	void start() {
		this.context.register(LockingConfiguration.class, Accounts.class, OnClass.class);
		this.context.refresh();
		this.engine = this.context.getBean(RecordingEngine.class);
		this.accounts = this.context.getBean(Accounts.class);
		this.engine.clear();
	}

	@AfterEach
	void close() {
		this.context.close();
	}

	private List<String> events() {
		return this.engine.events();
	}

	@Test
	void areAcquiredInTheOrderOfTheirNames() {
		assertThat(this.accounts.transfer("b", "a")).isEqualTo("a, b");
		assertThat(events()).containsExactly("lock account-a", "lock account-b", "unlock account-b",
				"unlock account-a");
		assertThat(this.engine.optionsOf("account-b").lease()).isEqualTo(Duration.ofSeconds(9));
		assertThat(this.engine.optionsOf("account-b").label()).isEqualTo("account-#{#from}");
		assertThat(this.engine.optionsOf("account-a").lease()).isNull();
		assertThat(this.engine.optionsOf("account-a").why()).isEqualTo(Accounts.class.getName() + "#transfer");
	}

	@Test
	void ofTheSameNameInACallTheFirstCounts() {
		assertThat(this.accounts.transfer("a", "a")).isEqualTo("a");
		assertThat(events()).containsExactly("lock account-a", "unlock account-a");
		assertThat(this.engine.optionsOf("account-a").lease()).isEqualTo(Duration.ofSeconds(9));
	}

	@Test
	void theOrderOfDeclarationDoesNotMatter() {
		this.accounts.transfer("a", "b");
		this.accounts.transfer("b", "a");
		assertThat(events()).containsExactly("lock account-a", "lock account-b", "unlock account-b", "unlock account-a",
				"lock account-a", "lock account-b", "unlock account-b", "unlock account-a");
	}

	@Test
	void areReleasedHoweverTheWorkEnds() {
		assertThatIllegalStateException().isThrownBy(this.accounts::failing).withMessage("scripted");
		assertThat(events()).containsExactly("lock account-a", "lock account-b", "work", "unlock account-b",
				"unlock account-a");
		this.engine.clear();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.accounts::losing)
			.satisfies((lost) -> assertThat(lost.name()).isEqualTo("account-a"));
		assertThat(events()).endsWith("unlock account-b", "unlock account-a");
	}

	@Test
	void allOrNone() {
		this.engine.holdElsewhere("account-b");
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(this.accounts::failing)
			.withMessageContaining("account-b")
			.withMessageContaining("none of which is held for this request now: 'account-a'");
		assertThat(events()).containsExactly("lock account-a", "refuse account-b", "unlock account-a");
		assertThat(this.accounts.skipped()).isNull();
		assertThat(this.accounts.replaced("x")).isEqualTo("instead of x");
	}

	@Test
	void futuresAllOrNone() {
		this.engine.holdElsewhere("account-b");
		assertThat(this.accounts.later(new CompletableFuture<>())).isCompletedExceptionally()
			.failsWithin(Duration.ZERO)
			.withThrowableThat()
			.withCauseInstanceOf(LockUnavailableException.class);
		assertThat(events()).containsExactly("lock account-a", "refuse account-b", "unlock account-a");
	}

	@Test
	void sequencesAllOrNone() {
		this.engine.holdElsewhere("account-b");
		Mono<String> result = this.accounts.reactive();
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> result.block(Duration.ofSeconds(60)));
		assertThat(events()).containsExactly("lock account-a", "refuse account-b", "unlock account-a");
	}

	@Test
	void settingOfTheUnavailableLockApplies() {
		this.engine.set("account-b", WhenUnavailable.SKIP);
		this.engine.holdElsewhere("account-b");
		assertThat(this.accounts.transfer("a", "b")).isNull();
		this.engine.set("account-b", WhenUnavailable.THROW);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(this.accounts::skipped);
		this.engine.freeElsewhere("account-b");
		this.engine.holdElsewhere("account-a");
		assertThat(this.accounts.skipped()).isNull();
		assertThat(this.accounts.replaced("x")).isEqualTo("instead of x");
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.accounts.transfer("a", "b"));
	}

	@Test
	void skippedAsTheApplicationCloses() {
		this.engine.beginClosing();
		assertThat(this.accounts.skipped()).isNull();
		assertThatExceptionOfType(LockShutdownException.class).isThrownBy(() -> this.accounts.transfer("a", "b"));
	}

	@Test
	void futuresKeepAllOfThem() {
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<String> result = this.accounts.later(work);
		assertThat(events()).containsExactly("lock account-a", "lock account-b", "work");
		work.complete("done");
		assertThat(result.join()).isEqualTo("done");
		assertThat(events()).endsWith("unlock account-b", "unlock account-a");
	}

	@Test
	void sequencesKeepAllOfThem() {
		Mono<String> result = this.accounts.reactive();
		assertThat(events()).isEmpty();
		assertThat(result.block(Duration.ofSeconds(60))).isEqualTo("done");
		assertThat(events()).containsExactly("lock account-a", "lock account-b", "work", "unlock account-b",
				"unlock account-a");
	}

	@Test
	void locksWhoseConditionIsNotMetAreSkipped() {
		this.accounts.conditional(true, true);
		assertThat(events()).containsExactly("lock a", "lock b", "unlock b", "unlock a");
		this.engine.clear();
		this.accounts.conditional(true, false);
		assertThat(events()).containsExactly("lock a", "unlock a");
		this.engine.clear();
		this.accounts.conditional(false, false);
		assertThat(events()).isEmpty();
	}

	@Test
	void annotationsOfTheApplicationsOwnCountAsWell() {
		this.accounts.composed();
		assertThat(events()).containsExactly("lock a", "lock job", "lock nightly", "unlock nightly", "unlock job",
				"unlock a");
	}

	@Test
	void annotationsOfTheMethodReplaceThoseOfItsClassUnlessTheySayOtherwise() {
		OnClass bean = this.context.getBean(OnClass.class);
		bean.ofClass();
		assertThat(events()).containsExactly("lock class-1", "lock class-2", "unlock class-2", "unlock class-1");
		this.engine.clear();
		bean.instead();
		assertThat(events()).containsExactly("lock method", "unlock method");
		this.engine.clear();
		bean.inAddition();
		assertThat(events()).containsExactly("lock a-method", "lock class-1", "lock class-2", "unlock class-2",
				"unlock class-1", "unlock a-method");
		this.engine.clear();
		bean.packagePrivateInAddition();
		assertThat(events()).startsWith("lock a-method", "lock class-1", "lock class-2");
		this.engine.clear();
		bean.overridden();
		assertThat(events()).as("the interface's alsoOfClass was overridden with its locks")
			.containsExactly("lock own", "unlock own");
	}

	@Test
	void aLockAroundTheMethodIsReentered() {
		this.accounts.within("account-b", () -> this.accounts.transfer("a", "b"));
		assertThat(events()).containsExactly("lock account-b", "lock account-a", "unlock account-a",
				"unlock account-b");
	}

	@Test
	void theWaitOfEachCountsFromTheBeginning() {
		Duration wait = Duration.ofSeconds(5);
		RecordingEngine slow = new RecordingEngine() {

			@Override
			public LockEngine.Attempt acquire(String name, LockOptions options) {
				for (long begin = System.nanoTime(); System.nanoTime() - begin < 1_000_000;) {
					Thread.onSpinWait();
				}
				return super.acquire(name, options);
			}

		};
		new DefaultLockTemplate(slow).acquireAll(List.of("a", "b"), LockOptions.defaults().waitUpTo(wait)).close();
		Duration first = slow.optionsOf("a").waitUpTo();
		assertThat(first).isLessThanOrEqualTo(wait);
		assertThat(slow.optionsOf("b").waitUpTo()).isLessThanOrEqualTo(first.minusMillis(1));
	}

	@Test
	void contradictionsAreRefusedAtTheStart() {
		assertThat(findings(Contradicting.class)).hasSize(10)
			.anySatisfy((finding) -> assertThat(finding).contains("#answers()",
					"whenUnavailable = SKIP and whenUnavailable = THROW", "set it once"))
			.anySatisfy(
					(finding) -> assertThat(finding).contains("#fallbacks()", "fallback = one and fallback = other"))
			.anySatisfy((finding) -> assertThat(finding).contains("#both()",
					"both fallback = \"one\" and whenUnavailable = SKIP"))
			.anySatisfy((finding) -> assertThat(finding).contains("#twice()", "the lock 'a' is declared twice"))
			.anySatisfy((finding) -> assertThat(finding)
				.endsWith("#negative(int): for the lock 'b-#{#id}': The lease must be positive, but is -3s"))
			.anySatisfy((finding) -> assertThat(finding).contains("#elsewhere()",
					"databaseFactory = \"\" and databaseFactory = \"other\"", "the same MongoDB"))
			.anySatisfy((finding) -> assertThat(finding).contains("#broken(", "unknown"))
			.anySatisfy((finding) -> assertThat(finding).contains("#none()", "@DistributedLocks without a lock"))
			.anySatisfy((finding) -> assertThat(finding).contains("#noClass()", "alsoOfClass = true",
					Contradicting.class.getName() + " declares no lock"))
			.anySatisfy((finding) -> assertThat(finding).contains("#primitive()", "primitive int",
					"set whenUnavailable = THROW"));
	}

	private static List<String> findings(Class<?> bean) {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(LockingConfiguration.class, bean);
			return catchThrowableOfType(InvalidLockDeclarationException.class, context::refresh).findings();
		}
	}

	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLock("nightly")
	@DistributedLock("job")
	@interface Job {

	}

	static class Accounts {

		private final RecordingEngine engine;

		Accounts(RecordingEngine engine) {
			this.engine = engine;
		}

		@DistributedLock("account-b")
		@DistributedLock("account-a")
		public void failing() {
			this.engine.event("work");
			throw new IllegalStateException("scripted");
		}

		@DistributedLock("account-b")
		@DistributedLock("account-a")
		public void losing() {
			this.engine.lose("account-a");
		}

		@DistributedLock(name = "account-#{#from}", leaseSeconds = 9)
		@DistributedLock(name = "account-#{#to}")
		public String transfer(String from, String to) {
			assertThat(LockContext.current("account-" + from)).isPresent();
			assertThat(LockContext.current("account-" + to)).isPresent();
			return from.equals(to) ? from : (from.compareTo(to) < 0) ? from + ", " + to : to + ", " + from;
		}

		@DistributedLock(name = "account-a", whenUnavailable = WhenUnavailable.SKIP)
		@DistributedLock(name = "account-b")
		public String skipped() {
			return "not skipped";
		}

		@DistributedLock(name = "account-a")
		@DistributedLock(name = "account-b", fallback = "other")
		public String replaced(String argument) {
			return "not replaced";
		}

		String other(String argument) {
			return "instead of " + argument;
		}

		@DistributedLock("account-b")
		@DistributedLock("account-a")
		public CompletableFuture<String> later(CompletableFuture<String> work) {
			this.engine.event("work");
			return work;
		}

		@DistributedLock("account-b")
		@DistributedLock("account-a")
		public Mono<String> reactive() {
			this.engine.event("work");
			return Mono.just("done");
		}

		@DistributedLock(name = "b", condition = "#b")
		@DistributedLock(name = "a", condition = "#a")
		public void conditional(boolean a, boolean b) {
		}

		@Job
		@DistributedLock("a")
		public void composed() {
		}

		@DistributedLock("#{#name}")
		public void within(String name, Runnable work) {
			work.run();
		}

	}

	interface Declared {

		@DistributedLocks(value = @DistributedLock("declared"), alsoOfClass = true)
		void overridden();

	}

	@DistributedLock("class-2")
	@DistributedLock("class-1")
	static class OnClass implements Declared {

		public void ofClass() {
		}

		@DistributedLock("method")
		public void instead() {
		}

		@DistributedLocks(value = @DistributedLock("a-method"), alsoOfClass = true)
		public void inAddition() {
		}

		@DistributedLocks(value = @DistributedLock("a-method"), alsoOfClass = true)
		void packagePrivateInAddition() {
		}

		@Override
		@DistributedLock("own")
		public void overridden() {
		}

	}

	static class Contradicting {

		@DistributedLock(name = "a", whenUnavailable = WhenUnavailable.SKIP)
		@DistributedLock(name = "b", whenUnavailable = WhenUnavailable.THROW)
		public void answers() {
		}

		@DistributedLock(name = "a", fallback = "one")
		@DistributedLock(name = "b", fallback = "other")
		public void fallbacks() {
		}

		@DistributedLock(name = "a", fallback = "one")
		@DistributedLock(name = "b", whenUnavailable = WhenUnavailable.SKIP)
		public void both() {
		}

		@DistributedLock("a")
		@DistributedLock("a")
		public void twice() {
		}

		@DistributedLock(name = "a", leaseSeconds = 3)
		@DistributedLock(name = "b-#{#id}", leaseSeconds = -3)
		public void negative(int id) {
		}

		@DistributedLock("a")
		@DistributedLock(name = "b", databaseFactory = "other")
		public void elsewhere() {
		}

		@DistributedLock("a")
		@DistributedLock("#{#unknown}")
		public void broken(String known) {
		}

		@DistributedLocks({})
		public void none() {
		}

		@DistributedLocks(value = @DistributedLock("a"), alsoOfClass = true)
		public void noClass() {
		}

		@DistributedLock(name = "a", whenUnavailable = WhenUnavailable.SKIP)
		@DistributedLock("b")
		public int primitive() {
			return 1;
		}

		void one() {
		}

		void other() {
		}

	}

}
