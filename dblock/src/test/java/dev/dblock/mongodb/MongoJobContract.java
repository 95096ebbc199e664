package dev.dblock.mongodb;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.dblock.ForeignDocumentException;
import dev.dblock.claim.Claim;
import dev.dblock.claim.Claim.How;
import dev.dblock.core.JobRecords;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobRefusal.Reason;
import dev.dblock.job.JobRun;
import dev.dblock.job.StoredJob.RunEnd;
import dev.dblock.mongodb.request.Requests;
import dev.dblock.mongodb.request.StoreRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository.AcquireAnswer.Granted;
import dev.dblock.store.LockRepository.FenceMark;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * How the run records of jobs are stored, and how records that were changed manually are
 * treated.
 */
@ExtendWith(OutputCaptureExtension.class)
abstract class MongoJobContract extends MongoLockRepositoryContract {

	private static final String WARNING = "of the document of the lock 'stock' (collection";

	private Document record() {
		return stored("stock").get("jobs", Document.class).get(JOB, Document.class);
	}

	@Test
	void aRunHasTheseFields() {
		Instant at = past(30);
		JobFiring firing = skip(at);
		Started run = started(firing);
		assertThat(fieldsOfAGrant(stored("stock"))).containsExactlyInAnyOrder("_id", "holder", "acquirer", "thread",
				"why", "token", "acquiredAt", "updatedAt", "expiresAt", "leaseMillis", "cleanUpAt", "jobs");
		assertThat(record().keySet()).containsExactlyInAnyOrder("last", "runs");
		assertThat(record().get("runs")).isEqualTo(List.of());
		Document last = record().get("last", Document.class);
		assertThat(last.keySet()).containsExactlyInAnyOrder("planned", "attempt", "firing", "holder", "started",
				"instance", "token");
		assertThat(last).containsEntry("planned", Date.from(at))
			.containsEntry("attempt", 1)
			.containsEntry("firing", firing.id())
			.containsEntry("holder", run.key().holder())
			.containsEntry("instance", "host-1")
			.containsEntry("token", stored("stock").getLong("token"));
		end(run.key(), JobRun.Outcome.FAILED, "boom");
		assertThat(stored("stock").keySet()).doesNotContain("holder", "expiresAt");
		Document ended = record().get("last", Document.class);
		assertThat(ended).containsEntry("outcome", "FAILED").containsEntry("error", "boom").containsKey("ended");
		ended(skip(at.plusSeconds(1)), JobRun.Outcome.SUCCEEDED);
		assertThat(record().getList("runs", Document.class)).containsExactly(ended);
	}

	@Test
	void aRetryKeepsHowTheRunBeforeItEnded() {
		Instant at = past(30);
		JobFiring firing = skip(at);
		ended(firing, JobRun.Outcome.ABANDONED);
		crashed(firing);
		assertThat(record().get("last", Document.class)).doesNotContainKey("again");
		for (JobRun.Outcome end : List.of(JobRun.Outcome.FAILED, JobRun.Outcome.LOST)) {
			String before = (end == JobRun.Outcome.FAILED) ? "CRASHED" : "FAILED";
			ended(firing, JobRun.Outcome.ABANDONED);
			assertThat(record().get("last", Document.class)).containsEntry("again", before);
			ended(firing, end);
			assertThat(record().get("last", Document.class)).containsEntry("again", before);
		}
		ended(firing, JobRun.Outcome.ABANDONED);
		for (Object value : List.of(5, true, "of a later version", "ABANDONED")) {
			set("stock", "jobs.nightly.last.again", value);
			assertThat(refused(rerun(at)).reason()).isEqualTo(Reason.DONE);
		}
		set("stock", "jobs.nightly.last.again", null);
		assertThat(ended(rerun(at), JobRun.Outcome.SUCCEEDED).plannedAt()).isEqualTo(at);
	}

	@Test
	void unknownFieldsSurviveInTheRecordAndTheRecordSurvivesPlainLocks() {
		ended(skip(past(30)), JobRun.Outcome.SUCCEEDED);
		set("stock", "jobs.later", new Document("x", 1));
		set("stock", "jobs.nightly.later", "$$ROOT");
		set("stock", "jobs.nightly.runs", List.of(new Document("later", 1)));
		ended(skip(past(20)), JobRun.Outcome.SUCCEEDED);
		assertThat(record()).containsEntry("later", "$$ROOT");
		assertThat(record().getList("runs", Document.class)).hasSize(2).contains(new Document("later", 1));
		assertThat(stored("stock").get("jobs", Document.class)).containsEntry("later", new Document("x", 1));
		Object jobs = stored("stock").get("jobs");
		release(acquired("stock"), LEASE);
		this.locks.forceReleaseNow("stock");
		acquired("stock");
		assertThat(stored("stock").get("jobs")).isEqualTo(jobs);
	}

	@Test
	void aDocumentFromBeforeThereWereJobsIsAFreeLockOfAJob() {
		release(acquired("stock"), Duration.ZERO);
		long token = stored("stock").getLong("token");
		assertThat(started(skip(past(30))).run().token()).isGreaterThan(token);
		this.documents.insertOne(new Document("_id", "bare"));
		assertThat(fire(key("bare"), skip(past(30)))).isInstanceOf(Granted.class);
	}

	static Stream<Arguments> malformed() {
		Date past = new Date(0);
		Document run = new Document("planned", new Date(System.currentTimeMillis())).append("attempt", 1)
			.append("firing", "x")
			.append("holder", "x")
			.append("started", past)
			.append("outcome", "SUCCEEDED");
		return Stream.concat(
				Stream.of(arguments("jobs", "text"), arguments("jobs", List.of(1)), arguments("jobs.nightly", "text"),
						arguments("jobs.nightly", 5), arguments("jobs.nightly.last", "text"),
						arguments("jobs.nightly.last", List.of()), arguments("jobs.nightly.runs", "text")),
				Stream
					.of(new Document("planned", "now"), new Document("attempt", "one"), new Document("attempt", 1.5),
							new Document("attempt", 1L))
					.map((wrong) -> {
						Document last = new Document(run);
						last.putAll(wrong);
						return arguments("jobs.nightly.last", last);
					}));
	}

	@ParameterizedTest
	@MethodSource("malformed")
	void aManuallyChangedRecordIsIgnoredWithOneWarning(String field, Object value, CapturedOutput output) {
		Instant at = past(30);
		ended(skip(at), JobRun.Outcome.SUCCEEDED);
		set("stock", field, value);
		Instant later = at.plusSeconds(1);
		assertThat(ended(skip(later), JobRun.Outcome.SUCCEEDED).plannedAt()).isEqualTo(later);
		assertThat(output.toString()).containsOnlyOnce(WARNING);
		assertThat(refused(skip(later)).reason()).isEqualTo(Reason.DONE);
		assertThat(runs().get(0).outcome()).isEqualTo(JobRun.Outcome.SUCCEEDED);
		assertThat(ended(skip(at.plusSeconds(2)), JobRun.Outcome.FAILED).attempt()).isEqualTo(1);
		set("stock", field, value);
		ended(JobFiring.of(JOB, new Schedule.FixedRate(Duration.ofMillis(1)), true), JobRun.Outcome.SUCCEEDED);
		assertThat(refused(skip(later)).reason()).isEqualTo(Reason.DONE);
	}

	@Test
	void aJobWhosePauseWasChangedManuallyIsPausedUntilItIsResumed() {
		ended(skip(past(30)), JobRun.Outcome.SUCCEEDED);
		set("stock", "jobs.nightly.paused", true);
		assertThat(refused(skip(past(20))).reason()).isEqualTo(Reason.PAUSED);
		assertThat(JobRecords.of(this.locks).resume("stock", JOB)).isTrue();
		ended(skip(past(20)), JobRun.Outcome.SUCCEEDED);
	}

	@ParameterizedTest
	@ValueSource(strings = { "last.error", "runs" })
	void aRecordThatIsTooLargeLosesItsHistoryAndNotItsPlannedTime(String field, CapturedOutput output) {
		Instant at = past(30);
		ended(skip(at), JobRun.Outcome.SUCCEEDED);
		Object large = "x".repeat(100_000);
		set("stock", "jobs.nightly." + field, field.equals("runs") ? List.of(new Document("x", large)) : large);
		StoreRequest store = Requests.on(this.client.getDatabase(this.database), "locks", TIMEOUT);
		assertThat(Requests.repairRecord(store, "stock", JOB)).isTrue();
		assertThat(Requests.repairRecord(store, "stock", JOB)).isFalse();
		assertThat(output.toString()).containsOnlyOnce(WARNING);
		assertThat(refused(skip(at)).reason()).isEqualTo(Reason.DONE);
		ended(skip(at.plusSeconds(1)), JobRun.Outcome.SUCCEEDED);
		assertThat(record().getList("runs", Document.class)).extracting((run) -> run.getDate("planned"))
			.containsExactly(Date.from(at));
	}

	@Test
	void nullInPlaceOfARecordIsNoRecord() {
		for (String field : List.of("jobs", "jobs.nightly", "jobs.nightly.last", "jobs.nightly.runs",
				"jobs.nightly.paused")) {
			ended(skip(past(30)), JobRun.Outcome.SUCCEEDED);
			set("stock", field, null);
			ended(skip(past(20)), JobRun.Outcome.SUCCEEDED);
			assertThat(refused(skip(past(25))).reason()).isEqualTo(Reason.DONE);
			forget("stock");
		}
	}

	@Test
	void aUsualRecordIsNotTooLarge(CapturedOutput output) {
		Instant at = past(60);
		String error = "\u20ac".repeat(300);
		for (int i = 0; i < 32; i++) {
			Started run = started(skip(at.plusSeconds(i)));
			end(run.key(), JobRun.Outcome.FAILED, error);
		}
		assertThat(runs()).hasSize(20);
		assertThat(output.toString()).doesNotContain(WARNING);
	}

	@ParameterizedTest
	@ValueSource(strings = { "jobs", "jobs.nightly", "jobs.nightly.last", "jobs.nightly.last.holder" })
	void aReleaseWhoseRecordWasChangedSinceTheGrantReleasesTheLockWithoutIt(String field) {
		for (Duration minHold : List.of(Duration.ZERO, LEASE)) {
			Started run = started(skip(past(30)));
			set("stock", field, "text");
			assertThat(this.locks.release(run.key(), minHold, FenceMark.CLEAR,
					new RunEnd(JOB, JobRun.Outcome.SUCCEEDED, null), TIMEOUT))
				.isTrue();
			Document stored = stored("stock");
			assertThat(stored).doesNotContainKey("holder").containsEntry("fencePending", false);
			assertThat(stored.containsKey("expiresAt")).isEqualTo(!minHold.isZero());
			forget("stock");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "jobs", "jobs.nightly", "jobs.nightly.last", "jobs.nightly.last.planned",
			"jobs.nightly.last.holder", "jobs.nightly.last.outcome" })
	void aForcedReleaseWhoseRecordWasChangedManuallyReleasesTheLock(String field) {
		for (Object value : Arrays.asList("text", List.of(1), null)) {
			started(skip(past(30)));
			set("stock", field, value);
			assertThat(this.locks.forceReleaseNow("stock")).isTrue();
			assertThat(stored("stock")).doesNotContainKeys("holder", "expiresAt").containsEntry("fencePending", true);
			forget("stock");
		}
	}

	@Test
	void aForcedReleaseEndsARunWhoseJobIsStoredAsAHash() {
		JobFiring firing = JobFiring.of("a.b", new Schedule.Planned(past(30)), true);
		fire(key("stock"), firing);
		this.locks.forceRelease("stock");
		assertThat(JobRecords.of(this.locks).find("stock", "a.b").orElseThrow().runs()).extracting(JobRun::outcome)
			.containsExactly(JobRun.Outcome.FAILED);
		assertThat(stored("stock").get("jobs", Document.class)).hasSize(1);
	}

	@Test
	void aReleaseDoesNotCreateARecordWithoutAPlannedTime() {
		Started run = started(skip(past(30)));
		this.documents.updateOne(new Document("_id", "stock"), new Document("$unset", new Document("jobs", "")));
		assertThat(end(run.key(), JobRun.Outcome.SUCCEEDED, null)).isTrue();
		assertThat(stored("stock")).doesNotContainKeys("jobs", "holder", "expiresAt");
	}

	@Test
	void aRunWhoseEndCouldNotBeRecordedIsNotRepeated() {
		Instant at = past(30);
		Started run = started(rerun(at));
		set("stock", "jobs.nightly.last.holder", "spoilt");
		assertThat(end(run.key(), JobRun.Outcome.SUCCEEDED, null)).isTrue();
		set("stock", "jobs.nightly.last.holder", run.key().holder());
		assertThat(refused(rerun(at)).reason()).isEqualTo(Reason.DONE);
		assertThat(runs()).extracting(JobRun::outcome).containsExactly(JobRun.Outcome.LOST);
	}

	@Test
	void aStoredPlannedTimeThatIsFarAheadOfTheClockIsIgnored() {
		Instant at = past(30);
		ended(skip(at), JobRun.Outcome.SUCCEEDED);
		Date far = new Date(serverTime() + Duration.ofHours(2).toMillis());
		set("stock", "jobs.nightly.last.planned", far);
		assertThat(ended(skip(at), JobRun.Outcome.SUCCEEDED).plannedAt()).isEqualTo(at);
		assertThat(record().getList("runs", Document.class)).singleElement()
			.satisfies((run) -> assertThat(run).containsEntry("planned", far));
		set("stock", "jobs.nightly.last.planned", far);
		assertThat(ended(JobFiring.of(JOB, new Schedule.FixedRate(LEASE), false), JobRun.Outcome.SUCCEEDED).plannedAt())
			.isBefore(far.toInstant());
		Date near = new Date(serverTime() + Duration.ofSeconds(50).toMillis());
		set("stock", "jobs.nightly.last.planned", near);
		assertThat(refused(skip(at.plusSeconds(1))).reason()).isEqualTo(Reason.DONE);
		set("stock", "jobs.nightly.last.planned", Date.from(at));
		set("stock", "jobs.nightly.last.ended", far);
		JobFiring delayed = JobFiring.of(JOB, new Schedule.FixedDelay(LEASE), false);
		assertThat(ended(delayed, JobRun.Outcome.SUCCEEDED).plannedAt()).isBefore(far.toInstant());
	}

	@Test
	void theDocumentOfAJobOutlivesItsNextPlannedTime() {
		release(acquired("stock"), Duration.ZERO);
		ended(skip(past(30)), JobRun.Outcome.SUCCEEDED);
		Date kept = stored("stock").getDate("cleanUpAt");
		assertThat(kept.toInstant()).isAfter(storeTime().plus(Duration.ofDays(400)));
		release(acquired("stock"), Duration.ZERO);
		assertThat(stored("stock").getDate("cleanUpAt")).isEqualTo(kept);
		ended(skip(past(20)), JobRun.Outcome.SUCCEEDED);
		assertThat(stored("stock").getDate("cleanUpAt")).isEqualTo(kept);
	}

	@Test
	void aPauseDoesNotExpire() {
		for (String lock : List.of("new", "stock")) {
			JobRecords.of(this.locks).pause(lock, JOB, "ann");
			Date never = stored(lock).getDate("cleanUpAt");
			assertThat(never.toInstant()).isAfter(storeTime().plus(Duration.ofDays(365_000)));
			release(acquired(lock), Duration.ZERO);
			assertThat(stored(lock).getDate("cleanUpAt")).as("after a plain acquisition").isEqualTo(never);
			JobRecords.of(this.locks).pause(lock, "other", "ann");
			assertThat(JobRecords.of(this.locks).resume(lock, JOB)).isTrue();
			assertThat(stored(lock).getDate("cleanUpAt")).as("while another job is paused").isEqualTo(never);
			assertThat(JobRecords.of(this.locks).resume(lock, "other")).isTrue();
			assertThat(stored(lock).getDate("cleanUpAt").toInstant()).isBetween(storeTime().plus(Duration.ofDays(399)),
					storeTime().plus(Duration.ofDays(401)));
			ended(skip(past(30)), JobRun.Outcome.SUCCEEDED);
		}
	}

	@Test
	void theDocumentOfAPlainLockIsKeptNoLongerThanItHasToBe() {
		release(acquired("stock"), Duration.ZERO);
		Date usual = stored("stock").getDate("cleanUpAt");
		set("stock", "cleanUpAt", new Date(usual.getTime() + Duration.ofDays(300).toMillis()));
		release(acquired("stock"), Duration.ZERO);
		assertThat(stored("stock").getDate("cleanUpAt").toInstant())
			.isBefore(usual.toInstant().plus(Duration.ofDays(100)));
	}

	@Test
	void aForcedReleaseLeavesNoOtherFieldsThanARelease() {
		release(acquired("stock"), Duration.ZERO);
		acquired("stock");
		this.locks.forceReleaseNow("stock");
		assertThat(stored("stock").keySet()).containsExactlyInAnyOrder("_id", "acquirer", "thread", "why", "token",
				"acquiredAt", "updatedAt", "leaseMillis", "releasedAt", "fencePending", "cleanUpAt");
	}

	@Test
	void aPauseOfANewNameIsADocumentOfOurs() {
		JobRecords.of(this.locks).pause("stock", JOB, "ann");
		assertThat(this.locks.find("stock")).get().satisfies((lock) -> assertThat(lock.held()).isFalse());
		assertThat(record()).containsOnlyKeys("paused", "pausedFrom");
		this.documents.insertOne(new Document("_id", "other").append("order", 1));
		assertThatExceptionOfType(ForeignDocumentException.class)
			.isThrownBy(() -> JobRecords.of(this.locks).pause("other", JOB, "ann"));
		assertThatExceptionOfType(ForeignDocumentException.class)
			.isThrownBy(() -> JobRecords.of(this.locks).resume("other", JOB));
		assertThatExceptionOfType(ForeignDocumentException.class)
			.isThrownBy(() -> JobRecords.of(this.locks).find("other", JOB));
		assertThatExceptionOfType(ForeignDocumentException.class)
			.isThrownBy(() -> JobRecords.of(this.locks).findAll(Map.of("stock", JOB, "other", JOB)))
			.withMessageContaining("'other'");
		this.documents.insertOne(new Document("_id", "bare"));
		assertThat(JobRecords.of(this.locks).findAll(Map.of("stock", JOB, "bare", JOB))).containsOnlyKeys("stock");
		assertThatExceptionOfType(ForeignDocumentException.class).isThrownBy(() -> fire(key("other"), skip(past(30))));
		assertThatExceptionOfType(ForeignDocumentException.class)
			.isThrownBy(() -> fire(key("other"), skip(storeTime().plusSeconds(3600))));
		assertThat(stored("other")).isEqualTo(new Document("_id", "other").append("order", 1));
	}

	@Test
	void idsThatAPathCannotNameAreStoredAsAHash() {
		List<String> ids = Arrays.asList("a.b", "a.c", "$x", "#x", "x".repeat(201), "plain");
		for (String id : ids) {
			LeaseKey key = key("stock");
			fire(key, JobFiring.of(id, new Schedule.Planned(past(30)), false));
			this.locks.release(key, Duration.ZERO, FenceMark.KEEP, new RunEnd(id, JobRun.Outcome.SUCCEEDED, null),
					TIMEOUT);
		}
		Document jobs = stored("stock").get("jobs", Document.class);
		assertThat(jobs).hasSize(ids.size()).containsKey("plain");
		assertThat(jobs.keySet()).filteredOn((key) -> key.matches("#[0-9a-f]{32}")).hasSize(5);
		assertThat(IntStream.range(0, ids.size())
			.mapToObj((i) -> JobRecords.of(this.locks).find("stock", ids.get(i)).orElseThrow().runs().size()))
			.containsOnly(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "firing", "holder", "outcome", "started", "ended", "instance", "token", "error" })
	void fieldsWithoutEffectMayBeMalformed(String field) {
		Instant at = past(30);
		JobFiring firing = skip(at);
		ended(firing, JobRun.Outcome.SUCCEEDED);
		for (Object value : Arrays.asList(5, null, "of a later version")) {
			set("stock", "jobs.nightly.last." + field, value);
			assertThat(refused(skip(at)).reason()).isEqualTo(Reason.DONE);
			assertThat(status().runs()).isNotEmpty();
			assertThat(ended(rerun(at.plusSeconds(1)), JobRun.Outcome.ABANDONED)).isNotNull();
			this.documents.deleteOne(new Document("_id", "stock"));
			ended(firing, JobRun.Outcome.SUCCEEDED);
		}
	}

	private static JobFiring of(String id, JobFiring firing) {
		return new JobFiring(id, firing.schedule(), firing.id(), firing.rerun()).method("invoices#run");
	}

	private static JobFiring before(Instant at) {
		return of("before", skip(at));
	}

	private static JobFiring since(Instant at) {
		return of("since", skip(at));
	}

	private JobRun run(JobFiring firing, Claim.How how) {
		LeaseKey key = key("stock");
		JobRun run = granted(fire(key, firing)).run();
		Claim.End end = firing.end("stock", how, null);
		assertThat(this.locks.release(key, Duration.ZERO, FenceMark.KEEP, end, TIMEOUT)).isTrue();
		return run;
	}

	@Test
	void aPlannedTimeIsRunOnceThoughTheIdOfTheJobChanges() {
		Instant at = past(30);
		run(before(at), How.COMPLETED);
		for (Instant done : List.of(at, at.minusSeconds(1))) {
			assertThat(refused(since(done)).reason()).isEqualTo(Reason.OTHER_ID);
		}
		assertThat(refused(before(at)).reason()).isEqualTo(Reason.DONE);
		JobRun first = run(since(at.plusSeconds(2)), How.COMPLETED);
		assertThat(first.after()).isEqualTo(at);
		assertThat(refused(before(at.plusSeconds(1))).reason()).isEqualTo(Reason.OTHER_ID);
		assertThat(refused(before(at.plusSeconds(2))).reason()).isEqualTo(Reason.OTHER_ID);
		JobRun back = run(before(at.plusSeconds(3)), How.COMPLETED);
		assertThat(back.after()).isEqualTo(at.plusSeconds(2));
		assertThat(run(before(at.plusSeconds(4)), How.COMPLETED).after()).isEqualTo(at.plusSeconds(3));
		assertThat(run(of("since", rerun(at.plusSeconds(5))), How.COMPLETED).after()).isEqualTo(at.plusSeconds(4));
		assertThat(ended(skip(at), JobRun.Outcome.SUCCEEDED).plannedAt()).as("another method").isEqualTo(at);
	}

	@Test
	void aMissedPlannedTimeIsRecordedOnceThoughTheIdOfTheJobChanges() {
		Instant at = past(30);
		JobRecords records = JobRecords.of(this.locks);
		run(before(at.minusSeconds(2)), How.COMPLETED);
		Duration shortly = Duration.ofSeconds(1);
		JobFiring late = since(at).startWithin(shortly, null);
		assertThat(refused(late).reason()).isEqualTo(Reason.TOO_LATE);
		assertThat(records.expire(key("stock"), since(at.minusSeconds(2)).startWithin(shortly, null))).isEmpty();
		assertThat(records.expire(key("stock"), late)).get()
			.satisfies((status) -> assertThat(status.runs().get(0).after()).isEqualTo(at.minusSeconds(2)));
		assertThat(records.expire(key("stock"), before(at).startWithin(shortly, null))).isEmpty();
		assertThat(refused(before(at)).reason()).isEqualTo(Reason.OTHER_ID);
		assertThat(run(before(at.plusSeconds(1)), How.COMPLETED).after()).isEqualTo(at);
	}

	@Test
	void anAbandonedPlannedTimeIsOpenForEachIdOfTheJob() {
		Instant at = past(30);
		run(before(at.minusSeconds(1)), How.COMPLETED);
		run(before(at), How.ABANDONED);
		assertThat(refused(since(at.minusSeconds(1))).reason()).isEqualTo(Reason.OTHER_ID);
		run(since(at), How.COMPLETED);
		assertThat(refused(before(at)).reason()).isEqualTo(Reason.OTHER_ID);
		assertThat(refused(of("before", rerun(at))).reason()).isEqualTo(Reason.OTHER_ID);
		JobFiring failed = before(at.plusSeconds(1));
		run(failed, How.COMPLETED);
		set("stock", "jobs.before.last.outcome", "FAILED");
		run(failed, How.ABANDONED);
		assertThat(refused(since(at.plusSeconds(1))).reason()).isEqualTo(Reason.OTHER_ID);
	}

	@Test
	void aCrashedRunIsRepeatedUnderItsOwnId() {
		Instant at = past(30);
		fire(key("stock"), of("before", rerun(at)));
		expire("stock");
		run(of("since", rerun(at.plusSeconds(1))), How.COMPLETED);
		assertThat(run(of("before", rerun(at.plusSeconds(1))), How.COMPLETED).attempt()).isEqualTo(2);
		assertThat(refused(of("before", rerun(at.plusSeconds(1)))).reason()).isEqualTo(Reason.OTHER_ID);
		assertThat(run(of("since", rerun(at.plusSeconds(3))), How.COMPLETED).after()).isEqualTo(at.plusSeconds(1));
	}

	@Test
	void anIdHasPeriodsOfItsOwn() {
		for (Schedule schedule : List.of(new Schedule.FixedRate(LEASE), new Schedule.FixedDelay(LEASE))) {
			run(of("before", JobFiring.of(JOB, schedule, false)), How.COMPLETED);
			run(of("since", JobFiring.of(JOB, schedule, false)), How.COMPLETED);
			assertThat(stored("stock")).doesNotContainKey("method:invoices#run");
			forget("stock");
		}
	}

	@Test
	void aPlannedTimeIsNotMissedWhileTheJobRunsUnderAnotherId() {
		Instant at = past(30);
		LeaseKey key = key("stock");
		JobFiring firing = before(at);
		fire(key, firing);
		JobFiring late = since(at.plusSeconds(1)).startWithin(Duration.ofSeconds(1), null);
		assertThat(refused(late).reason()).isEqualTo(Reason.OVERLAPPED);
		assertThat(JobRecords.of(this.locks).expire(key("stock"), late)).isEmpty();
		this.locks.release(key, Duration.ZERO, FenceMark.KEEP, firing.end("stock", How.ABANDONED, null), TIMEOUT);
		assertThat(refused(late).reason()).isEqualTo(Reason.TOO_LATE);
		run(since(at), How.COMPLETED);
	}

	/**
	 * No instance would report it otherwise: the later one counts it as settled by a run.
	 */
	@Test
	void anAbandonmentAfterALaterPlannedTimeOfAnotherIdLeavesALostRun() {
		Instant at = past(30);
		LeaseKey key = key("stock");
		JobFiring firing = before(at);
		fire(key, firing);
		expire("stock");
		JobFiring late = since(at.plusSeconds(1)).startWithin(Duration.ofSeconds(1), null);
		assertThat(JobRecords.of(this.locks).expire(key("stock"), late)).get()
			.satisfies((status) -> assertThat(status.runs().get(0).after()).isEqualTo(at));
		Claim.End end = firing.end("stock", How.ABANDONED, null);
		assertThat(this.locks.release(key, Duration.ZERO, FenceMark.KEEP, end, TIMEOUT)).isTrue();
		assertThat(stored("stock")).doesNotContainKey("holder");
		assertThat(refused(firing).reason()).as("a retry").isEqualTo(Reason.DONE);
		run(since(at.plusSeconds(2)), How.COMPLETED);
		JobRun next = run(before(at.plusSeconds(3)), How.COMPLETED);
		assertThat(next.plannedAt()).isEqualTo(at.plusSeconds(3));
		assertThat(next.after()).isEqualTo(at.plusSeconds(2));
		List<JobRun> runs = JobRecords.of(this.locks).find("stock", "before").orElseThrow().runs();
		assertThat(runs).extracting(JobRun::outcome).containsExactly(JobRun.Outcome.SUCCEEDED, JobRun.Outcome.LOST);
		assertThat(runs.get(1).error()).contains("the work never began");
	}

	@Test
	void aRepetitionThatNeverBeganIsNotOpenForOtherIds() {
		Instant at = past(30);
		fire(key("stock"), of("before", rerun(at)));
		expire("stock");
		assertThat(run(of("before", rerun(at)), How.ABANDONED).attempt()).isEqualTo(2);
		assertThat(refused(since(at)).reason()).isEqualTo(Reason.OTHER_ID);
	}

	@Test
	void aMethodHasTheseFields() {
		Instant at = past(30);
		run(before(at), How.COMPLETED);
		LeaseKey key = key("stock");
		fire(key, since(at.plusSeconds(1)));
		assertThat(stored("stock").get("method:invoices#run"))
			.isEqualTo(new Document("planned", Date.from(at.plusSeconds(1))).append("id", "since")
				.append("holder", key.holder())
				.append("before", Date.from(at)));
		release(key, Duration.ZERO);
		fire(key, of("since", rerun(at.plusSeconds(2))));
		assertThat(stored("stock").get("method:invoices#run"))
			.isEqualTo(new Document("planned", Date.from(at.plusSeconds(2))).append("id", "since")
				.append("holder", key.holder())
				.append("before", Date.from(at.plusSeconds(1))));
	}

	@Test
	void aManuallyChangedPlannedTimeOfAMethodIsReplaced() {
		Instant at = past(30);
		Document far = new Document("planned", new Date(serverTime() + Duration.ofHours(2).toMillis())).append("id",
				"x");
		for (Object value : Arrays.asList(null, "text", 5, true, List.of(1), new Document(),
				new Document("planned", "now").append("id", 5), far)) {
			run(before(at), How.COMPLETED);
			set("stock", "method:invoices#run", value);
			run(since(at), How.COMPLETED);
			assertThat(stored("stock").get("method:invoices#run", Document.class))
				.containsEntry("planned", Date.from(at))
				.containsEntry("id", "since");
			forget("stock");
		}
	}

}
