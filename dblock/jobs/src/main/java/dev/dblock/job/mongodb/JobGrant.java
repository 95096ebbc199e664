package dev.dblock.job.mongodb;

import java.util.ArrayList;
import java.util.List;

import dev.dblock.claim.ClaimRecord.LockState;
import dev.dblock.claim.ClaimRecord.Request;
import dev.dblock.job.JobDecision;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobRun;
import dev.dblock.job.StoredJob;
import dev.dblock.job.StoredJob.StoredRun;
import dev.dblock.mongodb.request.BsonParts;
import dev.dblock.mongodb.request.ClaimStatements;
import dev.dblock.mongodb.request.LockDocument;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonNull;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

import static dev.dblock.mongodb.request.BsonParts.date;
import static dev.dblock.mongodb.request.BsonParts.number;
import static dev.dblock.mongodb.request.BsonParts.text;

/**
 * The part of a grant with classic operators that concerns a job. It is decided by the
 * document that was read, which the grant replaces by compare-and-swap on holder, token
 * and expiry.
 */
final class JobGrant implements ClaimStatements.Grant {

	private final Request request;

	private final JobFields job;

	private final JobRecord record;

	private final JobDecision decision;

	/** What the method's field contains; {@code null} if it is absent. */
	private final @Nullable BsonValue method;

	private final JobDecision.@Nullable Elsewhere elsewhere;

	private final long now;

	private JobGrant(Request request, JobFields job, JobRecord record, JobDecision decision, @Nullable BsonValue method,
			JobDecision.@Nullable Elsewhere elsewhere, long now) {
		this.request = request;
		this.job = job;
		this.record = record;
		this.decision = decision;
		this.method = method;
		this.elsewhere = elsewhere;
		this.now = now;
	}

	/**
	 * Decide on a firing.
	 * @param request the request
	 * @param stored the document as it was read
	 * @param lock the same document, if it is one of ours
	 * @param now milliseconds of the server's clock
	 */
	static JobGrant of(Request request, @Nullable BsonDocument stored, @Nullable LockDocument lock, long now) {
		JobFields job = new JobFields(request.key());
		JobRecord record = JobRecord.read(stored, job);
		LockState state = JobRecord.stateOf(lock, now);
		JobDecision.Elsewhere elsewhere = JobRecord.elsewhere(stored, job, state, now);
		JobDecision decision = JobDecision.of(request, record.toJob(), state, elsewhere, now);
		BsonValue method = (stored != null && job.method() != null) ? stored.get(job.method()) : null;
		return new JobGrant(request, job, record, decision, method, elsewhere, now);
	}

	@Override
	public boolean isGrantable() {
		return this.decision.due() && this.record.malformed() == null;
	}

	@Override
	public void addToFilter(BsonDocument filter) {
		BsonValue paused = this.record.fields().get(JobFields.PAUSED);
		filter.append(this.job.path(JobFields.PAUSED), (paused != null) ? paused : BsonParts.IS_ABSENT);
		if (this.record.fields().get(JobFields.LAST) instanceof BsonDocument last) {
			// Each grant and each missed planned time has another holder, each end an
			// outcome
			for (String field : List.of(JobFields.PLANNED, JobFields.RUN_HOLDER, JobFields.OUTCOME)) {
				filter.append(this.job.last(field), last.getOrDefault(field, BsonParts.IS_ABSENT));
			}
		}
		else {
			filter.append(this.job.path(JobFields.LAST), BsonParts.IS_ABSENT);
		}
		if (this.job.method() != null) {
			filter.append(this.job.method(), (this.method != null) ? this.method : BsonParts.IS_ABSENT);
		}
	}

	@Override
	public void addTo(BsonDocument grant) {
		BsonDocument set = grant.getDocument("$set");
		set.append(this.job.path(JobFields.LAST), run(set.getInt64(LockDocument.TOKEN)))
			.append(this.job.path(JobFields.RUNS), runs());
		settle(set);
	}

	/**
	 * Record that the planned time is settled for the method, unless a later one is.
	 */
	private void settle(BsonDocument set) {
		long planned = this.decision.planned();
		if (this.job.method() == null || (this.elsewhere != null && this.elsewhere.planned() > planned)) {
			return;
		}
		BsonDocument known = (this.method instanceof BsonDocument fields) ? fields : new BsonDocument();
		boolean again = date(planned).equals(known.get(JobFields.PLANNED));
		BsonDocument settled = new BsonDocument(JobFields.PLANNED, date(planned))
			.append(JobFields.ID, text(this.job.key()))
			.append(JobFields.RUN_HOLDER, text(this.request.holder()))
			.append(JobFields.BEFORE, known.get(again ? JobFields.BEFORE : JobFields.PLANNED, BsonNull.VALUE));
		set.append(this.job.method(), settled);
	}

	/**
	 * Return the update that records the planned time as missed, unless the record has
	 * changed since it was read.
	 * @return the update, which is empty if this firing has recorded it before;
	 * {@code null} if the planned time is not too late
	 */
	ClaimStatements.@Nullable Expiry expiry() {
		boolean recorded = this.record.toJob().hasExpired((JobFiring) this.request.claim());
		if (this.record.malformed() != null || !(recorded || this.decision.isTooLate())) {
			return null;
		}
		BsonDocument filter = new BsonDocument();
		addToFilter(filter);
		if (recorded) {
			return new ClaimStatements.Expiry(filter, new BsonDocument());
		}
		BsonDocument missed = run(number(0)).append(JobFields.ENDED, date(this.now))
			.append(JobFields.OUTCOME, text(JobRun.Outcome.MISSED.name()));
		BsonDocument fields = new BsonDocument(this.job.path(JobFields.LAST), missed)
			.append(this.job.path(JobFields.RUNS), runs());
		settle(fields);
		return new ClaimStatements.Expiry(filter, fields);
	}

	/**
	 * Return why the firing is refused, also by a pipeline, which has the same rules.
	 */
	ClaimStatements.Refusal refusal() {
		return new ClaimStatements.Refusal(this.decision.refusal(), this.record.malformed() != null,
				this.decision.granted());
	}

	private BsonDocument run(BsonValue token) {
		JobFiring firing = (JobFiring) this.request.claim();
		BsonDocument run = new BsonDocument(JobFields.PLANNED, date(this.decision.planned()))
			.append(JobFields.ATTEMPT, new BsonInt32(this.decision.attempt()))
			.append(JobFields.FIRING, text(firing.id()))
			.append(JobFields.RUN_HOLDER, text(this.request.holder()))
			.append(JobFields.STARTED, date(this.now))
			.append(JobFields.INSTANCE, text(this.request.acquirer()))
			.append(JobFields.RUN_TOKEN, token);
		JobRun.Outcome again = this.decision.again();
		if (again != null) {
			run.append(JobFields.AGAIN, text(again.name()));
		}
		if (this.decision.afterCrash()) {
			run.append(JobFields.AFTER_CRASH, BsonBoolean.TRUE);
		}
		Long after = this.decision.after();
		if (after != null) {
			run.append(JobFields.AFTER, date(after));
		}
		if (firing.plan() != null) {
			run.append(JobFields.PLAN, text(firing.plan()));
		}
		int shards = (firing.shards() > 0) ? this.record.toJob().shards(this.decision.planned(), firing) : 0;
		if (shards > 0) {
			run.append(JobFields.SHARDS, new BsonInt32(shards));
		}
		return run;
	}

	private BsonArray runs() {
		BsonDocument fields = this.record.fields();
		List<BsonValue> runs = new ArrayList<>();
		if (fields.get(JobFields.RUNS) instanceof BsonArray before) {
			runs.addAll(before);
		}
		StoredRun moved = this.decision.moved();
		if (moved != null) {
			BsonDocument last = fields.getDocument(JobFields.LAST).clone();
			JobRun.Outcome outcome = moved.outcome();
			if (outcome != null) {
				last.put(JobFields.OUTCOME, text(outcome.name()));
			}
			runs.add(last);
		}
		return new BsonArray(runs.subList(Math.max(0, runs.size() - StoredJob.RUNS_BEFORE), runs.size()));
	}

}
