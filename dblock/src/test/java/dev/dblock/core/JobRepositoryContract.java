package dev.dblock.core;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import dev.dblock.job.GrantedRun;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobInfo.JobStatus;
import dev.dblock.job.JobRefusal;
import dev.dblock.job.JobRefusal.Reason;
import dev.dblock.job.JobRun;
import dev.dblock.job.StoredJob.RunEnd;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository.AcquireAnswer;
import dev.dblock.store.LockRepository.AcquireAnswer.Granted;
import dev.dblock.store.LockRepository.AcquireAnswer.Refused;
import dev.dblock.store.LockRepository.FenceMark;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of all stores for firings of jobs. The planned times are in the past, at
 * distances that no slow machine changes.
 */
public abstract class JobRepositoryContract extends PermitRepositoryContract {

	protected static final String JOB = "nightly";

	private static final Duration PERIOD = Duration.ofMinutes(10);

	protected final Instant past(long minutes) {
		return storeTime().minus(Duration.ofMinutes(minutes)).truncatedTo(ChronoUnit.MILLIS);
	}

	protected static JobFiring skip(Instant at) {
		return JobFiring.of(JOB, new Schedule.Planned(at), false);
	}

	protected static JobFiring rerun(Instant at) {
		return JobFiring.of(JOB, new Schedule.Planned(at), true);
	}

	private static JobFiring rate() {
		return JobFiring.of(JOB, new Schedule.FixedRate(PERIOD), false);
	}

	private static JobFiring delay(Duration delay) {
		return JobFiring.of(JOB, new Schedule.FixedDelay(delay), false);
	}

	protected final AcquireAnswer fire(LeaseKey key, JobFiring firing) {
		return locks().acquire(request(key, LEASE).withClaim(firing));
	}

	protected static GrantedRun granted(AcquireAnswer answer) {
		return (GrantedRun) ((Granted) answer).claimed();
	}

	protected final Started started(JobFiring firing) {
		LeaseKey key = key("stock");
		AcquireAnswer answer = fire(key, firing);
		assertThat(answer).isInstanceOf(Granted.class);
		JobRun run = granted(answer).run();
		assertThat(run).isNotNull();
		assertThat(run.outcome()).isNull();
		assertThat(run.token()).isEqualTo(((Granted) answer).token()).isEqualTo(((Granted) answer).lastToken());
		return new Started(key, run);
	}

	protected final JobRun ended(JobFiring firing, JobRun.Outcome outcome) {
		Started started = started(firing);
		assertThat(end(started.key(), outcome, null)).isTrue();
		return started.run();
	}

	protected final JobRun crashed(JobFiring firing) {
		JobRun run = started(firing).run();
		expire("stock");
		return run;
	}

	protected final boolean end(LeaseKey key, JobRun.Outcome outcome, String error) {
		return locks().release(key, Duration.ZERO, FenceMark.KEEP, new RunEnd(JOB, outcome, error), TIMEOUT);
	}

	protected final JobRefusal refused(JobFiring firing) {
		AcquireAnswer answer = fire(key("stock"), firing);
		assertThat(answer).isInstanceOf(Refused.class);
		return (JobRefusal) ((Refused) answer).verdict();
	}

	protected final List<JobRun> runs() {
		return status().runs();
	}

	protected final JobStatus status() {
		return JobRecords.of(locks()).find("stock", JOB).orElseThrow();
	}

	private static void assertRun(JobRun run, Instant planned, int attempt) {
		assertThat(run.jobId()).isEqualTo(JOB);
		assertThat(run.plannedAt()).isEqualTo(planned);
		assertThat(run.attempt()).isEqualTo(attempt);
	}

	@Test
	void theRecordsOfSeveralLocksAreReadAtOnce() {
		Map<String, String> ids = Map.of("stock", JOB, "shelf", "a.b", "box", "$price", "bag", "#1", "case",
				"x".repeat(300));
		ids.forEach((lock, id) -> {
			LeaseKey key = key(lock);
			assertThat(fire(key, JobFiring.of(id, new Schedule.Planned(past(id.length())), false)))
				.isInstanceOf(Granted.class);
			locks().release(key, Duration.ZERO, FenceMark.KEEP, new RunEnd(id, JobRun.Outcome.SUCCEEDED, null),
					TIMEOUT);
		});
		acquired("plain");
		Map<String, String> requested = new HashMap<>(ids);
		requested.put("plain", "hourly");
		requested.put("unknown", "daily");
		Map<String, JobStatus> found = JobRecords.of(locks()).findAll(requested);
		assertThat(found).containsOnlyKeys("stock", "shelf", "box", "bag", "case", "plain");
		ids.forEach((lock, id) -> assertThat(found.get(lock)).usingRecursiveComparison()
			.ignoringFields("at")
			.isEqualTo(JobRecords.of(locks()).find(lock, id).orElseThrow()));
		assertThat(found.get("shelf").runs()).singleElement().extracting(JobRun::jobId).isEqualTo("a.b");
		assertThat(found.get("plain").runs()).isEmpty();
		assertThat(JobRecords.of(locks()).findAll(Map.of())).isEmpty();
	}

	@Test
	void aPlannedTimeIsNotRunWhileItsLockHasPermits() {
		ended(skip(past(30)), JobRun.Outcome.SUCCEEDED);
		release(acquired("stock", 3), Duration.ZERO);
		Object stored = stored("stock");
		assertThat(refused(skip(past(20)))).isNull();
		assertThat(refused(rerun(past(20)))).isNull();
		assertThat(stored("stock")).isEqualTo(stored);
		release(acquired("stock", 1), Duration.ZERO);
		assertThat(started(skip(past(20))).run().attempt()).isEqualTo(1);
	}

	@Test
	void aPlannedTimeIsRunOnceAndOnlyLaterOnesAfterIt() {
		Instant at = past(30);
		Instant before = storeTime();
		Started first = started(skip(at));
		assertRun(first.run(), at, 1);
		assertThat(first.run().instance()).isEqualTo("host-1");
		assertThat(first.run().startedAt()).isBetween(before.minus(slack()), storeTime());
		assertThat(end(first.key(), JobRun.Outcome.SUCCEEDED, null)).isTrue();
		Object stored = stored("stock");
		for (Instant done : List.of(at, at.minusMillis(1))) {
			JobRefusal refusal = refused(skip(done));
			assertThat(refusal.reason()).isEqualTo(Reason.DONE);
			assertThat(refusal.nextDue()).isNull();
			assertRun(refusal.last(), at, 1);
			assertThat(refusal.last().outcome()).isEqualTo(JobRun.Outcome.SUCCEEDED);
			assertThat(refusal.last().endedAt()).isBetween(before, storeTime());
			assertThat(refusal.last().token()).isEqualTo(first.run().token());
		}
		assertThat(stored("stock")).as("a refusal changes nothing").isEqualTo(stored);
		assertThat(look("stock").held()).isFalse();
		assertRun(started(skip(at.plusMillis(1))).run(), at.plusMillis(1), 1);
	}

	@Test
	void aRunningPlannedTimeIsRefusedAsSuchAndALaterOneAsOverlapped() {
		Instant at = past(30);
		Started running = started(skip(at));
		for (Instant same : List.of(at, at.minusSeconds(1))) {
			JobRefusal refusal = refused(skip(same));
			assertThat(refusal.reason()).isEqualTo(Reason.RUNNING);
			assertThat(refusal.last()).isEqualTo(running.run());
		}
		JobRefusal later = refused(skip(at.plusSeconds(1)));
		assertThat(later.reason()).isEqualTo(Reason.OVERLAPPED);
		assertThat(later.last()).isEqualTo(running.run());
		assertThat(runs()).containsExactly(running.run());
	}

	@Test
	void anAcquireRepeatedWithTheSameIdReturnsTheSameRunAndChangesNothing() {
		LeaseKey key = key("stock");
		JobFiring firing = skip(past(30));
		AcquireAnswer first = fire(key, firing);
		Object stored = stored("stock");
		assertThat(fire(key, firing)).isEqualTo(first);
		assertThat(stored("stock")).isEqualTo(stored);
	}

	@Test
	void theSameFiringIsTheSameRun() {
		Instant at = past(30);
		JobFiring firing = skip(at);
		ended(firing, JobRun.Outcome.FAILED);
		Started again = started(firing);
		assertRun(again.run(), at, 1);
		assertThat(refused(firing)).as("not refused by itself").isNull();
		end(again.key(), JobRun.Outcome.SUCCEEDED, null);
		assertThat(runs()).singleElement().extracting(JobRun::outcome).isEqualTo(JobRun.Outcome.SUCCEEDED);
		assertThat(refused(firing.withNewId()).reason()).isEqualTo(Reason.DONE);
	}

	@Test
	void aPlannedTimeInTheFutureIsNotDue() {
		Instant future = storeTime().plusSeconds(3600);
		JobRefusal refusal = refused(skip(future));
		assertThat(refusal.reason()).isEqualTo(Reason.NOT_DUE);
		assertThat(refusal.nextDue()).isEqualTo(future.truncatedTo(ChronoUnit.MILLIS));
		assertThat(refusal.last()).isNull();
		ended(skip(past(30)), JobRun.Outcome.SUCCEEDED);
		assertThat(refused(skip(future)).reason()).isEqualTo(Reason.NOT_DUE);
		assertThat(refused(skip(storeTime().plusSeconds(30))).reason()).isEqualTo(Reason.NOT_DUE);
		started(skip(storeTime().plusMillis(200).minus(slack())));
	}

	@Test
	void anAbandonedPlannedTimeIsOpenAgain() {
		Instant at = past(30);
		ended(skip(at), JobRun.Outcome.ABANDONED);
		assertThat(refused(skip(at.minusSeconds(1))).reason()).isEqualTo(Reason.DONE);
		assertRun(ended(skip(at), JobRun.Outcome.SUCCEEDED), at, 1);
		assertThat(refused(skip(at)).reason()).isEqualTo(Reason.DONE);
		assertThat(runs()).as("nothing was run").hasSize(1);
		ended(skip(at.plusSeconds(1)), JobRun.Outcome.ABANDONED);
		assertRun(ended(skip(at.plusSeconds(2)), JobRun.Outcome.SUCCEEDED), at.plusSeconds(2), 1);
		assertThat(runs()).extracting(JobRun::plannedAt).containsExactly(at.plusSeconds(2), at);
	}

	private JobFiring late(JobFiring firing) {
		return firing.startWithin(Duration.ofSeconds(20), "cron");
	}

	private Optional<JobStatus> recordMissed(JobFiring firing) {
		return JobRecords.of(locks()).expire(key("stock"), firing);
	}

	@Test
	void aPlannedTimeThatCannotStartInTimeIsRecordedAsMissedOnce() {
		Instant at = past(30);
		Started before = started(skip(at.minusSeconds(60)).startWithin(Duration.ofHours(2), "cron"));
		end(before.key(), JobRun.Outcome.SUCCEEDED, null);
		JobFiring firing = late(skip(at));
		Object stored = stored("stock");
		JobRefusal refusal = refused(firing);
		assertThat(refusal.reason()).isEqualTo(Reason.TOO_LATE);
		assertThat(refusal.isFinal()).isTrue();
		assertThat(stored("stock")).as("a refusal changes nothing").isEqualTo(stored);
		JobRun missed = recordMissed(firing).orElseThrow().runs().get(0);
		assertRun(missed, at, 0);
		assertThat(missed.outcome()).isEqualTo(JobRun.Outcome.MISSED);
		assertThat(missed.after()).isEqualTo(at.minusSeconds(60));
		assertThat(missed.plan()).isEqualTo("cron");
		assertThat(missed.instance()).isEqualTo("host-1");
		assertThat(missed.startedAt()).isEqualTo(missed.endedAt())
			.isBetween(before.run().startedAt(), storeTime().plus(slack()));
		assertThat(missed.token()).isZero();
		assertThat(recordMissed(firing).orElseThrow().runs()).as("repeated without an answer").hasSize(2);
		for (JobFiring again : List.of(firing.withNewId(), skip(at), late(skip(at.minusMillis(1))), rerun(at))) {
			assertThat(recordMissed(again)).isEmpty();
			assertThat(refused(again).reason()).isEqualTo(Reason.DONE);
			assertThat(refused(again).describe()).startsWith("recorded as missed by host-1 at ");
		}
		JobRun next = ended(late(skip(storeTime())), JobRun.Outcome.SUCCEEDED);
		assertThat(next.after()).isEqualTo(at);
		assertThat(runs()).extracting(JobRun::outcome)
			.containsExactly(JobRun.Outcome.SUCCEEDED, JobRun.Outcome.MISSED, JobRun.Outcome.SUCCEEDED);
		assertThat(look("stock").held()).isFalse();
	}

	@Test
	void aPlannedTimeThatStartsInTimeIsNotRecordedAsMissed() {
		Instant at = past(30);
		ended(skip(at), JobRun.Outcome.SUCCEEDED);
		JobFiring inTime = skip(at.plusSeconds(1)).startWithin(Duration.ofMinutes(31), null);
		assertThat(recordMissed(inTime)).isEmpty();
		JobRun run = ended(inTime, JobRun.Outcome.SUCCEEDED);
		assertThat(run.after()).isEqualTo(at);
		assertThat(run.plan()).isNull();
		JobFiring whenever = skip(at.plusSeconds(2)).startWithin(Duration.ofSeconds(Long.MAX_VALUE), null);
		ended(whenever, JobRun.Outcome.SUCCEEDED);
		assertThat(recordMissed(late(skip(storeTime().plusSeconds(3600))))).isEmpty();
	}

	@Test
	void noPlannedTimeIsRecordedAsMissedWhileAnEarlierRunIsInProgress() {
		Instant at = past(30);
		Started running = started(skip(at));
		JobFiring later = late(skip(at.plusSeconds(1)));
		assertThat(refused(later).reason()).isEqualTo(Reason.OVERLAPPED);
		assertThat(refused(later).isFinal()).isFalse();
		assertThat(recordMissed(later)).isEmpty();
		assertThat(end(running.key(), JobRun.Outcome.SUCCEEDED, null)).isTrue();
		assertThat(refused(later).reason()).isEqualTo(Reason.TOO_LATE);
		assertThat(recordMissed(later)).isPresent();
	}

	@Test
	void aPlannedTimeIsRecordedAsMissedWhileTheLockIsHeldForSomethingElse() {
		Instant at = past(30);
		ended(skip(at), JobRun.Outcome.SUCCEEDED);
		LeaseKey other = acquired("stock");
		JobFiring later = late(skip(at.plusSeconds(1)));
		assertThat(refused(later).reason()).isEqualTo(Reason.TOO_LATE);
		assertThat(recordMissed(later)).isPresent();
		assertThat(look("stock").holder()).isEqualTo(other.holder());
		assertThat(release(other, Duration.ZERO)).isTrue();
		assertThat(runs()).extracting(JobRun::outcome).containsExactly(JobRun.Outcome.MISSED, JobRun.Outcome.SUCCEEDED);
	}

	@Test
	void theRunBeforeAMissedPlannedTimeCrashed() {
		Instant at = past(30);
		JobRun crashed = crashed(skip(at));
		JobStatus status = recordMissed(late(skip(at.plusSeconds(1)))).orElseThrow();
		assertThat(status.runs()).extracting(JobRun::outcome)
			.containsExactly(JobRun.Outcome.MISSED, JobRun.Outcome.CRASHED);
		assertThat(status.runs().get(1).token()).isEqualTo(crashed.token());
		assertThat(status.runs().get(0).after()).isEqualTo(at);
	}

	@Test
	void anAbandonedPlannedTimeThatIsTooLateIsMissed() {
		Instant at = past(30);
		ended(skip(at.minusSeconds(60)), JobRun.Outcome.SUCCEEDED);
		JobFiring firing = skip(at);
		ended(firing, JobRun.Outcome.ABANDONED);
		for (JobFiring same : List.of(late(firing), late(skip(at)))) {
			assertThat(refused(same).reason()).isEqualTo(Reason.TOO_LATE);
		}
		JobRun missed = recordMissed(late(firing)).orElseThrow().runs().get(0);
		assertRun(missed, at, 0);
		assertThat(missed.after()).isEqualTo(at.minusSeconds(60));
		assertThat(runs()).hasSize(2);
	}

	@Test
	void anAbandonedPlannedTimeCountsAsNotSettled() {
		Instant at = past(30);
		ended(skip(at), JobRun.Outcome.SUCCEEDED);
		ended(skip(at.plusSeconds(1)), JobRun.Outcome.ABANDONED);
		assertThat(ended(skip(at.plusSeconds(2)), JobRun.Outcome.SUCCEEDED).after()).isEqualTo(at);
		ended(skip(at.plusSeconds(3)), JobRun.Outcome.ABANDONED);
		assertThat(ended(skip(at.plusSeconds(3)), JobRun.Outcome.FAILED).after()).isEqualTo(at.plusSeconds(2));
		assertThat(recordMissed(late(skip(at.plusSeconds(5)))).orElseThrow().runs().get(0).after())
			.isEqualTo(at.plusSeconds(3));
	}

	@Test
	void aRepetitionIsAfterWhatItsFirstAttemptWasAfter() {
		Instant at = past(30);
		ended(skip(at.minusSeconds(60)), JobRun.Outcome.SUCCEEDED);
		crashed(rerun(at));
		assertThat(crashed(rerun(at.plusSeconds(5))).after()).isEqualTo(at.minusSeconds(60));
		assertRun(ended(rerun(at), JobRun.Outcome.SUCCEEDED), at, 3);
		assertThat(runs().get(0).after()).isEqualTo(at.minusSeconds(60));
		assertThat(ended(rerun(at.plusSeconds(5)), JobRun.Outcome.SUCCEEDED).after()).isEqualTo(at);
	}

	@Test
	void aCrashedRunIsRepeatedOnlyWithinTheTimeAfterItsLease() {
		Instant at = past(30);
		crashed(rerun(at));
		Duration shortly = Duration.ofMillis(1);
		Awaitility.await()
			.atMost(TIMEOUT)
			.untilAsserted(
					() -> assertThat(refused(rerun(at).startWithin(shortly, null)).reason()).isEqualTo(Reason.DONE));
		assertThat(refused(rerun(at.plusSeconds(1)).startWithin(shortly, null)).reason()).isEqualTo(Reason.TOO_LATE);
		assertRun(ended(rerun(at.plusSeconds(1)).startWithin(Duration.ofMinutes(5), null), JobRun.Outcome.ABANDONED),
				at, 2);
		// A store that follows the server's clock by samples may be behind the end. It
		// would grant the run once more, which would then be in progress.
		Awaitility.await()
			.pollDelay(slack().plusMillis(100))
			.atMost(TIMEOUT)
			.untilAsserted(
					() -> assertThat(refused(rerun(at).startWithin(shortly, null)).reason()).isEqualTo(Reason.DONE));
		assertThat(recordMissed(rerun(at).startWithin(shortly, null))).isEmpty();
		assertRun(ended(rerun(at).startWithin(Duration.ofMinutes(5), null), JobRun.Outcome.ABANDONED), at, 2);
		assertThat(ended(skip(at.plusSeconds(2)), JobRun.Outcome.SUCCEEDED).after()).isEqualTo(at);
		assertThat(runs()).extracting(JobRun::outcome)
			.containsExactly(JobRun.Outcome.SUCCEEDED, JobRun.Outcome.CRASHED);
	}

	@Test
	void aGrantWithoutAnAnswerIsNotRepeatedTooLate() {
		JobFiring firing = skip(past(30));
		started(firing);
		expire("stock");
		assertThat(refused(late(firing)).reason()).isEqualTo(Reason.DONE);
		assertThat(recordMissed(late(firing))).isEmpty();
		assertThat(runs()).singleElement().extracting(JobRun::outcome).isEqualTo(JobRun.Outcome.CRASHED);
	}

	@Test
	void aRunThatFailedIsRepeatedByItsFiringAtAnyTime() {
		JobFiring firing = skip(past(30));
		ended(firing, JobRun.Outcome.FAILED);
		ended(late(firing), JobRun.Outcome.ABANDONED);
		ended(late(firing), JobRun.Outcome.SUCCEEDED);
		assertThat(runs()).hasSize(1);
	}

	@Test
	void aPlannedTimeIsAlsoRecordedAsMissedIfTheLockWasNeverAcquired() {
		Instant at = past(30);
		JobFiring firing = late(skip(at));
		JobFiring later = late(skip(at.plusSeconds(60)));
		assertThat(recordMissed(firing).orElseThrow().runs()).singleElement().extracting(JobRun::after).isNull();
		assertThat(refused(firing).reason()).isEqualTo(Reason.DONE);
		assertThat(refused(later).reason()).isEqualTo(Reason.TOO_LATE);
		assertThat(recordMissed(later).orElseThrow().runs()).extracting(JobRun::outcome)
			.containsExactly(JobRun.Outcome.MISSED, JobRun.Outcome.MISSED);
		release(acquired("stock"), Duration.ZERO);
		JobRun run = ended(skip(at.plusSeconds(120)), JobRun.Outcome.SUCCEEDED);
		assertThat(run.after()).isEqualTo(at.plusSeconds(60));
	}

	@Test
	void nothingIsRecordedAsMissedThatCanStillStart() {
		Instant at = past(30);
		assertThat(recordMissed(skip(at))).isEmpty();
		assertThat(ended(skip(at), JobRun.Outcome.SUCCEEDED).after()).isNull();
	}

	@Test
	void nothingIsRecordedAsMissedWhileTheJobIsPaused() {
		ended(skip(past(31)), JobRun.Outcome.SUCCEEDED);
		JobRecords.of(locks()).pause("stock", JOB, "me");
		JobFiring firing = late(skip(past(30)));
		assertThat(refused(firing).reason()).isEqualTo(Reason.PAUSED);
		assertThat(recordMissed(firing)).isEmpty();
		JobRecords.of(locks()).resume("stock", JOB);
		assertThat(recordMissed(firing)).isPresent();
	}

	@Test
	void twelveThreadsRecordAMissedPlannedTimeOnce() throws Exception {
		ended(skip(past(31)), JobRun.Outcome.SUCCEEDED);
		JobFiring firing = late(skip(past(30)));
		ExecutorService executor = Executors.newFixedThreadPool(12);
		try {
			List<Callable<Optional<JobStatus>>> calls = Collections.nCopies(12, () -> recordMissed(firing.withNewId()));
			int recorded = 0;
			for (Future<Optional<JobStatus>> each : executor.invokeAll(calls)) {
				recorded += each.get().isPresent() ? 1 : 0;
			}
			assertThat(recorded).isEqualTo(1);
		}
		finally {
			executor.shutdownNow();
		}
		assertThat(runs()).hasSize(2);
	}

	@Test
	void aCrashedRunIsNotRepeatedUnlessThatIsAskedFor() {
		Instant at = past(30);
		JobRun crashed = crashed(skip(at));
		JobRefusal refusal = refused(skip(at));
		assertThat(refusal.reason()).isEqualTo(Reason.DONE);
		assertThat(refusal.last().outcome()).isEqualTo(JobRun.Outcome.CRASHED);
		assertThat(refusal.last().endedAt()).isNull();
		assertRun(ended(skip(at.plusSeconds(1)), JobRun.Outcome.SUCCEEDED), at.plusSeconds(1), 1);
		JobRun stored = runs().get(1);
		assertThat(stored.outcome()).isEqualTo(JobRun.Outcome.CRASHED);
		assertThat(stored.token()).isEqualTo(crashed.token());
		assertThat(stored.startedAt()).isEqualTo(crashed.startedAt());
	}

	@Test
	void aCrashedRunIsRepeatedForItsOwnPlannedTimeInThreeAttempts() {
		Instant at = past(30);
		crashed(rerun(at));
		assertRun(crashed(rerun(at.plusSeconds(1))), at, 2);
		assertRun(crashed(rerun(at)), at, 3);
		assertThat(refused(rerun(at)).reason()).isEqualTo(Reason.DONE);
		assertRun(ended(rerun(at.plusSeconds(1)), JobRun.Outcome.SUCCEEDED), at.plusSeconds(1), 1);
		assertThat(runs()).extracting(JobRun::attempt).containsExactly(1, 3, 2, 1);
		assertThat(runs()).extracting(JobRun::outcome)
			.containsExactly(JobRun.Outcome.SUCCEEDED, JobRun.Outcome.CRASHED, JobRun.Outcome.CRASHED,
					JobRun.Outcome.CRASHED);
	}

	@Test
	void aPlannedTimeKeepsItsNumberOfShards() {
		Instant at = past(30);
		assertThat(crashed(rerun(at).shards(16)).shards()).isEqualTo(16);
		assertThat(crashed(rerun(at).shards(4)).shards()).as("by another version").isEqualTo(16);
		assertThat(crashed(rerun(at)).shards()).as("by a version without shards").isZero();
		Instant next = at.plusSeconds(1);
		assertThat(ended(rerun(next).shards(4), JobRun.Outcome.SUCCEEDED).shards()).isEqualTo(4);
		assertThat(runs()).extracting(JobRun::shards).containsExactly(4, 0, 16, 16);
	}

	@Test
	void aPlannedTimeThatBeganWithoutShardsHasThoseOfItsRepetition() {
		Instant at = past(30);
		assertThat(crashed(rerun(at)).shards()).isZero();
		assertThat(crashed(rerun(at).shards(4)).shards()).isEqualTo(4);
		assertThat(ended(rerun(at).shards(16), JobRun.Outcome.SUCCEEDED).shards()).isEqualTo(4);
	}

	@Test
	void aShardStartsAsLateAsItsPlannedTimeAllowsButIsRepeatedWithinItsLimit() {
		Instant at = past(60);
		Duration limit = Duration.ofSeconds(10);
		JobFiring shard = JobFiring.of("stock (shard 3)", new JobFiring.Schedule.Planned(at), true)
			.startWithin(limit, null)
			.shards(4);
		assertThat(refused(rerun(at).startWithin(limit, null).shards(4)).reason()).isEqualTo(Reason.TOO_LATE);
		assertThat(started(shard).run().shard()).isEqualTo(3);
	}

	@Test
	void afterARepetitionTheFiringAsksForItsOwnPlannedTime() {
		Instant at = past(30);
		crashed(skip(at));
		JobFiring firing = rerun(at.plusSeconds(1));
		assertRun(ended(firing, JobRun.Outcome.FAILED), at, 2);
		assertRun(ended(firing, JobRun.Outcome.SUCCEEDED), at, 2);
		assertRun(ended(firing.withNewId(), JobRun.Outcome.SUCCEEDED), at.plusSeconds(1), 1);
	}

	@Test
	void aRunThatEndedIsNotRepeated() {
		Instant at = past(30);
		for (JobRun.Outcome outcome : List.of(JobRun.Outcome.SUCCEEDED, JobRun.Outcome.FAILED)) {
			at = at.plusSeconds(1);
			Started run = started(rerun(at));
			expire("stock");
			end(run.key(), outcome, null);
			assertThat(refused(rerun(at)).last().outcome()).isEqualTo(outcome);
			assertThat(refused(rerun(at)).reason()).isEqualTo(Reason.DONE);
		}
	}

	@Test
	void aRunThatLostItsLockIsRepeatedLikeACrashedOne() {
		Instant at = past(30);
		ended(rerun(at), JobRun.Outcome.LOST);
		assertThat(refused(skip(at)).reason()).isEqualTo(Reason.DONE);
		assertRun(ended(rerun(at), JobRun.Outcome.LOST), at, 2);
		assertRun(ended(rerun(at.plusSeconds(1)), JobRun.Outcome.LOST), at, 3);
		assertThat(refused(rerun(at)).reason()).isEqualTo(Reason.DONE);
		assertRun(ended(rerun(at.plusSeconds(1)), JobRun.Outcome.SUCCEEDED), at.plusSeconds(1), 1);
		assertThat(runs()).extracting(JobRun::outcome)
			.containsExactly(JobRun.Outcome.SUCCEEDED, JobRun.Outcome.LOST, JobRun.Outcome.LOST, JobRun.Outcome.LOST);
	}

	@Test
	void aRetryThatWasAbandonedLeavesThePlannedTimeDone() {
		Instant at = past(30);
		for (boolean repeated : List.of(false, true)) {
			at = at.plusSeconds(1);
			JobFiring firing = JobFiring.of(JOB, new Schedule.Planned(at), repeated);
			ended(firing, JobRun.Outcome.FAILED);
			ended(firing, JobRun.Outcome.ABANDONED);
			for (JobFiring other : List.of(skip(at), rerun(at))) {
				assertThat(refused(other).reason()).isEqualTo(Reason.DONE);
			}
			assertRun(ended(firing, JobRun.Outcome.ABANDONED), at, 1);
			assertThat(refused(skip(at)).reason()).as("however often").isEqualTo(Reason.DONE);
		}
		assertThat(runs()).as("both were run").hasSize(2);
	}

	@Test
	void aRunThatSucceededIsNotRunAgainByADelayedRequestOfItsFiring() {
		// Half a period before the next one is due
		Instant at = past(35);
		JobFiring firing = rerun(at);
		ended(firing, JobRun.Outcome.SUCCEEDED);
		assertThat(refused(firing).reason()).isEqualTo(Reason.DONE);
		assertThat(runs()).singleElement().extracting(JobRun::outcome).isEqualTo(JobRun.Outcome.SUCCEEDED);
		crashed(rerun(at.plusSeconds(1)));
		JobFiring later = rerun(at.plusSeconds(2));
		assertRun(ended(later, JobRun.Outcome.SUCCEEDED), at.plusSeconds(1), 2);
		assertRun(ended(later, JobRun.Outcome.ABANDONED), at.plusSeconds(2), 1);
		assertRun(ended(skip(at.plusSeconds(2)), JobRun.Outcome.SUCCEEDED), at.plusSeconds(2), 1);
		assertThat(runs()).extracting(JobRun::outcome)
			.containsExactly(JobRun.Outcome.SUCCEEDED, JobRun.Outcome.SUCCEEDED, JobRun.Outcome.CRASHED,
					JobRun.Outcome.SUCCEEDED);
		JobFiring rate = rate();
		Instant planned = ended(rate, JobRun.Outcome.SUCCEEDED).plannedAt();
		assertThat(refused(rate).reason()).isEqualTo(Reason.NOT_DUE);
		assertThat(refused(rate).nextDue()).isEqualTo(planned.plus(PERIOD));
	}

	@Test
	void aCrashedRunIsRepeatedAlsoIfARetryOfItWasAbandoned() {
		Instant at = past(30);
		for (boolean lost : List.of(false, true)) {
			JobFiring firing = rerun(at);
			for (int attempt = 1; attempt <= 3; attempt++) {
				Started run = started(firing);
				assertRun(run.run(), at, attempt);
				expire("stock");
				if (lost) {
					end(run.key(), JobRun.Outcome.LOST, null);
				}
				assertRun(ended(firing, JobRun.Outcome.ABANDONED), at, attempt);
				assertRun(ended(firing, JobRun.Outcome.ABANDONED), at, attempt);
				assertThat(refused(skip(at)).reason()).isEqualTo(Reason.DONE);
				firing = rerun(at.plusSeconds(1));
			}
			at = at.plusSeconds(1);
			assertRun(ended(firing, JobRun.Outcome.SUCCEEDED), at, 1);
			at = at.plusSeconds(1);
		}
		assertThat(runs()).extracting(JobRun::attempt).containsExactly(1, 3, 2, 1, 1, 3, 2, 1);
	}

	@Test
	void aRunThatWasReleasedByForceIsNotRepeatedIfARetryOfItWasAbandoned() {
		Instant at = past(30);
		JobFiring firing = rerun(at);
		started(firing);
		locks().forceReleaseNow("stock");
		ended(firing, JobRun.Outcome.ABANDONED);
		assertThat(refused(rerun(at)).reason()).isEqualTo(Reason.DONE);
	}

	@Test
	void aRetryOfWhatNeverBeganLeavesThePlannedTimeOpen() {
		Instant at = past(30);
		JobFiring firing = skip(at);
		ended(firing, JobRun.Outcome.ABANDONED);
		ended(firing, JobRun.Outcome.ABANDONED);
		assertRun(ended(skip(at), JobRun.Outcome.SUCCEEDED), at, 1);
	}

	@Test
	void aRepetitionThatWasAbandonedIsStillToBeDone() {
		Instant at = past(30);
		crashed(rerun(at));
		assertRun(ended(rerun(at.plusSeconds(1)), JobRun.Outcome.ABANDONED), at, 2);
		assertRun(ended(rerun(at.plusSeconds(1)), JobRun.Outcome.SUCCEEDED), at, 2);
		assertRun(ended(rerun(at.plusSeconds(1)), JobRun.Outcome.ABANDONED), at.plusSeconds(1), 1);
		assertRun(ended(rerun(at.plusSeconds(2)), JobRun.Outcome.SUCCEEDED), at.plusSeconds(2), 1);
	}

	@Test
	void aRunWhoseLeaseIsNotOverIsNotRepeated() {
		Instant at = past(30);
		started(rerun(at));
		assertThat(refused(rerun(at)).reason()).isEqualTo(Reason.RUNNING);
		assertThat(refused(rerun(at.plusSeconds(1))).reason()).isEqualTo(Reason.OVERLAPPED);
	}

	@Test
	void aForcedReleaseIsNoCrash() {
		Instant at = past(30);
		Instant before = storeTime();
		started(rerun(at));
		locks().forceRelease("stock");
		JobRefusal refusal = refused(rerun(at));
		assertThat(refusal.reason()).isEqualTo(Reason.DONE);
		assertThat(refusal.last().outcome()).isEqualTo(JobRun.Outcome.FAILED);
		assertThat(refusal.last().error()).isEqualTo("The lock was released by force");
		assertThat(refusal.last().endedAt()).isBetween(before, storeTime());
		assertThat(refused(rerun(at.plusSeconds(1)))).as("the lease is not over").isNull();
		expire("stock");
		started(rerun(at.plusSeconds(1)));
		locks().forceReleaseNow("stock");
		assertRun(started(rerun(at.plusSeconds(2))).run(), at.plusSeconds(2), 1);
		assertThat(runs()).extracting(JobRun::outcome)
			.containsExactly(null, JobRun.Outcome.FAILED, JobRun.Outcome.FAILED);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aForcedReleaseIsNoCrashWhateverTakesTheLockNext(boolean now) {
		Instant at = past(30);
		for (int next = 0; next < 3; next++) {
			at = at.plusSeconds(10);
			Started forced = started(rerun(at));
			assertThat(now ? locks().forceReleaseNow("stock") : locks().forceRelease("stock")).isTrue();
			expire("stock");
			LeaseKey other = key("stock");
			JobFiring firing = JobFiring.of("other", new Schedule.Planned(at), true);
			assertThat((next == 0) ? acquire(other) : fire(other, firing)).isInstanceOf(Granted.class);
			if (next == 2) {
				locks().forceReleaseNow("stock");
				assertThat(runs()).as("not the one of the other job").first().satisfies((run) -> {
					assertThat(run.outcome()).isEqualTo(JobRun.Outcome.FAILED);
					assertThat(run.token()).isEqualTo(forced.run().token());
				});
			}
			release(other, Duration.ZERO);
			assertThat(end(forced.key(), JobRun.Outcome.SUCCEEDED, null)).isFalse();
			assertThat(refused(rerun(at)).reason()).isEqualTo(Reason.DONE);
			assertRun(ended(rerun(at.plusSeconds(1)), JobRun.Outcome.SUCCEEDED), at.plusSeconds(1), 1);
		}
	}

	@Test
	void aForcedReleaseChangesNoRunThatEndedBefore() {
		ended(skip(past(30)), JobRun.Outcome.SUCCEEDED);
		List<JobRun> ended = runs();
		acquired("stock");
		assertThat(locks().forceReleaseNow("stock")).isTrue();
		assertThat(runs()).isEqualTo(ended);
		assertThat(locks().forceReleaseNow("stock")).isFalse();
		assertThat(runs()).isEqualTo(ended);
	}

	@Test
	void aRunIsEndedEitherByItsReleaseOrByForce() throws Exception {
		Instant at = past(30);
		ExecutorService holder = Executors.newSingleThreadExecutor();
		try {
			for (int i = 0; i < 20; i++) {
				Started run = started(rerun(at.plusSeconds(i)));
				CyclicBarrier start = new CyclicBarrier(2);
				Future<Boolean> released = holder.submit(() -> {
					start.await();
					return end(run.key(), JobRun.Outcome.SUCCEEDED, null);
				});
				start.await();
				boolean forced = locks().forceReleaseNow("stock");
				assertThat(released.get()).isNotEqualTo(forced);
				assertThat(runs().get(0).outcome())
					.isEqualTo(forced ? JobRun.Outcome.FAILED : JobRun.Outcome.SUCCEEDED);
			}
		}
		finally {
			holder.shutdown();
		}
	}

	@Test
	void aCrashIsOneAlsoIfAPlainLockWasNext() {
		Instant at = past(30);
		crashed(rerun(at));
		LeaseKey plain = acquired("stock");
		assertThat(refused(rerun(at))).as("held by something else").isNull();
		release(plain, Duration.ZERO);
		assertRun(ended(rerun(at.plusSeconds(1)), JobRun.Outcome.SUCCEEDED), at, 2);
	}

	private JobRun crashedBefore(JobFiring firing) {
		return crashedBefore(firing, JobRun.Outcome.SUCCEEDED, null);
	}

	private JobRun crashedBefore(JobFiring firing, JobRun.Outcome outcome, String error) {
		LeaseKey key = key("stock");
		AcquireAnswer answer = fire(key, firing);
		assertThat(answer).isInstanceOf(Granted.class);
		if (outcome != null) {
			end(key, outcome, error);
		}
		return granted(answer).crashed();
	}

	@Test
	void theNextGrantReportsACrash() {
		Instant at = past(30);
		assertThat(crashedBefore(skip(at.minusSeconds(1)))).isNull();
		JobRun run = crashed(skip(at));
		assertThat(refused(skip(at)).last().outcome()).isEqualTo(JobRun.Outcome.CRASHED);
		JobRun reported = crashedBefore(skip(at.plusSeconds(1)));
		assertRun(reported, at, 1);
		assertThat(reported.outcome()).isEqualTo(JobRun.Outcome.CRASHED);
		assertThat(reported.token()).isEqualTo(run.token());
		assertThat(reported.instance()).isEqualTo(run.instance());
		assertThat(reported.startedAt()).isEqualTo(run.startedAt());
		assertThat(crashedBefore(skip(at.plusSeconds(2)))).isNull();
		assertThat(crashedBefore(rerun(at.plusSeconds(3)))).isNull();
	}

	@Test
	void eachRepetitionReportsTheCrashBeforeIt() {
		Instant at = past(30);
		crashed(rerun(at));
		assertRun(crashedBefore(rerun(at), null, null), at, 1);
		expire("stock");
		assertRun(crashedBefore(rerun(at.plusSeconds(1)), null, null), at, 2);
		expire("stock");
		JobRun third = crashedBefore(rerun(at.plusSeconds(1)));
		assertRun(third, at, 3);
		assertThat(crashedBefore(rerun(at.plusSeconds(2)))).isNull();
	}

	@Test
	void aGrantWithoutAnAnswerLeavesTheCrashToTheNextOne() {
		for (long minutes : List.of(30L, 20L)) {
			Instant at = past(minutes);
			crashed(skip(at));
			JobFiring lost = (minutes == 30) ? skip(at.plusSeconds(1)) : rerun(at);
			assertRun(crashedBefore(lost, JobRun.Outcome.ABANDONED, null), at, 1);
			assertRun(crashedBefore(lost, JobRun.Outcome.ABANDONED, null), at, 1);
			assertRun(crashedBefore(lost.withNewId(), JobRun.Outcome.ABANDONED, "reported"), at, 1);
			assertThat(crashedBefore(lost.withNewId())).isNull();
		}
	}

	@Test
	void aGrantWithoutAnAnswerThatIsNotReleasedLeavesTheCrashToItsOwnFiring() {
		Instant at = past(30);
		crashed(skip(at));
		JobFiring inDoubt = skip(at.plusSeconds(1));
		assertRun(crashedBefore(inDoubt, null, null), at, 1);
		expire("stock");
		assertRun(crashedBefore(inDoubt, JobRun.Outcome.FAILED, "boom"), at, 1);
		assertThat(crashedBefore(inDoubt)).as("a retry of the work").isNull();
	}

	@Test
	void onlyACrashIsReportedAsOne() {
		Instant at = past(40);
		for (JobRun.Outcome outcome : List.of(JobRun.Outcome.SUCCEEDED, JobRun.Outcome.FAILED, JobRun.Outcome.LOST,
				JobRun.Outcome.ABANDONED)) {
			ended(skip(at), outcome);
			assertThat(crashedBefore(rerun(at.plusSeconds(1)))).as(outcome.name()).isNull();
			at = at.plusSeconds(60);
		}
		started(skip(at));
		locks().forceReleaseNow("stock");
		assertThat(crashedBefore(rerun(at.plusSeconds(1)))).as("a forced release").isNull();
	}

	@Test
	void aCrashIsReportedByTheNextGrantOfItsOwnJob() {
		Instant at = past(30);
		JobRun run = crashed(skip(at));
		LeaseKey other = key("stock");
		JobFiring firing = JobFiring.of("other", new Schedule.Planned(at), true);
		assertThat(granted(fire(other, firing)).crashed()).isNull();
		locks().release(other, Duration.ZERO, FenceMark.KEEP, new RunEnd("other", JobRun.Outcome.SUCCEEDED, null),
				TIMEOUT);
		LeaseKey byHand = key("stock");
		assertThat(((Granted) locks().acquire(request(byHand, LEASE))).claimed()).isNull();
		locks().release(byHand, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT);
		JobRecords.of(locks()).pause("stock", JOB, "ann");
		assertThat(refused(skip(at.plusSeconds(1))).reason()).isEqualTo(Reason.PAUSED);
		JobRecords.of(locks()).resume("stock", JOB);
		assertThat(crashedBefore(skip(at.plusSeconds(1))).token()).isEqualTo(run.token());
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aCrashOfAPeriodicJobIsReported(boolean fixedRate) {
		crashed(skip(past(30)));
		assertThat(crashedBefore(fixedRate ? rate() : delay(Duration.ZERO)).outcome())
			.isEqualTo(JobRun.Outcome.CRASHED);
	}

	@Test
	void aLockThatOtherWorkHoldsIsRefusedWithoutAReasonOfTheJob() {
		Instant at = past(30);
		ended(skip(at), JobRun.Outcome.SUCCEEDED);
		LeaseKey plain = acquired("stock");
		assertThat(refused(skip(at.plusSeconds(1)))).isNull();
		assertThat(refused(skip(at)).reason()).as("known nevertheless").isEqualTo(Reason.DONE);
		release(plain, LEASE);
		assertThat(refused(skip(at.plusSeconds(1)))).as("in its minimum hold").isNull();
		assertThat(runs()).hasSize(1);
	}

	@Test
	void twoJobsOfOneLockExcludeEachOtherAndHaveSeparatePlannedTimes() {
		Instant at = past(30);
		JobFiring other = JobFiring.of("other", new Schedule.Planned(at), false);
		Started first = started(skip(at));
		assertThat(refused(other)).isNull();
		end(first.key(), JobRun.Outcome.SUCCEEDED, null);
		LeaseKey key = key("stock");
		assertThat(fire(key, other)).isInstanceOf(Granted.class);
		assertThat(refused(skip(at)).reason()).isEqualTo(Reason.DONE);
		assertThat(refused(skip(at.plusSeconds(1)))).isNull();
		assertThat(locks().release(key, Duration.ZERO, FenceMark.KEEP, new RunEnd("other", JobRun.Outcome.FAILED, "x"),
				TIMEOUT))
			.isTrue();
		assertThat(runs()).singleElement().extracting(JobRun::outcome).isEqualTo(JobRun.Outcome.SUCCEEDED);
		assertThat(JobRecords.of(locks()).find("stock", "other").orElseThrow().runs()).singleElement()
			.satisfies((run) -> assertThat(run.error()).isEqualTo("x"));
		assertThat(JobRecords.of(locks()).find("stock", "third").orElseThrow().runs()).isEmpty();
		assertThat(JobRecords.of(locks()).find("nothing", JOB)).isEmpty();
	}

	@Test
	void aFixedRateIsPlannedByItsLastPlannedTime() {
		Instant before = storeTime();
		Started first = started(rate());
		assertThat(first.run().plannedAt()).as("nothing known: now").isBetween(before.minus(slack()), storeTime());
		JobRefusal running = refused(rate());
		assertThat(running.reason()).isEqualTo(Reason.RUNNING);
		assertThat(running.nextDue()).isEqualTo(first.run().plannedAt().plus(PERIOD));
		end(first.key(), JobRun.Outcome.FAILED, "x");
		JobRefusal refusal = refused(rate());
		assertThat(refusal.reason()).isEqualTo(Reason.NOT_DUE);
		assertThat(refusal.nextDue()).isEqualTo(first.run().plannedAt().plus(PERIOD));
		assertThat(refusal.last().outcome()).isEqualTo(JobRun.Outcome.FAILED);
	}

	@Test
	void aFixedRateTakesTheLatestPlannedTimeThatIsDue() {
		Instant at = past(35);
		ended(skip(at), JobRun.Outcome.SUCCEEDED);
		JobFiring firing = rate();
		Started late = started(firing);
		assertRun(late.run(), at.plus(PERIOD.multipliedBy(3)), 1);
		assertThat(refused(rate()).reason()).isEqualTo(Reason.RUNNING);
		end(late.key(), JobRun.Outcome.ABANDONED, null);
		assertRun(ended(firing, JobRun.Outcome.ABANDONED), late.run().plannedAt(), 1);
		assertRun(ended(rate(), JobRun.Outcome.SUCCEEDED), late.run().plannedAt(), 1);
		assertThat(refused(rate()).nextDue()).isEqualTo(at.plus(PERIOD.multipliedBy(4)));
	}

	@Test
	void theFirstAndTheLastPlannedTimeOfAllAreDecidedLikeAnyOther() {
		Instant first = Instant.parse("0001-01-01T00:00:00Z");
		assertRun(ended(skip(first), JobRun.Outcome.SUCCEEDED), first, 1);
		assertThat(refused(skip(first)).reason()).isEqualTo(Reason.DONE);
		assertThat(refused(skip(Instant.parse("9999-12-31T23:59:59.999Z"))).reason()).isEqualTo(Reason.NOT_DUE);
	}

	@ParameterizedTest
	@ValueSource(longs = { Long.MAX_VALUE, Long.MAX_VALUE / 1000 - 1 })
	void aPeriodWithoutAnEndIsAHundredYears(long seconds) {
		Duration century = Duration.ofDays(36_500);
		Schedule rate = new Schedule.FixedRate(Duration.ofSeconds(seconds));
		Instant planned = ended(JobFiring.of(JOB, rate, false), JobRun.Outcome.SUCCEEDED).plannedAt();
		JobRefusal refusal = refused(JobFiring.of(JOB, rate, false));
		assertThat(refusal.reason()).isEqualTo(Reason.NOT_DUE);
		assertThat(refusal.nextDue()).isEqualTo(planned.plus(century));
		Schedule delay = new Schedule.FixedDelay(Duration.ofSeconds(seconds));
		refusal = refused(JobFiring.of(JOB, delay, false));
		assertThat(refusal.reason()).isEqualTo(Reason.NOT_DUE);
		assertThat(refusal.nextDue()).isEqualTo(runs().get(0).endedAt().plus(century));
	}

	@Test
	void aRunOfAnEarlierPeriodIsOverlapped() {
		Instant at = past(35);
		started(skip(at));
		JobRefusal refusal = refused(rate());
		assertThat(refusal.reason()).isEqualTo(Reason.OVERLAPPED);
		assertThat(refusal.nextDue()).isEqualTo(at.plus(PERIOD));
	}

	@Test
	void aCrashedRunOfAFixedRateIsRepeatedBeforeTheNextIsDue() {
		Started first = started(rate());
		expire("stock");
		assertThat(refused(rate()).reason()).isEqualTo(Reason.NOT_DUE);
		assertRun(started(JobFiring.of(JOB, new Schedule.FixedRate(PERIOD), true)).run(), first.run().plannedAt(), 2);
	}

	@Test
	void aFixedDelayIsPlannedByTheLastEnd() {
		Started first = started(delay(PERIOD));
		JobRefusal running = refused(delay(Duration.ZERO));
		assertThat(running.reason()).isEqualTo(Reason.RUNNING);
		assertThat(running.nextDue()).isNull();
		end(first.key(), JobRun.Outcome.SUCCEEDED, null);
		Instant end = runs().get(0).endedAt();
		JobRefusal refusal = refused(delay(PERIOD));
		assertThat(refusal.reason()).isEqualTo(Reason.NOT_DUE);
		assertThat(refusal.nextDue()).isEqualTo(end.plus(PERIOD));
		// A store that follows the server's clock by samples may be behind the end
		JobFiring zero = delay(Duration.ZERO);
		Awaitility.await().atMost(TIMEOUT).until(() -> fire(key("stock"), zero) instanceof Granted);
		expire("stock");
		assertRun(runs().get(0), end, 1);
		Instant before = storeTime();
		assertThat(started(delay(PERIOD)).run().plannedAt()).as("the end of a crashed run is unknown")
			.isBetween(before.minus(slack()), storeTime());
	}

	@Test
	void aPausedJobIsRefusedUntilItIsResumed() {
		Instant paused = storeTime();
		JobRecords.of(locks()).pause("stock", JOB, "ann");
		JobStatus status = status();
		assertThat(status)
			.isEqualTo(new JobStatus(JOB, List.of(), true, "ann", status.pausedAt(), null, null, status.at()));
		assertThat(status.pausedAt()).isBetween(paused.minus(slack()), storeTime().plus(slack()));
		assertThat(status.at()).isBetween(paused.minus(slack()), storeTime().plus(slack()));
		Instant at = past(30);
		JobRefusal refusal = refused(skip(at));
		assertThat(refusal.reason()).isEqualTo(Reason.PAUSED);
		assertThat(refusal.pausedBy()).isEqualTo("ann");
		assertThat(refused(rate()).reason()).isEqualTo(Reason.PAUSED);
		assertThat(fire(key("stock"), JobFiring.of("other", new Schedule.Planned(at), false)))
			.as("the lock is another one's as well")
			.isInstanceOf(Granted.class);
		locks().forceReleaseNow("stock");
		release(acquired("stock"), Duration.ZERO);
		JobRecords.of(locks()).pause("stock", JOB, "bob");
		assertThat(refused(skip(at)).pausedBy()).isEqualTo("bob");
		Instant resumed = storeTime();
		assertThat(JobRecords.of(locks()).resume("stock", JOB)).isTrue();
		assertThat(status().resumedAt()).isBetween(resumed.minus(slack()), storeTime().plus(slack()));
		assertThat(status().pausedAt()).as("the beginning of the last pause")
			.isBeforeOrEqualTo(status().resumedAt().plus(slack()));
		assertThat(status().pausedBy()).isNull();
		assertThat(JobRecords.of(locks()).resume("stock", JOB)).isFalse();
		assertThat(JobRecords.of(locks()).resume("nothing", JOB)).isFalse();
		Started run = started(skip(at));
		JobRecords.of(locks()).pause("stock", JOB, "ann");
		assertThat(refused(skip(at)).reason()).isEqualTo(Reason.PAUSED);
		assertThat(status().heldBy()).isEqualTo(run.run().instance());
		assertThat(end(run.key(), JobRun.Outcome.SUCCEEDED, null)).as("a run goes on").isTrue();
		assertThat(status().resumedAt()).as("kept by the grant and the release").isNotNull();
		assertThat(status().paused()).isTrue();
		assertThat(status().heldBy()).isNull();
		assertThat(runs()).hasSize(1);
	}

	@Test
	void aPauseLeavesTheTokensRising() {
		long last = granted("stock").lastToken();
		locks().forceReleaseNow("stock");
		JobRecords.of(locks()).pause("stock", JOB, "ann");
		assertThat(granted("stock").token()).isGreaterThan(last);
		JobRecords.of(locks()).pause("new", JOB, "ann");
		assertThat(look("new").held()).isFalse();
		assertThat(granted("new").token()).isBetween(storeTime().minusSeconds(3600).toEpochMilli() * 1024,
				storeTime().plus(slack()).plusSeconds(1).toEpochMilli() * 1024);
	}

	@Test
	void theLastTwentyRunsAreKept() {
		Instant at = past(50);
		for (int last = 0; last < 42; last++) {
			Started run = started(skip(at.plusSeconds(last)));
			end(run.key(), JobRun.Outcome.FAILED, "error " + last);
			List<JobRun> runs = runs();
			assertThat(runs).hasSize(Math.min(last + 1, 20));
			for (int i = 0; i < runs.size(); i++) {
				assertRun(runs.get(i), at.plusSeconds(last - i), 1);
				assertThat(runs.get(i).error()).isEqualTo("error " + (last - i));
				assertThat(runs.get(i).endedAt()).isAfterOrEqualTo(runs.get(i).startedAt().minus(slack()));
			}
		}
	}

	@Test
	void aReleaseByAnotherIdRecordsNothing() {
		Started first = crashed30();
		Started second = started(skip(first.run().plannedAt().plusSeconds(1)));
		assertThat(end(first.key(), JobRun.Outcome.ABANDONED, null)).isFalse();
		assertThat(end(key("stock"), JobRun.Outcome.ABANDONED, null)).isFalse();
		assertThat(end(key("nothing"), JobRun.Outcome.ABANDONED, null)).isFalse();
		assertThat(runs()).first().isEqualTo(second.run());
		assertThat(look("stock").holder()).isEqualTo(second.key().holder());
		assertThat(stored("nothing")).isNull();
	}

	private Started crashed30() {
		Started run = started(skip(past(30)));
		expire("stock");
		return run;
	}

	@Test
	void aMinimumHoldRecordsTheEndAsWell() {
		Started run = started(skip(past(30)));
		RunEnd end = new RunEnd(JOB, JobRun.Outcome.FAILED, "$x");
		assertThat(locks().release(run.key(), LEASE, FenceMark.KEEP, end, TIMEOUT)).isTrue();
		assertThat(look("stock").remaining()).isPositive();
		assertThat(runs()).singleElement().satisfies((ended) -> {
			assertThat(ended.outcome()).isEqualTo(JobRun.Outcome.FAILED);
			assertThat(ended.error()).isEqualTo("$x");
			assertThat(ended.endedAt()).isNotNull();
		});
	}

	static Stream<String> ids() {
		return names();
	}

	@ParameterizedTest
	@MethodSource("ids")
	void idsAreLiteralText(String text) {
		String id = text.isBlank() ? "." : text;
		Instant at = past(30);
		JobFiring firing = new JobFiring(id, new Schedule.Planned(at), "$" + id, false);
		LeaseKey key = key("stock");
		assertThat(granted(fire(key, firing)).run().jobId()).isEqualTo(id);
		assertThat(refused(firing.withNewId()).reason()).isEqualTo(Reason.RUNNING);
		RunEnd end = new RunEnd(id, JobRun.Outcome.FAILED, "$$ROOT");
		assertThat(locks().release(key, Duration.ZERO, FenceMark.KEEP, end, TIMEOUT)).isTrue();
		assertThat(refused(firing.withNewId()).reason()).isEqualTo(Reason.DONE);
		assertThat(granted(fire(key("stock"), firing)).run().plannedAt()).isEqualTo(at);
		locks().forceReleaseNow("stock");
		JobRecords.of(locks()).pause("stock", id, "$$NOW");
		JobStatus status = JobRecords.of(locks()).find("stock", id).orElseThrow();
		assertThat(status.pausedBy()).isEqualTo("$$NOW");
		assertThat(status.runs()).hasSize(1);
		assertThat(JobRecords.of(locks()).resume("stock", id)).isTrue();
	}

	@Test
	void withoutAnIdTheJobIsCalledLikeItsLock() {
		JobFiring firing = JobFiring.of(null, new Schedule.Planned(past(30)), false);
		assertThat(started(firing).run().jobId()).isEqualTo("stock");
		assertThat(JobRecords.of(locks()).find("stock", "stock").orElseThrow().runs()).hasSize(1);
	}

	/**
	 * A run that was started.
	 *
	 * @param key the acquisition
	 * @param run the run
	 */
	protected record Started(LeaseKey key, JobRun run) {
	}

}
