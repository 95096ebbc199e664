package dev.dblock.mongodb;

import java.util.ArrayList;
import java.util.List;

import dev.dblock.core.AcquireRequest;
import dev.dblock.core.JobDecision;
import dev.dblock.core.StoredJob;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.RunOutcome;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonValue;

import static dev.dblock.mongodb.BsonParts.date;
import static dev.dblock.mongodb.BsonParts.doc;
import static dev.dblock.mongodb.BsonParts.literal;
import static dev.dblock.mongodb.BsonParts.number;
import static dev.dblock.mongodb.BsonParts.ref;
import static dev.dblock.mongodb.BsonParts.text;

/**
 * The rules of {@link JobDecision} as expressions, decided by {@code $$NOW} on the
 * server: which planned time and attempt a firing is granted, and the run record after
 * the grant.
 */
final class JobExpressions {

	/** The planned time and the attempt; {@code null} if not due. */
	private static final BsonString DUE = ref("$$due");

	private static final BsonString NOW = ref("$$NOW");

	private static final BsonString RUNNING = JobFields.RUNNING;

	private final AcquireRequest request;

	private final JobFiring firing;

	private final JobFields job;

	private final BsonString last;

	private final BsonString planned;

	private final BsonString attempt;

	/** The outcome, and {@code RUNNING} without one. */
	private final BsonDocument outcome;

	JobExpressions(AcquireRequest request) {
		this.request = request;
		this.firing = request.requireFiring();
		this.job = new JobFields(request.jobId());
		this.last = ref("$" + this.job.path(JobFields.LAST));
		this.planned = last(JobFields.PLANNED);
		this.attempt = last(JobFields.ATTEMPT);
		this.outcome = doc("$ifNull", last(JobFields.OUTCOME), RUNNING);
	}

	private BsonString last(String field) {
		return ref("$" + this.job.last(field));
	}

	/**
	 * The document after the request.
	 * @param free whether the lock is free
	 * @param grant the fields that a grant sets, without the run record
	 * @return the expression
	 */
	BsonDocument replacement(BsonDocument free, BsonDocument grant) {
		BsonDocument next = doc("$mergeObjects", ref("$$ROOT"),
				grant.append(JobFields.JOBS, jobs(grant.getDocument(LockDocument.TOKEN))));
		BsonDocument isGranted = doc("$and", free, doc("$ne", DUE, BsonNull.VALUE));
		return doc("$let", doc("vars", doc("due", due())).append("in", doc("$cond", isGranted, next, ref("$$ROOT"))));
	}

	/**
	 * What the caller needs to know of the record.
	 */
	void addTo(BsonDocument projection) {
		projection.append(this.job.path(JobFields.LAST), new BsonInt32(1))
			.append(this.job.path(JobFields.PAUSED), new BsonInt32(1));
	}

	private BsonDocument due() {
		List<BsonValue> branches = new ArrayList<>();
		branches.add(branch(isPresent(path(JobFields.PAUSED)), BsonNull.VALUE));
		if (this.firing.schedule() instanceof Schedule.Planned asked
				&& asked.at().toEpochMilli() > JobDecision.EARLIEST) {
			branches
				.add(branch(doc("$gt", date(asked.at().toEpochMilli() - JobDecision.EARLIEST), NOW), BsonNull.VALUE));
		}
		branches.add(branch(doc("$not", isPresent(this.last)), firstAttempt(planned(true))));
		// Changed by hand: refused, so that the caller repairs it
		branches.add(branch(doc("$not", hasType(this.planned, "date")), BsonNull.VALUE));
		branches.add(branch(doc("$gt", this.planned, doc("$add", NOW, number(JobDecision.LATEST_STORED))),
				firstAttempt(planned(true))));
		branches.add(branch(isSame(), sameAttempt()));
		if (this.firing.rerun()) {
			BsonDocument stopped = doc("$or", doc("$eq", this.outcome, text(RunOutcome.LOST.name())),
					doc("$and", doc("$eq", this.outcome, RUNNING), doc("$not", isReleased())));
			BsonDocument crashed = doc("$and", stopped,
					doc("$lt", this.attempt, new BsonInt32(JobDecision.MOST_ATTEMPTS)));
			branches.add(branch(crashed, attempt(this.planned, doc("$add", this.attempt, new BsonInt32(1)))));
			branches.add(branch(doc("$and", isOpen(), doc("$gt", this.attempt, new BsonInt32(1))), sameAttempt()));
		}
		if (this.firing.schedule() instanceof Schedule.Planned asked) {
			branches.add(branch(doc("$and", isOpen(), doc("$eq", this.planned, at(asked))), sameAttempt()));
			branches.add(branch(doc("$gt", at(asked), this.planned), firstAttempt(at(asked))));
		}
		else {
			branches.add(branch(isOpen(), sameAttempt()));
			branches.add(branch(doc("$lte", dueAt(), NOW), firstAttempt(planned(false))));
		}
		return doc("$switch", doc("branches", new BsonArray(branches)).append("default", BsonNull.VALUE));
	}

	private BsonDocument isSame() {
		return doc("$eq", last(JobFields.FIRING), literal(this.firing.id()));
	}

	private BsonDocument again() {
		return doc("$and", isSame(), doc("$not", isOpen()));
	}

	/** As {@code StoredRun.isOpen()}. */
	private BsonDocument isOpen() {
		return doc("$and", doc("$eq", this.outcome, text(RunOutcome.ABANDONED.name())),
				doc("$ne", last(JobFields.AGAIN), BsonBoolean.TRUE));
	}

	/** As {@code LockState.isReleased()}. */
	private BsonDocument isReleased() {
		return doc("$and", hasType(ref("$" + LockDocument.HOLDER), "missing"),
				doc("$eq", ref("$" + LockDocument.TOKEN), last(JobFields.RUN_TOKEN)));
	}

	private static BsonValue at(Schedule.Planned asked) {
		return date(asked.at().toEpochMilli());
	}

	private BsonValue planned(boolean first) {
		if (this.firing.schedule() instanceof Schedule.Planned asked) {
			return at(asked);
		}
		if (first) {
			return NOW;
		}
		if (this.firing.schedule() instanceof Schedule.FixedRate rate) {
			BsonDocument since = doc("$mod", doc("$subtract", NOW, this.planned), number(rate.period().toMillis()));
			return doc("$subtract", NOW, since);
		}
		return dueAt();
	}

	/** The first time after the last run at which the job is due. */
	private BsonValue dueAt() {
		if (this.firing.schedule() instanceof Schedule.FixedRate rate) {
			return doc("$add", this.planned, number(rate.period().toMillis()));
		}
		Schedule.FixedDelay fixed = (Schedule.FixedDelay) this.firing.schedule();
		BsonString ended = last(JobFields.ENDED);
		BsonDocument known = doc("$and", hasType(ended, "date"),
				doc("$lte", ended, doc("$add", NOW, number(JobDecision.LATEST_STORED))));
		return doc("$cond", known, doc("$add", ended, number(fixed.delay().toMillis())), NOW);
	}

	private static BsonDocument branch(BsonValue condition, BsonValue then) {
		return doc("case", condition).append("then", then);
	}

	private BsonDocument firstAttempt(BsonValue planned) {
		return attempt(planned, new BsonInt32(1));
	}

	private BsonDocument sameAttempt() {
		return attempt(this.planned, this.attempt);
	}

	private static BsonDocument attempt(BsonValue planned, BsonValue attempt) {
		return doc(JobFields.PLANNED, planned).append(JobFields.ATTEMPT, attempt);
	}

	private BsonDocument jobs(BsonValue token) {
		BsonDocument run = new BsonDocument(JobFields.PLANNED, ref("$$due." + JobFields.PLANNED))
			.append(JobFields.ATTEMPT, ref("$$due." + JobFields.ATTEMPT))
			.append(JobFields.FIRING, literal(this.firing.id()))
			.append(JobFields.RUN_HOLDER, literal(this.request.key().holder()))
			.append(JobFields.STARTED, NOW)
			.append(JobFields.INSTANCE, literal(this.request.acquirer()))
			.append(JobFields.RUN_TOKEN, token)
			.append(JobFields.AGAIN, doc("$cond", again(), BsonBoolean.TRUE, ref("$$REMOVE")));
		BsonDocument next = doc(JobFields.LAST, run).append(JobFields.RUNS, runs());
		return doc("$mergeObjects", ref("$" + JobFields.JOBS),
				doc(this.job.key(), doc("$mergeObjects", ref("$" + this.job.path()), next)));
	}

	private BsonDocument runs() {
		BsonDocument before = doc("$ifNull", path(JobFields.RUNS), new BsonArray());
		BsonDocument moves = doc("$and", isPresent(this.last), doc("$not", isSame()), doc("$not", isOpen()));
		BsonDocument end = doc("$cond", doc("$ne", this.outcome, RUNNING), BsonNull.VALUE, doc(JobFields.OUTCOME,
				doc("$cond", isReleased(), text(RunOutcome.LOST.name()), text(RunOutcome.CRASHED.name()))));
		BsonDocument moved = doc("$slice",
				doc("$concatArrays", before, new BsonArray(List.of(doc("$mergeObjects", this.last, end)))),
				new BsonInt32(-StoredJob.RUNS_BEFORE));
		return doc("$cond", moves, moved, before);
	}

	private BsonString path(String field) {
		return ref("$" + this.job.path(field));
	}

	/** Neither missing nor null. */
	private static BsonDocument isPresent(BsonValue expression) {
		return doc("$gt", expression, BsonNull.VALUE);
	}

	private static BsonDocument hasType(BsonValue expression, String type) {
		return doc("$eq", doc("$type", expression), text(type));
	}

}
