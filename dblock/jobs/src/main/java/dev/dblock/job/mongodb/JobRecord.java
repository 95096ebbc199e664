package dev.dblock.job.mongodb;

import java.util.ArrayList;
import java.util.List;

import dev.dblock.LockInfo;
import dev.dblock.claim.ClaimRecord.LockState;
import dev.dblock.job.GrantedRun;
import dev.dblock.job.JobDecision;
import dev.dblock.job.JobInfo.JobStatus;
import dev.dblock.job.JobRun;
import dev.dblock.job.StoredJob;
import dev.dblock.job.StoredJob.StoredRun;
import dev.dblock.mongodb.request.LockDocument;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.jspecify.annotations.Nullable;

/**
 * The run record of a job as it was read. A record that was changed manually may have
 * parts that no grant can use: a last run whose planned time is not a date or whose
 * attempt is not a 32-bit integer, or another value in place of an object. The other
 * fields of a run do not determine whether a planned time was run.
 */
final class JobRecord {

	/** In bytes; grants and releases do not write larger records. */
	private static final int LARGEST = 64 * 1024;

	private final BsonDocument fields;

	private final @Nullable String malformed;

	private JobRecord(BsonDocument fields, @Nullable String malformed) {
		this.fields = fields;
		this.malformed = malformed;
	}

	/**
	 * Read the record of a job.
	 * @param document the document of its lock, or the requested part of it
	 * @param job the fields of the job
	 * @return the record, empty if there is none
	 */
	static JobRecord read(@Nullable BsonDocument document, JobFields job) {
		BsonValue jobs = (document != null) ? document.get(JobFields.JOBS) : null;
		BsonValue record = stored(document, job);
		BsonDocument fields = (record instanceof BsonDocument found) ? found : new BsonDocument();
		String malformed = null;
		if (jobs != null && !jobs.isDocument()) {
			malformed = JobFields.JOBS;
		}
		else if (record != null && !record.isDocument()) {
			malformed = job.path();
		}
		else if (fields.containsKey(JobFields.LAST) && runOf(fields.get(JobFields.LAST)) == null) {
			malformed = job.path(JobFields.LAST);
		}
		else if (fields.containsKey(JobFields.RUNS) && !fields.get(JobFields.RUNS).isArray()) {
			malformed = job.path(JobFields.RUNS);
		}
		return new JobRecord(fields, malformed);
	}

	/**
	 * Return what is stored in place of the record of a job; {@code null} if there is
	 * nothing.
	 */
	static @Nullable BsonValue stored(@Nullable BsonDocument document, JobFields job) {
		return (document != null && document.get(JobFields.JOBS) instanceof BsonDocument jobs) ? jobs.get(job.key())
				: null;
	}

	/**
	 * Return the path of the first part that no grant can use; {@code null} if all can be
	 * used.
	 */
	@Nullable String malformed() {
		return this.malformed;
	}

	/**
	 * Return the path of the first part of a stored record that no grant can use, because
	 * it is malformed or makes the record too large; {@code null} if all can be used.
	 */
	static @Nullable String unusable(BsonDocument document, JobFields job) {
		JobRecord record = read(document, job);
		return (record.malformed != null) ? record.malformed : tooLarge(record.fields, job);
	}

	private static @Nullable String tooLarge(BsonDocument fields, JobFields job) {
		if (size(fields) <= LARGEST) {
			return null;
		}
		BsonValue last = fields.get(JobFields.LAST);
		if (size(fields.get(JobFields.RUNS)) > LARGEST / 2) {
			return job.path(JobFields.RUNS);
		}
		if (last instanceof BsonDocument run && size(run.get(JobFields.ERROR)) > LARGEST / 4) {
			return job.last(JobFields.ERROR);
		}
		return (size(last) > LARGEST / 4) ? job.path(JobFields.LAST) : job.path();
	}

	private static int size(@Nullable BsonValue value) {
		return (value != null) ? size(new BsonDocument("value", value)) : 0;
	}

	private static int size(BsonDocument fields) {
		return new RawBsonDocument(fields, new BsonDocumentCodec()).getByteBuffer().remaining();
	}

	/**
	 * Return what was settled for the method of a job under another id. A planned time
	 * that is far ahead does not count: the clock was set back.
	 * @param document the document of the lock
	 * @param lock the state of the lock
	 * @param now milliseconds of the server's clock
	 * @return the last planned time; {@code null} if there is none
	 */
	static JobDecision.@Nullable Elsewhere elsewhere(@Nullable BsonDocument document, JobFields job, LockState lock,
			long now) {
		String field = job.method();
		if (document == null || field == null || !(document.get(field) instanceof BsonDocument method)
				|| job.key().equals(text(method, JobFields.ID))) {
			return null;
		}
		Long planned = date(method, JobFields.PLANNED);
		String holder = text(method, JobFields.RUN_HOLDER);
		return (planned != null && planned <= now + JobDecision.LATEST_STORED)
				? new JobDecision.Elsewhere(planned, lock.taken() && holder != null && holder.equals(lock.holder()))
				: null;
	}

	/**
	 * Return the path of the last run of a job in a document.
	 * @param document the document of its lock
	 * @param holder the id of the acquisition that was granted for it
	 * @return the path; {@code null} if that acquisition is not for a run of a job
	 */
	static @Nullable String pathOfRun(BsonDocument document, String holder) {
		if (document.get(JobFields.JOBS) instanceof BsonDocument jobs) {
			for (String job : jobs.keySet()) {
				StoredRun last = (jobs.get(job) instanceof BsonDocument record) ? runOf(record.get(JobFields.LAST))
						: null;
				if (last != null && last.holder().equals(holder)) {
					return JobFields.JOBS + "." + job + "." + JobFields.LAST;
				}
			}
		}
		return null;
	}

	BsonDocument fields() {
		return this.fields;
	}

	@Nullable StoredRun last() {
		return runOf(this.fields.get(JobFields.LAST));
	}

	StoredJob toJob() {
		List<StoredRun> runs = new ArrayList<>();
		if (this.fields.get(JobFields.RUNS) instanceof BsonArray stored) {
			for (BsonValue value : stored) {
				StoredRun run = runOf(value);
				if (run != null) {
					runs.add(run);
				}
			}
		}
		BsonValue paused = this.fields.get(JobFields.PAUSED);
		int dispensable = Math.max(0, runs.size() - StoredJob.RUNS_BEFORE);
		return new StoredJob(last(), runs.subList(dispensable, runs.size()), paused != null && !paused.isNull(),
				(paused instanceof BsonDocument pause) ? text(pause, JobFields.BY) : null,
				(paused instanceof BsonDocument pause) ? date(pause, JobFields.AT)
						: date(this.fields, JobFields.PAUSED_FROM),
				date(this.fields, JobFields.RESUMED));
	}

	private static @Nullable StoredRun runOf(@Nullable BsonValue value) {
		if (!(value instanceof BsonDocument run)) {
			return null;
		}
		Long planned = date(run, JobFields.PLANNED);
		BsonValue attempt = run.get(JobFields.ATTEMPT);
		if (planned == null || attempt == null || !attempt.isInt32()) {
			return null;
		}
		String firing = text(run, JobFields.FIRING);
		String holder = text(run, JobFields.RUN_HOLDER);
		JobRun.Outcome outcome = outcome(run.get(JobFields.OUTCOME));
		Long started = date(run, JobFields.STARTED);
		String instance = text(run, JobFields.INSTANCE);
		BsonValue token = run.get(JobFields.RUN_TOKEN);
		return new StoredRun(planned, attempt.asInt32().getValue(), (firing != null) ? firing : "",
				outcome(run.get(JobFields.AGAIN)), (holder != null) ? holder : "",
				(started != null) ? started : planned, date(run, JobFields.ENDED), outcome,
				(instance != null) ? instance : "an unknown instance",
				(token != null && token.isInt64()) ? token.asInt64().getValue() : 0, text(run, JobFields.ERROR),
				BsonBoolean.TRUE.equals(run.get(JobFields.AFTER_CRASH)), date(run, JobFields.AFTER),
				text(run, JobFields.PLAN),
				(run.get(JobFields.SHARDS) instanceof BsonInt32 shards) ? Math.max(0, shards.getValue()) : 0);
	}

	/**
	 * Return the outcome of a run that has ended, possibly with an outcome that this
	 * version does not know.
	 * @return the outcome; {@code null} for a run whose end was not recorded
	 */
	private static JobRun.@Nullable Outcome outcome(@Nullable BsonValue stored) {
		if (stored == null || stored.isNull()) {
			return null;
		}
		for (JobRun.Outcome outcome : JobRun.Outcome.values()) {
			if (stored.isString() && outcome.name().equals(stored.asString().getValue())) {
				return outcome;
			}
		}
		// An unknown outcome must not be rerun, as LOST would be
		return JobRun.Outcome.FAILED;
	}

	private static @Nullable String text(BsonDocument fields, String field) {
		return (fields.get(field) instanceof BsonString text) ? text.getValue() : null;
	}

	private static @Nullable Long date(BsonDocument fields, String field) {
		BsonValue value = fields.get(field);
		return (value != null && value.isDateTime()) ? Long.valueOf(value.asDateTime().getValue()) : null;
	}

	/**
	 * Return what a grant recorded.
	 * @param lock the document after the grant, from which it was read
	 */
	GrantedRun claimed(LockDocument lock, String jobId) {
		StoredRun last = last();
		return new GrantedRun((last != null && lock.isHeldBy(last.holder())) ? last.toRun(jobId, null) : null,
				toJob().crashed(jobId));
	}

	/**
	 * Convert the record for applications.
	 * @param lock the document from which it was read
	 * @param now milliseconds of the server's clock
	 */
	JobStatus toStatus(String jobId, LockDocument lock, long now) {
		LockInfo info = lock.toInfo(now);
		return toJob().toStatus(jobId, stateOf(lock, now), info.held() ? info.acquirer() : null, now);
	}

	/**
	 * Return the state of the lock that stores a record.
	 */
	static LockState stateOf(@Nullable LockDocument lock, long now) {
		if (lock == null) {
			return new LockState(null, false, 0, 0, 0);
		}
		Long expiresAt = lock.expiresAt();
		return new LockState(lock.holder(), lock.isTakenAt(now), lock.token(), (expiresAt != null) ? expiresAt : 0,
				lock.acquiredAt().toEpochMilli());
	}

}
