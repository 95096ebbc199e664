package dev.dblock.job.schedule;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;

import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobInfo.JobStatus;
import dev.dblock.job.JobRun;
import dev.dblock.job.schedule.Answer.Asked;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;

/**
 * Records the planned times that can no longer start as missed, as far as no other
 * instance does that first.
 */
final class MissedTimes {

	private static final Duration AGAIN = Duration.ofMinutes(1);

	private static final int MOST_TRIES = 3;

	private final JobTimer timer;

	private final JobReports reports;

	private final PlannedTimeAccount account;

	private final Supplier<Instant> now;

	private final BooleanSupplier cancelled;

	/**
	 * Create the records.
	 * @param now the time of the server's clock
	 * @param cancelled whether nothing is recorded any more
	 */
	MissedTimes(JobTimer timer, JobReports reports, PlannedTimeAccount account, Supplier<Instant> now,
			BooleanSupplier cancelled) {
		this.timer = timer;
		this.reports = reports;
		this.account = account;
		this.now = now;
		this.cancelled = cancelled;
	}

	/**
	 * Record a planned time, later. It is tried again while the lock is held, as by an
	 * earlier run, and a few times if it is refused for another reason: it could still
	 * start by the clock of the server.
	 * @param at when it can no longer start
	 * @param open whether it is still to be recorded then
	 * @param answer the request that was not made for it
	 */
	void recordAt(Instant at, BooleanSupplier open, Supplier<Answer> answer) {
		recordAt(at, open, answer, MOST_TRIES);
	}

	private void recordAt(Instant at, BooleanSupplier open, Supplier<Answer> answer, int tries) {
		startTimer(at, () -> {
			if (open.getAsBoolean()) {
				record(answer.get(), null, (status) -> {
					int left = (status.heldBy() != null) ? tries : tries - 1;
					if (left > 0) {
						recordAt(this.now.get().plus(AGAIN), open, answer, left);
					}
				});
			}
		});
	}

	/**
	 * Record a planned time. Without an answer, the request is repeated: only this
	 * instance reports what it may have recorded.
	 * @param answer the answer that it is too late
	 * @param outage why the request before failed; {@code null} if it did not
	 */
	void record(Answer answer, @Nullable String outage) {
		record(answer, outage, null);
	}

	/**
	 * Record a planned time.
	 * @param refused called with the record if this is not recorded, and neither run nor
	 * recorded by others; {@code null} if the server has answered that it is too late
	 */
	private void record(Answer answer, @Nullable String outage, @Nullable Consumer<JobStatus> refused) {
		Asked asked = Objects.requireNonNull(answer.asked());
		String lock = asked.method().lock();
		if (lock == null) {
			return;
		}
		JobRequest request = answer.request();
		try {
			Duration limit = JobRequest.patience(request.timeouts());
			JobStatus changed = asked.declaration().recordMissed(lock, asked.firing(), limit).orElse(null);
			if (changed != null) {
				this.account.missed(answer, changed, outage);
			}
			else if (refused != null) {
				asked.declaration()
					.status(lock, limit)
					.filter((status) -> status.runs().stream().limit(1).anyMatch((last) -> isOpen(request, last)))
					.ifPresent(refused);
			}
		}
		catch (DataAccessException ex) {
			this.reports.answered(ex, asked.declaration());
			JobRequest again = request.next(request.timeouts() + 1, asked.firing());
			startTimer(this.now.get().plus(NextFiring.pause(again.earlier())),
					() -> record(new Answer(again, asked, null, null, ex), outage, refused));
		}
	}

	private static boolean isOpen(JobRequest request, JobRun last) {
		return request.schedule() instanceof Schedule.Planned planned
				&& (last.plannedAt().isBefore(planned.at()) || last.outcome() == JobRun.Outcome.ABANDONED);
	}

	private void startTimer(Instant at, Runnable action) {
		this.timer.startBeside(at, () -> {
			if (!this.cancelled.getAsBoolean()) {
				action.run();
			}
		});
	}

}
