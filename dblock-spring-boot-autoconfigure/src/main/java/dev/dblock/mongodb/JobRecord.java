package dev.dblock.mongodb;

import java.util.ArrayList;
import java.util.List;

import dev.dblock.core.JobDecision.LockState;
import dev.dblock.core.StoredJob;
import dev.dblock.core.StoredRun;
import dev.dblock.job.RunOutcome;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonType;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.jspecify.annotations.Nullable;

/**
 * The run record of a job as it was read. What was changed by hand is read as absent: a
 * last run whose planned time is no date, or whose attempt is no 32-bit integer. The
 * other fields of a run do not decide whether a planned time was run.
 */
final class JobRecord {

	private final BsonDocument fields;

	private final Place place;

	private final boolean readable;

	private JobRecord(BsonDocument fields, Place place, boolean readable) {
		this.fields = fields;
		this.place = place;
		this.readable = readable;
	}

	/**
	 * Read the record of a job.
	 * @param document the document of its lock, or the part of it that was asked for
	 * @param job the fields of the job
	 * @return the record, empty if there is none
	 */
	static JobRecord read(@Nullable BsonDocument document, JobFields job) {
		BsonValue jobs = (document != null) ? document.get(JobFields.JOBS) : null;
		BsonValue record = (jobs instanceof BsonDocument all) ? all.get(job.key()) : null;
		BsonDocument fields = (record instanceof BsonDocument found) ? found : new BsonDocument();
		boolean readable = (jobs == null || jobs.isDocument()) && (record == null || record.isDocument())
				&& isOr(fields, JobFields.RUNS, BsonType.ARRAY) && isOr(fields, JobFields.PAUSED, BsonType.DOCUMENT)
				&& (!fields.containsKey(JobFields.LAST) || runOf(fields.get(JobFields.LAST)) != null);
		Place place = Place.IN_RECORD;
		if (jobs != null && !jobs.isDocument()) {
			place = Place.NOWHERE;
		}
		else if (record != null && !record.isDocument()) {
			place = Place.IN_JOBS;
		}
		return new JobRecord(fields, place, readable);
	}

	private static boolean isOr(BsonDocument fields, String field, BsonType type) {
		BsonValue value = fields.get(field);
		return value == null || value.getBsonType() == type;
	}

	/**
	 * Whether nothing is read as absent although it is there.
	 */
	boolean isReadable() {
		return this.readable;
	}

	/**
	 * Up to where the path of the record leads.
	 */
	Place place() {
		return this.place;
	}

	/**
	 * Whether nothing was read as absent, now or by the grant of the last run.
	 */
	boolean isWellFormed() {
		return this.readable && !(this.fields.get(JobFields.LAST) instanceof BsonDocument last
				&& last.containsKey(JobFields.IGNORED));
	}

	/**
	 * Whether the whole record has a size that grants and releases write.
	 */
	boolean isSmall() {
		return new RawBsonDocument(this.fields, new BsonDocumentCodec()).getByteBuffer()
			.remaining() <= JobFields.LARGEST_RECORD;
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
		return new StoredJob(last(), runs, paused instanceof BsonDocument,
				(paused instanceof BsonDocument pause) ? text(pause, JobFields.BY) : null);
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
		RunOutcome outcome = outcome(run.get(JobFields.OUTCOME));
		Long started = date(run, JobFields.STARTED);
		String instance = text(run, JobFields.INSTANCE);
		BsonValue token = run.get(JobFields.RUN_TOKEN);
		return new StoredRun(planned, attempt.asInt32().getValue(), (firing != null) ? firing : "",
				BsonBoolean.TRUE.equals(run.get(JobFields.AGAIN)), (holder != null) ? holder : "",
				(started != null) ? started : planned, date(run, JobFields.ENDED), outcome,
				(instance != null) ? instance : "an unknown instance",
				(token != null && token.isInt64()) ? token.asInt64().getValue() : 0, text(run, JobFields.ERROR));
	}

	/**
	 * The outcome of a run that ended, though perhaps in a way that this version does not
	 * know.
	 * @return the outcome; {@code null} of a run whose end was not recorded
	 */
	private static @Nullable RunOutcome outcome(@Nullable BsonValue stored) {
		if (stored == null || stored.isNull() || JobFields.RUNNING.equals(stored)) {
			return null;
		}
		for (RunOutcome outcome : RunOutcome.values()) {
			if (stored.isString() && outcome.name().equals(stored.asString().getValue())) {
				return outcome;
			}
		}
		// Not repeated, as one that was lost
		return RunOutcome.FAILED;
	}

	private static @Nullable String text(BsonDocument fields, String field) {
		return (fields.get(field) instanceof BsonString text) ? text.getValue() : null;
	}

	private static @Nullable Long date(BsonDocument fields, String field) {
		BsonValue value = fields.get(field);
		return (value != null && value.isDateTime()) ? Long.valueOf(value.asDateTime().getValue()) : null;
	}

	/**
	 * The state of the lock that a record is stored with.
	 */
	static LockState stateOf(@Nullable LockDocument lock, long now) {
		return (lock != null) ? new LockState(lock.holder(), lock.isTakenAt(now), lock.token())
				: new LockState(null, false, 0);
	}

	/**
	 * Up to where the path of a record leads: through objects, or through nothing yet.
	 */
	enum Place {

		/** Something else is in the place of all records. */
		NOWHERE,

		/** Something else is in the place of the record. */
		IN_JOBS,

		IN_RECORD

	}

}
