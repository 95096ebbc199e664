package dev.dblock.core;

import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;

import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.LockTemplate;
import dev.dblock.core.Request.Kind;
import dev.dblock.engine.HeldLock;
import dev.dblock.engine.LockEngine;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobNews;
import dev.dblock.job.JobRefusal;
import dev.dblock.job.JobRefusal.Reason;
import dev.dblock.job.JobRun;
import dev.dblock.job.StoredJob.RunEnd;
import dev.dblock.reactive.ReactiveLockTemplate;
import dev.dblock.settings.LockSettings;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.store.UnreachableStoreException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.publisher.Mono;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.QueryTimeoutException;

import static dev.dblock.core.LockWorld.granted;
import static dev.dblock.core.LockWorld.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Locks that are acquired for planned times, seen from outside: through the engine.
 */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class JobRunsTests {

	private static final Duration LONG = Duration.ofHours(10);

	private final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	private final DefaultLockEngine engine = this.world.engine();

	private final LockTemplate template = this.world.template();

	private final Instant at = Instant.ofEpochMilli(this.world.clock().serverMillis()).minusSeconds(600);

	@AfterEach
	void close() {
		this.world.close();
	}

	private LockOptions planned() {
		return LockOptions.defaults().claim(JobFiring.at(this.at));
	}

	private List<JobRun> runs() {
		return JobRecords.of(this.repository).find("a", "a").orElseThrow().runs();
	}

	private JobRun last() {
		return runs().get(0);
	}

	private void run(Instant planned) {
		granted(this.engine.acquire("a", LockOptions.defaults().claim(JobFiring.at(planned)))).close();
	}

	private int asked() {
		return this.repository.count(Kind.ACQUIRE, "a");
	}

	@Test
	void aGrantNamesItsRunAndTheReleaseRecordsIt() {
		LockHandle handle = granted(this.engine.acquire("a", planned()));
		JobRun run = JobRun.of(handle).orElseThrow();
		assertThat(run.plannedAt()).isEqualTo(this.at);
		assertThat(run.attempt()).isEqualTo(1);
		assertThat(run.token()).isEqualTo(handle.token());
		assertThat(run.instance()).isEqualTo("host-1:4711:k7");
		assertThat(handle.release()).isTrue();
		assertThat(last().outcome()).isEqualTo(JobRun.Outcome.SUCCEEDED);
		assertThat(JobRun.of(granted(this.engine.acquire("a", LockOptions.defaults())))).isEmpty();
		assertThat(this.repository.count(Kind.RELEASE)).isEqualTo(1);
		assertThat(asked()).isEqualTo(2);
	}

	@Test
	void theEndOfARunIsReportedToListeners() {
		granted(this.engine.acquire("a", planned())).close();
		assertThat(this.world.news()).containsExactly("acquired a", "released a", "ended a SUCCEEDED");
		LockHandle failing = granted(this.engine.acquire("b", planned()));
		failing.runFailed(new IllegalStateException("no paper"));
		failing.close();
		granted(this.engine.acquire("c", LockOptions.defaults())).close();
		this.engine.report("a", new JobNews.Missed("a", this.at));
		LockWorld.eventually()
			.untilAsserted(() -> assertThat(this.world.news()).endsWith("ended b FAILED", "acquired c", "released c",
					"missed a at " + this.at));
	}

	@Test
	void aPlannedTimeThatIsDoneRunningNotDueOrPausedIsNotWaitedFor() {
		run(this.at);
		LockOptions patient = planned().waitUpTo(LONG);
		LockRefusal done = refused(this.engine.acquire("a", patient));
		assertThat(JobRefusal.of(done).reason()).isEqualTo(Reason.DONE);
		assertThat(done.isSettled()).isTrue();
		assertThat(done.waited()).isZero();
		assertThat(done.describe()).isEqualTo(
				"The lock 'a' is not available for this planned time: done by host-1:4711:k7 at " + last().endedAt());
		LockOptions later = LockOptions.defaults().claim(JobFiring.at(this.at.plusSeconds(1))).waitUpTo(LONG);
		LockHandle handle = granted(this.engine.acquire("a", later));
		LockRefusal running = refused(this.engine.acquire("a",
				later.claim(JobFiring.of(null, new Schedule.Planned(this.at.plusSeconds(1)), true))));
		assertThat(JobRefusal.of(running).reason()).isEqualTo(Reason.RUNNING);
		assertThat(running.isSettled()).isFalse();
		assertThat(running.describe()).endsWith("running on host-1:4711:k7 since " + last().startedAt());
		handle.close();
		Instant future = this.at.plus(LONG);
		LockRefusal notDue = refused(this.engine.acquire("a", patient.claim(JobFiring.at(future))));
		assertThat(notDue.describe()).endsWith("not due before " + future);
		JobRecords.of(this.repository).pause("a", "a", "ann");
		LockRefusal paused = refused(this.engine.acquire("a", patient.claim(JobFiring.at(this.at.plusSeconds(2)))));
		assertThat(paused.describe()).endsWith("paused by ann");
		assertThat(asked()).as("one request each").isEqualTo(6);
	}

	@Test
	void aLockThatOtherWorkHoldsIsWaitedFor() throws Exception {
		LeaseKey other = this.world.seize("a", LockWorld.LEASE);
		LockOptions options = planned();
		assertThat(JobRefusal.of(refused(this.engine.acquire("a", options)))).isNull();
		Worker<LockEngine.Attempt> waiter = Worker.start(() -> this.engine.acquire("a", options.waitUpTo(LONG)));
		LockWorld.eventually().until(() -> asked() > 3);
		this.repository.release(other, Duration.ZERO, LockWorld.TIMEOUT);
		assertThat(JobRun.of(granted(waiter.result()))).isPresent();
	}

	@Test
	void anEarlierRunOfTheJobIsWaitedForAndNamedWhenTheWaitEnds() throws Exception {
		LockHandle earlier = granted(this.engine.acquire("a", planned()));
		LockOptions later = LockOptions.defaults().claim(JobFiring.at(this.at.plusSeconds(1)));
		LockRefusal refusal = refused(this.engine.acquire("a", later));
		assertThat(JobRefusal.of(refusal).reason()).isEqualTo(Reason.OVERLAPPED);
		assertThat(refusal.describe()).contains("planned for " + this.at);
		Worker<LockEngine.Attempt> waiter = Worker.start(() -> this.engine.acquire("a", later.waitUpTo(LONG)));
		waiter.awaitWaiting();
		earlier.close();
		LockHandle handle = granted(waiter.result());
		assertThat(JobRun.of(handle).orElseThrow().plannedAt()).isEqualTo(this.at.plusSeconds(1));
		assertThat(runs()).extracting(JobRun::outcome).containsExactly(null, JobRun.Outcome.SUCCEEDED);
	}

	@Test
	void aWaitEndsWhenAnotherInstanceHasRunThePlannedTime() throws Exception {
		LeaseKey other = this.world.seize("a", LockWorld.LEASE);
		Worker<LockEngine.Attempt> waiter = Worker.start(() -> this.engine.acquire("a", planned().waitUpTo(LONG)));
		LockWorld.eventually().until(() -> asked() > 3);
		this.repository.next(Kind.ACQUIRE, Fault.after(() -> {
			this.repository.release(other, Duration.ZERO, LockWorld.TIMEOUT);
			LeaseKey elsewhere = new LeaseKey("a", "elsewhere");
			this.repository
				.acquire(new AcquireRequest(elsewhere, LockWorld.LEASE, "host-2", "t", "w", LockWorld.TIMEOUT)
					.withClaim(planned().claim()));
			this.repository.release(elsewhere, Duration.ZERO, FenceMark.KEEP,
					new RunEnd("a", JobRun.Outcome.SUCCEEDED, null), LockWorld.TIMEOUT);
		}));
		assertThat(JobRefusal.of(refused(waiter.result())).reason()).isEqualTo(Reason.DONE);
		assertThat(this.engine.parts().queues().size()).isZero();
	}

	@Test
	void aRunIsNeitherHandedOverNorReceivedByHandOver() throws Exception {
		LockWorld.awaitReleases(this.engine);
		LockHandle first = this.template.acquire("a");
		Worker<LockEngine.Attempt> firing = Worker.start(() -> this.engine.acquire("a", planned().waitUpTo(LONG)));
		LockWorld.eventually().until(() -> this.engine.parts().queues().find("a").waiters() == 1);
		Worker<LockEngine.Attempt> plain = Worker
			.start(() -> this.engine.acquire("a", LockOptions.defaults().waitUpTo(LONG)));
		LockWorld.eventually().until(() -> this.engine.parts().queues().find("a").waiters() == 2);
		Worker<LockEngine.Attempt> next = Worker
			.start(() -> this.engine.acquire("a", LockOptions.defaults().waitUpTo(LONG)));
		LockWorld.eventually().until(() -> this.engine.parts().queues().find("a").waiters() == 3);
		int before = asked();
		first.close();
		LockHandle run = granted(firing.result());
		assertThat(JobRun.of(run)).isPresent();
		assertThat(asked()).isEqualTo(before + 1);
		run.close();
		assertThat(last().outcome()).isEqualTo(JobRun.Outcome.SUCCEEDED);
		LockHandle one = granted(plain.result());
		assertThat(JobRun.of(one)).isEmpty();
		assertThat(asked()).isEqualTo(before + 2);
		one.close();
		granted(next.result()).close();
		assertThat(asked()).as("plain locks are handed over").isEqualTo(before + 2);
	}

	@Test
	void theStoreDecidesWhateverIsKnownHere() {
		this.world.seize("a", LockWorld.LEASE);
		assertThat(this.template.tryAcquire("a")).isEmpty();
		this.repository.forceReleaseNow("a");
		int finds = this.repository.count(Kind.FIND);
		run(this.at);
		assertThat(this.repository.count(Kind.FIND)).isEqualTo(finds);
		LockHandle mine = this.template.acquire("a");
		assertThat(JobRefusal.of(refused(this.engine.acquire("a", planned()))).reason()).isEqualTo(Reason.DONE);
		assertThat(JobRefusal
			.of(refused(this.engine.acquire("a", LockOptions.defaults().claim(JobFiring.at(this.at.plusSeconds(1)))))))
			.isNull();
		assertThat(mine.isHeld()).isTrue();
		mine.close();
	}

	@Test
	void workThatThrowsIsRecordedAsFailed() {
		String text = "line\nbreak\u0000" + "x".repeat(1_000_000);
		assertThatIllegalStateException().isThrownBy(() -> this.template.execute("a", planned(), () -> {
			assertThat(JobRun.current()).get().extracting(JobRun::plannedAt).isEqualTo(this.at);
			throw new IllegalStateException(text);
		}, (refusal) -> null));
		assertThat(last().outcome()).isEqualTo(JobRun.Outcome.FAILED);
		assertThat(last().error()).hasSize(300)
			.startsWith("java.lang.IllegalStateException: line break xxx")
			.doesNotContain("\n");
		assertThat(JobRun.current()).isEmpty();
	}

	@Test
	void aFutureThatFailsIsRecordedAsFailed() {
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletionStage<String> result = this.template.executeAsync("a", planned(), () -> work, (refusal) -> null);
		assertThat(last().outcome()).isNull();
		work.completeExceptionally(new IllegalStateException("boom"));
		assertThat(result.toCompletableFuture()).failsWithin(Duration.ofSeconds(60));
		assertThat(last().outcome()).isEqualTo(JobRun.Outcome.FAILED);
		assertThat(last().error()).isEqualTo("java.lang.IllegalStateException: boom");
		CompletionStage<String> next = this.template.executeAsync("a",
				LockOptions.defaults().claim(JobFiring.at(this.at.plusSeconds(1))),
				() -> CompletableFuture.completedFuture("x"), (refusal) -> null);
		assertThat(next.toCompletableFuture()).succeedsWithin(Duration.ofSeconds(60));
		assertThat(last().outcome()).isEqualTo(JobRun.Outcome.SUCCEEDED);
	}

	@Test
	void aSequenceThatSignalsAnErrorOrIsCancelledIsRecordedAsFailed() {
		ReactiveLockTemplate reactive = new ReactiveLockTemplate(this.engine);
		Mono<String> failing = reactive.execute("a", planned(), () -> Mono.error(new IllegalStateException("boom")),
				(refusal) -> Mono.empty());
		assertThatIllegalStateException().isThrownBy(failing::block);
		assertThat(last().outcome()).isEqualTo(JobRun.Outcome.FAILED);
		Instant second = this.at.plusSeconds(1);
		assertThat(reactive
			.execute("a", LockOptions.defaults().claim(JobFiring.at(second)), () -> Mono.just("x"),
					(refusal) -> Mono.empty())
			.block()).isEqualTo("x");
		assertThat(last().outcome()).isEqualTo(JobRun.Outcome.SUCCEEDED);
		Instant third = this.at.plusSeconds(2);
		CompletableFuture<String> begun = new CompletableFuture<>();
		reactor.core.Disposable cancelled = reactive
			.execute("a", LockOptions.defaults().claim(JobFiring.at(third)),
					() -> Mono.<String>never().doOnSubscribe((subscription) -> begun.complete("begun")),
					(refusal) -> Mono.empty())
			.subscribe();
		assertThat(begun).succeedsWithin(Duration.ofSeconds(60));
		cancelled.dispose();
		LockWorld.eventually().until(() -> last().outcome() == JobRun.Outcome.LOST);
		assertThat(last().plannedAt()).isEqualTo(third);
	}

	@Test
	void aHandleThatIsClosedManuallyRecordsTheReportedFailure() {
		LockHandle handle = this.template.acquire("a", planned());
		handle.runFailed(new IllegalStateException("first"));
		handle.runFailed(new IllegalStateException("second"));
		handle.close();
		assertThat(last().outcome()).isEqualTo(JobRun.Outcome.FAILED);
		assertThat(last().error()).isEqualTo("java.lang.IllegalStateException: first");
	}

	@Test
	void interruptedWorkIsRepeatedAndHasNotFailed() {
		for (int attempt = 1; attempt <= 3; attempt++) {
			LockHandle handle = granted(this.engine.acquire("a", rerun()));
			handle.runFailed(new InterruptedException());
			assertThat(handle.release()).isTrue();
			assertThat(last().outcome()).isEqualTo(JobRun.Outcome.LOST);
			assertThat(last().error()).startsWith("java.lang.InterruptedException");
			assertThat(last().attempt()).isEqualTo(attempt);
		}
		assertThat(JobRefusal.of(refused(this.engine.acquire("a", rerun()))).reason()).isEqualTo(Reason.DONE);
	}

	@Test
	void workWhoseOwnTaskWasInterruptedOrCancelledHasFailed() {
		Instant planned = this.at;
		for (Throwable failure : List.of(new ExecutionException(new InterruptedException()),
				new CancellationException())) {
			LockOptions options = rerun(planned);
			LockHandle handle = granted(this.engine.acquire("a", options));
			handle.runFailed(failure);
			handle.close();
			assertThat(last().outcome()).isEqualTo(JobRun.Outcome.FAILED);
			assertThat(JobRefusal.of(refused(this.engine.acquire("a", rerun(planned)))).reason())
				.isEqualTo(Reason.DONE);
			planned = planned.plusSeconds(1);
		}
	}

	private LockOptions rerun() {
		return rerun(this.at);
	}

	private static LockOptions rerun(Instant planned) {
		return LockOptions.defaults().claim(JobFiring.of(null, new Schedule.Planned(planned), true));
	}

	@Test
	void workThatFailsInAnInterruptedThreadIsRepeated() {
		LockHandle handle = granted(this.engine.acquire("a", rerun()));
		Thread.currentThread().interrupt();
		handle.runFailed(new ClosedByInterruptException());
		assertThat(Thread.interrupted()).isTrue();
		handle.close();
		assertThat(JobRun.of(granted(this.engine.acquire("a", rerun()))).orElseThrow().attempt()).isEqualTo(2);
	}

	@Test
	void aLostLeaseIsRecordedAsLost() {
		LockHandle handle = this.template.acquire("a", planned().autoRenew(false));
		this.world.advance(LockWorld.LEASE);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::close);
		LockWorld.eventually().until(() -> last().outcome() == JobRun.Outcome.LOST);
		LockWorld.eventually().until(() -> this.world.news().contains("ended a LOST"));
		assertThat(this.world.news()).filteredOn((news) -> news.startsWith("ended")).hasSize(1);
		assertThat(JobRefusal.of(refused(this.engine.acquire("a", planned()))).reason()).isEqualTo(Reason.DONE);
	}

	private JobRun crash(Instant planned) {
		LeaseKey elsewhere = new LeaseKey("a", "elsewhere");
		this.repository
			.acquire(new AcquireRequest(elsewhere, Duration.ofMillis(1), "host-2", "t", "w", LockWorld.TIMEOUT)
				.withClaim(LockOptions.defaults().claim(JobFiring.at(planned)).claim()));
		this.world.advance(LockWorld.LEASE);
		return last();
	}

	@Test
	void aCrashIsReportedOnceByTheNextRun(CapturedOutput output) {
		JobRun crashed = crash(this.at);
		assertThat(JobRefusal.of(refused(this.engine.acquire("a", planned()))).reason()).isEqualTo(Reason.DONE);
		run(this.at.plusSeconds(1));
		run(this.at.plusSeconds(2));
		LockWorld.eventually().until(() -> this.world.news().contains("crashed a at " + this.at));
		assertThat(this.world.news()).filteredOn((news) -> news.startsWith("crashed")).hasSize(1);
		assertThat(output).containsOnlyOnce("WARN")
			.contains("The run of the job 'a' planned for " + this.at + " crashed: host-2 started it at "
					+ crashed.startedAt() + ", and its lease expired before its end was recorded. It is not repeated");
	}

	@Test
	void aRepetitionNamesTheCrashedRun(CapturedOutput output) {
		crash(this.at);
		JobFiring rerun = JobFiring.of(null, new Schedule.Planned(this.at.plusSeconds(1)), true);
		LockHandle handle = granted(this.engine.acquire("a", LockOptions.defaults().claim(rerun)));
		assertThat(JobRun.of(handle).orElseThrow().plannedAt()).isEqualTo(this.at);
		handle.close();
		assertThat(output).containsOnlyOnce("This instance repeats the crashed run of host-2, attempt 2");
	}

	@Test
	void aCrashIsReportedByTheNextAttemptIfTheAnswerToTheFirstIsLost(CapturedOutput output) {
		crash(this.at);
		this.repository.next(Kind.ACQUIRE, Fault.answerLost(Fault.timeout()));
		assertThatExceptionOfType(QueryTimeoutException.class).isThrownBy(() -> run(this.at.plusSeconds(1)));
		LockWorld.eventually().until(() -> last().outcome() == JobRun.Outcome.ABANDONED);
		assertThat(output).doesNotContain("crashed");
		run(this.at.plusSeconds(1));
		run(this.at.plusSeconds(2));
		assertThat(output).containsOnlyOnce("crashed");
	}

	@Test
	void aCrashIsReportedOnceAlsoIfTheWorkOfTheNextRunNeverBegins(CapturedOutput output) {
		crash(this.at);
		LockHandle unused = granted(
				this.engine.acquire("a", LockOptions.defaults().claim(JobFiring.at(this.at.plusSeconds(1)))));
		((HeldLock) unused).releaseUnused();
		assertThat(last().outcome()).isEqualTo(JobRun.Outcome.ABANDONED);
		run(this.at.plusSeconds(1));
		assertThat(output).containsOnlyOnce("crashed");
	}

	@Test
	void aGrantInDoubtIsAbandonedAndItsPlannedTimeIsOpen() {
		LockOptions options = planned();
		this.repository.next(Kind.ACQUIRE, Fault.answerLost(Fault.timeout()));
		assertThatExceptionOfType(QueryTimeoutException.class).isThrownBy(() -> this.engine.acquire("a", options));
		LockWorld.eventually().until(() -> last().outcome() == JobRun.Outcome.ABANDONED);
		run(this.at);
		assertThat(last().outcome()).isEqualTo(JobRun.Outcome.SUCCEEDED);
		assertThat(runs()).hasSize(1);
	}

	@Test
	void aFiringIsNotifiedOfARequestInDoubtAlsoIfTheNextOneIsAnswered() {
		List<Throwable> doubts = new ArrayList<>();
		LockOptions options = planned();
		LockOptions notified = options.claim(((JobFiring) options.claim()).whenInDoubt(doubts::add));
		this.repository.next(Kind.ACQUIRE,
				Fault.lost(() -> new UnreachableStoreException("nobody was asked", new IllegalStateException())));
		assertThatExceptionOfType(UnreachableStoreException.class).isThrownBy(() -> this.engine.acquire("a", notified));
		assertThat(doubts).isEmpty();
		this.repository.next(Kind.ACQUIRE, Fault.answerLost(() -> new DataAccessResourceFailureException("deposed")));
		granted(this.engine.acquire("a", notified)).close();
		assertThat(doubts).singleElement().extracting(Throwable::getMessage).isEqualTo("deposed");
		LockOptions later = notified.claim(((JobFiring) notified.claim()).withNewId().answerWithin(LockWorld.TIMEOUT));
		this.repository.next(Kind.ACQUIRE, Fault.answerLost(Fault.timeout()));
		assertThatExceptionOfType(QueryTimeoutException.class).isThrownBy(() -> this.engine.acquire("a", later));
		assertThat(doubts).hasSize(2);
	}

	@Test
	void aFiringCanHaveAShorterTimeLimitThanOtherRequests() {
		LockOptions options = planned();
		JobFiring firing = (JobFiring) options.claim();
		this.repository.next(Kind.ACQUIRE, Fault.answerLost(Fault.timeout()));
		assertThatExceptionOfType(QueryTimeoutException.class)
			.isThrownBy(() -> this.engine.acquire("a", options.claim(firing.answerWithin(Duration.ofMillis(1250)))));
		LockWorld.eventually().until(() -> last().outcome() == JobRun.Outcome.ABANDONED);
		granted(this.engine.acquire("a", options.claim(firing.answerWithin(LONG)))).close();
		assertThat(last().outcome()).isEqualTo(JobRun.Outcome.SUCCEEDED);
		assertThat(this.repository.requests(Kind.ACQUIRE)).extracting(Request::timeout)
			.containsExactly(Duration.ofMillis(1250), LockWorld.TIMEOUT);
		assertThatIllegalArgumentException().isThrownBy(() -> firing.answerWithin(Duration.ZERO));
	}

	@Test
	void aFiringWithATimeLimitDoesNotWaitWhateverTheSettingsOfTheLock() {
		LockSettings patient = new LockSettings(
				Map.of("a", new LockSettings.Setting(LockOptions.defaults().waitUpTo(LONG), null)));
		DefaultLockEngine waiting = this.world.newEngine(LockWorld.settings("", patient));
		LockOptions options = planned();
		LockOptions limited = options.claim(((JobFiring) options.claim()).answerWithin(LockWorld.TIMEOUT));
		LeaseKey other = new LeaseKey("a", "other");
		this.repository.acquire(new AcquireRequest(other, LockWorld.LEASE, "host-2", "t", "w", LockWorld.TIMEOUT));
		LockRefusal refusal = refused(waiting.acquire("a", limited));
		assertThat(refusal.waited()).isZero();
		assertThat(refusal.holder().acquirer()).isEqualTo("host-2");
		this.repository.next(Kind.ACQUIRE, Fault.lost(Fault.timeout()));
		assertThatExceptionOfType(QueryTimeoutException.class).isThrownBy(() -> waiting.acquire("a", limited));
		assertThat(this.repository.count(Kind.FIND)).isZero();
	}

	@Test
	void aFiringIsNotRefusedByItsOwnRequestInDoubt() throws Exception {
		LockOptions options = planned();
		Gate gate = new Gate();
		this.repository.next(Kind.ACQUIRE, Fault.answerLost(Fault.timeout()));
		this.repository.next(Kind.RELEASE, Fault.heldUp(gate));
		assertThatExceptionOfType(QueryTimeoutException.class).isThrownBy(() -> this.engine.acquire("a", options));
		gate.awaitReached();
		granted(this.engine.acquire("a", options)).close();
		gate.open();
		assertThat(last().outcome()).isEqualTo(JobRun.Outcome.SUCCEEDED);
	}

	@Test
	void workThatNeverBeganIsAbandoned() {
		LockHandle handle = granted(this.engine.acquire("a", planned().minHold(LockWorld.LEASE)));
		((HeldLock) handle).releaseUnused();
		assertThat(last().outcome()).isEqualTo(JobRun.Outcome.ABANDONED);
		run(this.at);
	}

	@Test
	void reEntryTakesNoPlannedTime() {
		int before = asked();
		String result = this.template.execute("a",
				() -> this.template.execute("a", planned(), () -> "done", (refusal) -> "refused"));
		assertThat(result).isEqualTo("done");
		assertThat(asked()).isEqualTo(before + 1);
		assertThat(runs()).isEmpty();
		run(this.at);
	}

	@Test
	void workWithinARunThatFailsIsNoFailureOfTheRun() {
		this.template.execute("a", planned(), () -> {
			CompletionStage<String> within = this.template.executeAsync("a", planned(),
					() -> CompletableFuture.failedFuture(new IllegalStateException("caught")), (refusal) -> null);
			assertThat(within.toCompletableFuture()).failsWithin(Duration.ofSeconds(60));
			assertThatIllegalStateException().isThrownBy(() -> this.template.executeAsync("a", planned(), () -> {
				throw new IllegalStateException("caught");
			}, (refusal) -> null));
			return "done";
		}, (refusal) -> "refused");
		assertThat(last().outcome()).isEqualTo(JobRun.Outcome.SUCCEEDED);
		assertThat(last().error()).isNull();
	}

	@Test
	void runThatFailsWhileWorkWithinItContinuesHasFailed() {
		CompletableFuture<String> within = new CompletableFuture<>();
		AtomicReference<CompletionStage<String>> continued = new AtomicReference<>();
		assertThatIllegalStateException().isThrownBy(() -> this.template.execute("a", planned(), () -> {
			continued.set(this.template.executeAsync("a", planned(), () -> within, (refusal) -> null));
			throw new IllegalStateException("failed");
		}, (refusal) -> "refused"));
		within.complete("done");
		assertThat(continued.get().toCompletableFuture()).succeedsWithin(Duration.ofSeconds(60));
		assertThat(last().outcome()).isEqualTo(JobRun.Outcome.FAILED);
		assertThat(last().error()).contains("failed");
	}

	@Test
	void workWithinARunThatFailsAfterItIsNoFailureOfTheRun() {
		CompletableFuture<String> within = new CompletableFuture<>();
		CompletionStage<String> continued = this.template.execute("a", planned(),
				() -> this.template.executeAsync("a", planned(), () -> within, (refusal) -> null), (refusal) -> null);
		within.completeExceptionally(new IllegalStateException("after the run"));
		assertThat(continued.toCompletableFuture()).failsWithin(Duration.ofSeconds(60));
		assertThat(last().outcome()).isEqualTo(JobRun.Outcome.SUCCEEDED);
	}

	@Test
	void severalLocksHaveNoPlannedTime() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.template.acquireAll(Map.of("a", planned(), "b", LockOptions.defaults())))
			.withMessageContaining("'a'")
			.withMessageContaining("planned time");
		assertThat(asked()).isZero();
	}

	@Test
	void aCrashedRunIsRepeatedByTheNextCaller() {
		LeaseKey crashed = new LeaseKey("a", "crashed");
		JobFiring firing = JobFiring.of(null, new Schedule.Planned(this.at), true);
		this.repository.acquire(
				new AcquireRequest(crashed, LockWorld.LEASE, "host-2", "t", "w", LockWorld.TIMEOUT).withClaim(firing));
		assertThat(JobRefusal.of(refused(this.engine.acquire("a", LockOptions.defaults().claim(firing.withNewId()))))
			.reason()).isEqualTo(Reason.RUNNING);
		this.world.advance(LockWorld.LEASE.multipliedBy(2));
		JobFiring next = JobFiring.of(null, new Schedule.Planned(this.at.plusSeconds(60)), true);
		try (LockHandle handle = granted(this.engine.acquire("a", LockOptions.defaults().claim(next)))) {
			assertThat(JobRun.of(handle).orElseThrow().plannedAt()).isEqualTo(this.at);
			assertThat(JobRun.of(handle).orElseThrow().attempt()).isEqualTo(2);
		}
		try (LockHandle handle = granted(this.engine.acquire("a", LockOptions.defaults().claim(next.withNewId())))) {
			assertThat(JobRun.of(handle).orElseThrow().plannedAt()).isEqualTo(this.at.plusSeconds(60));
		}
	}

}
