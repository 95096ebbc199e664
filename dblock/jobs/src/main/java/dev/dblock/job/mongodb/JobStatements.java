package dev.dblock.job.mongodb;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

import dev.dblock.claim.Claim;
import dev.dblock.claim.ClaimRecord;
import dev.dblock.claim.ClaimRecord.Request;
import dev.dblock.claim.Claimed;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobRun;
import dev.dblock.job.StoredJob.RunEnd;
import dev.dblock.mongodb.request.BsonParts;
import dev.dblock.mongodb.request.ClaimStatements;
import dev.dblock.mongodb.request.LockDocument;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * The claims that are firings of jobs, with a run record for each job. Found by the
 * {@link java.util.ServiceLoader}. Internal: can change in any release.
 */
public final class JobStatements implements ClaimStatements {

	@Override
	public Fields fields(Claim.Key key) {
		JobFields job = new JobFields(key);
		String paused = job.path(JobFields.PAUSED);
		return new Fields(job.path(), job.path(JobFields.LAST), paused, paused + "." + JobFields.BY,
				paused + "." + JobFields.AT, job.path(JobFields.PAUSED_FROM), job.path(JobFields.RESUMED),
				job.method());
	}

	@Override
	public Expressions expressions(Request request) {
		return new JobExpressions(request);
	}

	@Override
	public Grant grant(Request request, @Nullable BsonDocument stored, @Nullable LockDocument lock, long now) {
		return JobGrant.of(request, stored, lock, now);
	}

	@Override
	public @Nullable Expiry expiry(Request request, LockDocument lock, long now) {
		return JobGrant.of(request, lock.fields(), lock, now).expiry();
	}

	@Override
	public Claimed claimed(Request request, LockDocument document) {
		return record(request.key(), document).claimed(document, request.id());
	}

	@Override
	public Refusal refusal(Request request, @Nullable LockDocument document, long now) {
		return JobGrant.of(request, (document != null) ? document.fields() : null, document, now).refusal();
	}

	private static JobRecord record(Claim.Key key, @Nullable LockDocument document) {
		return JobRecord.read((document != null) ? document.fields() : null, new JobFields(key.id()));
	}

	@Override
	public @Nullable String unusable(Claim.Key key, BsonDocument stored) {
		return JobRecord.unusable(stored, new JobFields(key.id()));
	}

	@Override
	public ClaimRecord.Status status(Claim.Key key, LockDocument document, long now) {
		return record(key, document).toStatus(key.id(), document, now);
	}

	@Override
	public BsonDocument asRead(Claim.Key key, LockDocument document) {
		JobFields job = new JobFields(key.id());
		BsonValue record = JobRecord.stored(document.fields(), job);
		return new BsonDocument(job.path(), (record != null) ? record : BsonParts.IS_ABSENT);
	}

	@Override
	public BsonDocument unpaused(BsonDocument stored) {
		BsonDocument filter = new BsonDocument();
		if (stored.get(JobFields.JOBS) instanceof BsonDocument jobs) {
			jobs.keySet()
				.forEach((job) -> filter.append(JobFields.JOBS + "." + job + "." + JobFields.PAUSED,
						BsonParts.IS_ABSENT));
		}
		return filter;
	}

	@Override
	public End end(Claim.End end) {
		RunEnd ended = (RunEnd) end;
		JobFields job = new JobFields(ended.jobId());
		return end(job.path(JobFields.LAST), ended, reopening(job, ended));
	}

	@Override
	public @Nullable End forced(BsonDocument stored, String holder) {
		String run = JobRecord.pathOfRun(stored, holder);
		return (run != null) ? end(run, RunEnd.FORCED, null) : null;
	}

	/**
	 * Return the change by which a planned time is open for all ids of its method.
	 */
	private static @Nullable Reopening reopening(JobFields job, RunEnd ended) {
		RunEnd.Open open = ended.open();
		if (open == null) {
			return null;
		}
		String method = JobFields.methodField(open.method()) + ".";
		BsonValue planned = BsonParts.date(open.planned().toEpochMilli());
		BsonDocument unbegun = new BsonDocument(job.last(JobFields.PLANNED), planned)
			.append(job.last(JobFields.ATTEMPT), new BsonInt32(1))
			.append(job.last(JobFields.AGAIN), BsonParts.IS_ABSENT);
		BsonDocument overtaken = unbegun.clone()
			.append(method + JobFields.PLANNED, BsonParts.doc("$gt", planned))
			.append(method + JobFields.ID, BsonParts.doc("$ne", BsonParts.text(job.key())));
		BsonDocument reopened = unbegun.append(method + JobFields.PLANNED, planned)
			.append(method + JobFields.ID, BsonParts.text(job.key()));
		// Without its firing, a retry of the same request would not be another attempt
		End lost = end(job.path(JobFields.LAST), new RunEnd(ended.jobId(), JobRun.Outcome.LOST, RunEnd.NEVER_BEGAN),
				null);
		lost.texts().put(job.last(JobFields.FIRING), "");
		return new Reopening(reopened, overtaken, lost, method + JobFields.BEFORE, method + JobFields.PLANNED);
	}

	private static End end(String run, RunEnd end, @Nullable Reopening reopening) {
		Map<String, String> texts = new LinkedHashMap<>();
		texts.put(run + "." + JobFields.OUTCOME, end.outcome().name());
		if (end.error() != null) {
			texts.put(run + "." + JobFields.ERROR, end.error());
		}
		return new End(end.jobId(), run + "." + JobFields.RUN_HOLDER, texts, run + "." + JobFields.ENDED, reopening);
	}

	@Override
	public Rehearsal rehearsal(String id, String text) {
		return new Rehearsal(JobFiring.of(id, new Schedule.Planned(Instant.EPOCH), true).method(text),
				JobFiring.of(id, new Schedule.Planned(Instant.EPOCH.plusSeconds(1)), true).method(text),
				JobFiring.of(id, new Schedule.FixedRate(Duration.ofDays(1)), true),
				new RunEnd(id, JobRun.Outcome.SUCCEEDED, text));
	}

}
