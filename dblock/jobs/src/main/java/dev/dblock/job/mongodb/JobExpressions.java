package dev.dblock.job.mongodb;

import java.util.ArrayList;
import java.util.List;

import dev.dblock.claim.ClaimRecord.Request;
import dev.dblock.job.JobDecision;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobRun;
import dev.dblock.job.StoredJob;
import dev.dblock.mongodb.request.ClaimStatements;
import dev.dblock.mongodb.request.LockDocument;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

import static dev.dblock.mongodb.request.BsonParts.date;
import static dev.dblock.mongodb.request.BsonParts.doc;
import static dev.dblock.mongodb.request.BsonParts.literal;
import static dev.dblock.mongodb.request.BsonParts.literals;
import static dev.dblock.mongodb.request.BsonParts.number;
import static dev.dblock.mongodb.request.BsonParts.ref;
import static dev.dblock.mongodb.request.BsonParts.text;

/**
 * The rules of {@link JobDecision} as expressions, evaluated on the server with
 * {@code $$NOW}: the planned time and the attempt for which a firing is granted, and the
 * run record after the grant.
 */
final class JobExpressions implements ClaimStatements.Expressions {

	/** The planned time and the attempt; {@code null} if the firing is not due. */
	private static final BsonString DUE = ref("$$due");

	/** Whether the last run is of this firing, which is granted the same run again. */
	private static final BsonString SAME = ref("$$same");

	/** Whether the last run moves to the history. */
	private static final BsonString MOVES = ref("$$moves");

	/** How the last run that began has ended; missing if none began. */
	private static final BsonString END = ref("$$end");

	/** Whether the last planned time is still to be run. */
	private static final BsonDocument OPEN = doc("$lte", END, BsonNull.VALUE);

	/**
	 * The last planned time that was settled under another id of the method; {@code null}
	 * if there is none.
	 */
	private static final BsonString ELSEWHERE = ref("$$elsewhere");

	/** The fencing token of the grant. */
	private static final BsonString TOKEN = ref("$$token");

	private static final BsonString NOW = ref("$$NOW");

	/** How many runs the history can have before some are removed. */
	private static final int MOST_RUNS = 30;

	private static final BsonInt32 FIRST = new BsonInt32(1);

	/** Values that sort before it are not dates. */
	private static final BsonDateTime EARLIEST_DATE = date(Long.MIN_VALUE);

	private static final BsonDocument ENDED = literals(JobRun.Outcome.SUCCEEDED.name(), JobRun.Outcome.FAILED.name(),
			JobRun.Outcome.MISSED.name());

	private static final BsonDocument DONE = literals(JobRun.Outcome.SUCCEEDED.name(), JobRun.Outcome.MISSED.name());

	private static final BsonDocument DATE_OR_MISSING = literals("date", "missing");

	private final Request request;

	private final JobFiring firing;

	private final JobFields job;

	private final BsonString last;

	private final BsonString planned;

	private final BsonString attempt;

	private final BsonString outcome;

	JobExpressions(Request request) {
		this.request = request;
		this.firing = (JobFiring) request.claim();
		this.job = new JobFields(request.key());
		this.last = ref("$" + this.job.path(JobFields.LAST));
		this.planned = last(JobFields.PLANNED);
		this.attempt = last(JobFields.ATTEMPT);
		this.outcome = last(JobFields.OUTCOME);
	}

	private BsonString last(String field) {
		return ref("$" + this.job.last(field));
	}

	@Override
	public BsonDocument replacement(BsonDocument free, BsonDocument grant) {
		BsonDocument isDue = doc("$and", free, doc("$ne", DUE, BsonNull.VALUE));
		BsonDocument again = doc("$cond", SAME, END, ref("$$REMOVE"));
		BsonDocument run = run(ref("$$due." + JobFields.PLANNED), ref("$$due." + JobFields.ATTEMPT))
			.append(JobFields.AGAIN, again)
			.append(JobFields.AFTER_CRASH, doc("$cond", isAfterCrash(), BsonBoolean.TRUE, ref("$$REMOVE")))
			.append(JobFields.AFTER, after());
		BsonDocument moves = doc("$and", isPresent(this.last), doc("$not", SAME), isPresent(END));
		if (this.job.method() != null) {
			BsonDocument before = doc("$cond", doc("$eq", method(JobFields.PLANNED), ref("$$due." + JobFields.PLANNED)),
					method(JobFields.BEFORE), method(JobFields.PLANNED));
			grant.append(this.job.method(), doc("$cond", doc("$gt", ELSEWHERE, ref("$$due." + JobFields.PLANNED)),
					ref("$" + this.job.method()), settled(ref("$$due." + JobFields.PLANNED), before)));
		}
		BsonDocument decided = let(doc("same", isSame()).append("end", end()), let(
				doc("due", due()).append("moves", moves),
				replacement(isDue, grant, run, kept(doc("$ifNull", path(JobFields.RUNS), new BsonArray())), moved())));
		return (this.job.method() != null) ? let(doc("elsewhere", elsewhere()), decided) : decided;
	}

	/**
	 * Return the document after the request in the usual case: the end of another
	 * firing's run is recorded, and a later planned time is requested than was settled
	 * under any id of the method. A firing that is due in any other case is refused.
	 * Parsing an expression takes a server longer than its evaluation, so this one
	 * contains only what is necessary.
	 */
	@Override
	public @Nullable BsonDocument usualReplacement(BsonDocument free, BsonDocument grant) {
		if (!(this.firing.schedule() instanceof Schedule.Planned asked)) {
			return null;
		}
		BsonString runs = path(JobFields.RUNS);
		BsonDocument isDue = doc("$and", free, doc("$lt", this.planned, at(asked)),
				doc("$gt", this.planned, EARLIEST_DATE), doc("$in", this.outcome, ENDED),
				doc("$ne", last(JobFields.FIRING), literal(this.firing.id())), hasType(runs, "array"),
				doc("$lte", path(JobFields.PAUSED), BsonNull.VALUE), doc("$lte", earliest(asked), NOW));
		BsonDateTime latest = latest();
		if (latest != null) {
			isDue.getArray("$and").add(doc("$lte", NOW, latest));
		}
		BsonValue after = this.planned;
		if (this.job.method() != null) {
			BsonString settled = method(JobFields.PLANNED);
			isDue.getArray("$and").add(doc("$lt", settled, at(asked)));
			after = doc("$max", this.planned, settled);
			grant.append(this.job.method(), settled(at(asked), settled));
		}
		return replacement(isDue, grant, run(at(asked), FIRST).append(JobFields.AFTER, after), kept(runs),
				new BsonArray(List.of(this.last)));
	}

	private BsonString method(String field) {
		return ref("$" + this.job.method() + "." + field);
	}

	private BsonDocument settled(BsonValue planned, BsonValue before) {
		return doc(JobFields.PLANNED, planned).append(JobFields.ID, literal(this.job.key()))
			.append(JobFields.RUN_HOLDER, literal(this.request.holder()))
			.append(JobFields.BEFORE, doc("$ifNull", before, BsonNull.VALUE));
	}

	/** By {@code JobRecord.elsewhere()}. */
	private BsonDocument elsewhere() {
		BsonString settled = method(JobFields.PLANNED);
		BsonDocument known = doc("$and", hasType(settled, "date"),
				doc("$ne", method(JobFields.ID), literal(this.job.key())), doc("$not", isFarAhead(settled)));
		return doc("$cond", known, settled, BsonNull.VALUE);
	}

	/** Null sorts before every date. Only a planned time that is known has a method. */
	private BsonDocument isSettledElsewhere() {
		return doc("$gte", ELSEWHERE, at((Schedule.Planned) this.firing.schedule()));
	}

	private BsonDocument replacement(BsonDocument isDue, BsonDocument grant, BsonDocument run, BsonDocument before,
			BsonValue moved) {
		BsonDocument token = doc("token", grant.getDocument(LockDocument.TOKEN));
		BsonDocument runs = doc("$concatArrays", before, moved);
		BsonDocument record = doc("$mergeObjects", ref("$" + this.job.path()),
				doc(JobFields.LAST, run).append(JobFields.RUNS, runs));
		grant.put(LockDocument.TOKEN, TOKEN);
		grant.append(JobFields.JOBS, doc("$mergeObjects", ref("$" + JobFields.JOBS), doc(this.job.key(), record)));
		return doc("$cond", isDue, let(token, doc("$mergeObjects", ref("$$ROOT"), grant)), ref("$$ROOT"));
	}

	/**
	 * Return the history, of which old runs are removed several at a time: an array that
	 * only grows is a small change for the other members of a replica set.
	 */
	private static BsonDocument kept(BsonValue all) {
		BsonDocument kept = doc("$cond", doc("$lt", doc("$size", all), new BsonInt32(MOST_RUNS)),
				new BsonInt32(-MOST_RUNS), new BsonInt32(-StoredJob.RUNS_BEFORE));
		return doc("$slice", all, kept);
	}

	private static BsonDocument let(BsonDocument variables, BsonValue in) {
		return doc("$let", doc("vars", variables).append("in", in));
	}

	/**
	 * Add the fields of the record that the caller needs.
	 */
	@Override
	public void addTo(BsonDocument projection) {
		projection.append(this.job.path(JobFields.LAST), new BsonInt32(1))
			.append(this.job.path(JobFields.PAUSED), new BsonInt32(1));
		if (this.job.method() != null) {
			projection.append(this.job.method(), new BsonInt32(1));
		}
	}

	/**
	 * Add the run before the last one, which the grant may have to report as crashed.
	 */
	@Override
	public void addEarlierGrant(BsonDocument projection) {
		projection.append(this.job.path(JobFields.RUNS), doc("$slice", new BsonInt32(-1)));
	}

	private BsonDocument due() {
		List<BsonValue> branches = new ArrayList<>();
		branches.add(branch(isPaused(), BsonNull.VALUE));
		if (this.firing.schedule() instanceof Schedule.Planned asked) {
			branches.add(branch(doc("$gt", earliest(asked), NOW), BsonNull.VALUE));
		}
		branches.add(branch(doc("$not", isReadable()), BsonNull.VALUE));
		branches.add(branch(doc("$or", doc("$not", isPresent(this.planned)), isFarAhead(this.planned)),
				doc("$cond", isOpen(), attempt(firstPlanned(), FIRST), BsonNull.VALUE)));
		branches.add(branch(SAME, sameAttempt()));
		if (this.firing.rerun()) {
			BsonDocument crashes = literals(JobRun.Outcome.CRASHED.name(), JobRun.Outcome.LOST.name());
			BsonDocument crashed = doc("$and", doc("$in", END, crashes),
					doc("$lt", this.attempt, new BsonInt32(JobDecision.MOST_ATTEMPTS)));
			BsonDocument abandoned = doc("$and", OPEN, doc("$gt", this.attempt, FIRST));
			if (isLimited()) {
				crashed.getArray("$and").add(isRepeatedInTime());
				abandoned.getArray("$and").add(isRepeatedInTime());
			}
			branches.add(branch(crashed, attempt(this.planned, doc("$add", this.attempt, FIRST))));
			branches.add(branch(abandoned, sameAttempt()));
		}
		if (this.job.method() != null) {
			branches.add(branch(isSettledElsewhere(), BsonNull.VALUE));
		}
		BsonDateTime latest = latest();
		if (latest != null) {
			branches.add(branch(doc("$gt", NOW, latest), BsonNull.VALUE));
		}
		if (this.firing.schedule() instanceof Schedule.Planned asked) {
			branches.add(branch(doc("$and", OPEN, doc("$eq", this.planned, at(asked))), sameAttempt()));
			branches.add(branch(doc("$lt", this.planned, at(asked)), attempt(at(asked), FIRST)));
		}
		else {
			branches.add(branch(OPEN, sameAttempt()));
			branches.add(branch(doc("$lte", dueAt(), NOW), attempt(nextPlanned(), FIRST)));
		}
		return doc("$switch", doc("branches", new BsonArray(branches)).append("default", BsonNull.VALUE));
	}

	private BsonDocument isPaused() {
		return isPresent(path(JobFields.PAUSED));
	}

	private static BsonDateTime earliest(Schedule.Planned asked) {
		return date(asked.at().toEpochMilli() - JobDecision.EARLIEST);
	}

	/** After it, the planned time is not granted; {@code null} if it always is. */
	private @Nullable BsonDateTime latest() {
		Long until = this.firing.startUntil();
		return (until != null && isLimited()) ? date(until) : null;
	}

	private BsonValue isInTime() {
		BsonDateTime latest = latest();
		return (latest != null) ? doc("$lte", NOW, latest) : BsonBoolean.TRUE;
	}

	/** Whether the planned time is neither too late nor settled under another id. */
	private BsonValue isOpen() {
		return (this.job.method() != null) ? doc("$and", isInTime(), doc("$not", isSettledElsewhere())) : isInTime();
	}

	/** By {@code StoredRun.crashKnownAt()}. */
	private BsonDocument isRepeatedInTime() {
		BsonDocument known = doc("$cond", doc("$eq", ref("$" + LockDocument.HOLDER), last(JobFields.RUN_HOLDER)),
				ref("$" + LockDocument.EXPIRES_AT),
				doc("$ifNull", last(JobFields.ENDED), ref("$" + LockDocument.ACQUIRED_AT)));
		return doc("$lte", doc("$subtract", NOW, number(this.firing.startUntil(0))), known);
	}

	private boolean isLimited() {
		return this.firing.startUntil(0) != Long.MAX_VALUE;
	}

	/** By {@code JobDecision.after()}. */
	private BsonDocument after() {
		BsonString planned = ref("$$due." + JobFields.PLANNED);
		BsonDocument settled = doc("$and", doc("$lt", this.planned, planned),
				doc("$or", doc("$not", OPEN), doc("$gt", this.attempt, FIRST)));
		BsonDocument before = doc("$cond", doc("$lte", this.planned, planned), last(JobFields.AFTER), ref("$$REMOVE"));
		BsonDocument own = doc("$cond", settled, this.planned, before);
		if (this.job.method() == null) {
			return own;
		}
		BsonDocument elsewhere = doc("$cond", doc("$lt", ELSEWHERE, planned), ELSEWHERE, BsonNull.VALUE);
		return doc("$ifNull", doc("$max", own, elsewhere), ref("$$REMOVE"));
	}

	/** False after a manual change; refused then, so that the caller repairs it. */
	private BsonDocument isReadable() {
		return doc("$in", doc("$type", this.planned), DATE_OR_MISSING);
	}

	private static BsonDocument isFarAhead(BsonValue planned) {
		return doc("$gt", planned, doc("$add", NOW, number(JobDecision.LATEST_STORED)));
	}

	/** As {@code JobDecision.isSame()}. */
	private BsonDocument isSame() {
		return doc("$and", doc("$eq", last(JobFields.FIRING), literal(this.firing.id())),
				doc("$not", doc("$in", this.outcome, DONE)), doc("$or", isOpen(), hasBegun()));
	}

	/** By {@code StoredRun.hasBegun()}. */
	private BsonDocument hasBegun() {
		BsonDocument began = doc("$and", isPresent(this.outcome),
				doc("$ne", this.outcome, text(JobRun.Outcome.ABANDONED.name())));
		return doc("$or", isPresent(last(JobFields.AGAIN)), began);
	}

	/** As {@code StoredRun.end()}. */
	private BsonDocument end() {
		// A job without rerun does not depend on whether the lock was released
		BsonValue unrecorded = this.firing.rerun()
				? doc("$cond", isReleased(), text(JobRun.Outcome.FAILED.name()), text(JobRun.Outcome.CRASHED.name()))
				: text(JobRun.Outcome.CRASHED.name());
		return doc("$cond", doc("$eq", this.outcome, text(JobRun.Outcome.ABANDONED.name())), last(JobFields.AGAIN),
				doc("$ifNull", this.outcome, unrecorded));
	}

	/** As {@code StoredRun.isReleased()}. */
	private BsonDocument isReleased() {
		return doc("$and", hasType(ref("$" + LockDocument.HOLDER), "missing"),
				doc("$eq", ref("$" + LockDocument.TOKEN), last(JobFields.RUN_TOKEN)));
	}

	private static BsonValue at(Schedule.Planned asked) {
		return date(asked.at().toEpochMilli());
	}

	/** The planned time of a first run. */
	private BsonValue firstPlanned() {
		return (this.firing.schedule() instanceof Schedule.Planned asked) ? at(asked) : NOW;
	}

	/** The planned time of a due run by a period. */
	private BsonValue nextPlanned() {
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

	private BsonDocument sameAttempt() {
		return attempt(this.planned, this.attempt);
	}

	private static BsonDocument attempt(BsonValue planned, BsonValue attempt) {
		return doc(JobFields.PLANNED, planned).append(JobFields.ATTEMPT, attempt);
	}

	private BsonDocument run(BsonValue planned, BsonValue attempt) {
		BsonDocument run = new BsonDocument(JobFields.PLANNED, planned).append(JobFields.ATTEMPT, attempt)
			.append(JobFields.FIRING, literal(this.firing.id()))
			.append(JobFields.RUN_HOLDER, literal(this.request.holder()))
			.append(JobFields.STARTED, NOW)
			.append(JobFields.INSTANCE, literal(this.request.acquirer()))
			.append(JobFields.RUN_TOKEN, TOKEN);
		String plan = this.firing.plan();
		if (plan != null) {
			run.append(JobFields.PLAN, literal(plan));
		}
		if (this.firing.shards() > 0) {
			// As StoredJob.shards()
			BsonInt32 declared = new BsonInt32(this.firing.shards());
			run.append(JobFields.SHARDS, doc("$cond", doc("$eq", planned, this.planned),
					doc("$ifNull", last(JobFields.SHARDS), declared), declared));
		}
		return run;
	}

	/** The last run, if it is moved to the history. */
	private BsonDocument moved() {
		BsonDocument end = doc("$cond", isReleased(), text(JobRun.Outcome.LOST.name()),
				text(JobRun.Outcome.CRASHED.name()));
		BsonDocument ended = doc("$mergeObjects", this.last, doc(JobFields.OUTCOME, doc("$ifNull", this.outcome, end)));
		return doc("$cond", MOVES, new BsonArray(List.of(ended)), new BsonArray());
	}

	/**
	 * As {@code JobDecision.afterCrash()}: the last run crashes by moving without an
	 * outcome, or the last grant may not have reported the crash before it.
	 */
	private BsonDocument isAfterCrash() {
		BsonDocument crash = doc("$and", doc("$lte", this.outcome, BsonNull.VALUE), doc("$not", isReleased()));
		BsonDocument began = doc("$ifNull", this.outcome, text(JobRun.Outcome.ABANDONED.name()));
		BsonDocument unreported = doc("$and", doc("$eq", last(JobFields.AFTER_CRASH), BsonBoolean.TRUE),
				doc("$eq", began, text(JobRun.Outcome.ABANDONED.name())),
				doc("$lte", last(JobFields.ERROR), BsonNull.VALUE));
		return doc("$cond", MOVES, crash, unreported);
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
