package dev.dblock.sample.live;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

import dev.dblock.LockInfo;
import dev.dblock.job.JobInfo;
import dev.dblock.job.JobRun;
import dev.dblock.sample.billing.BillingFigures.Figures;
import dev.dblock.sample.live.Presence.State;
import dev.dblock.sample.live.Presence.Waiting;
import org.jspecify.annotations.Nullable;

/**
 * State that is sent to the page: everything each time, except for the events. Times are
 * in milliseconds.
 *
 * @param self the instance that sends it
 * @param now the clock of that instance
 * @param server a description of the MongoDB server
 * @param transactions whether writes are fenced
 * @param pauseMillis how long a pause lasts
 * @param instances all instances
 * @param locks all locks
 * @param jobs all scheduled jobs
 * @param figures the billing figures
 * @param events the events since the previous state
 */
record LiveState(String self, long now, String server, boolean transactions, long pauseMillis,
		List<InstanceView> instances, List<LockView> locks, List<JobView> jobs, Figures figures,
		List<EventView> events) {

	LiveState withEvents(List<EventView> events) {
		return new LiveState(this.self, this.now, this.server, this.transactions, this.pauseMillis, this.instances,
				this.locks, this.jobs, this.figures, events);
	}

	/**
	 * View of an instance.
	 *
	 * @param id its name
	 * @param port the port on which it listens
	 * @param pid the id of its process
	 * @param state the state that it last reported
	 * @param silentMillis how long ago that was, by the server's clock
	 * @param hostsServer whether it hosts the embedded server
	 * @param canBePaused whether it can be paused
	 * @param waiting its waiting threads
	 */
	record InstanceView(String id, int port, long pid, State state, long silentMillis, boolean hostsServer,
			boolean canBePaused, List<WaitingView> waiting) {

		static InstanceView of(Presence presence, @Nullable Instant serverNow) {
			Instant seenAt = presence.seenAt();
			long silent = (seenAt != null && serverNow != null) ? Duration.between(seenAt, serverNow).toMillis() : 0;
			List<Waiting> waiting = (presence.waiting() != null) ? presence.waiting() : List.of();
			return new InstanceView(presence.id(), presence.port(), presence.pid(), presence.state(),
					Math.max(0, silent), presence.hostsServer(), presence.canBePaused(),
					waiting.stream().map((one) -> new WaitingView(one.name(), one.since().toEpochMilli())).toList());
		}

	}

	/**
	 * View of a waiting thread.
	 *
	 * @param name the name of the lock
	 * @param since when the wait began
	 */
	record WaitingView(String name, long since) {
	}

	/**
	 * View of a lock.
	 *
	 * @param name its name
	 * @param held whether it is held
	 * @param acquirer the holder's instance
	 * @param why the purpose
	 * @param token the last token that was reserved
	 * @param leftMillis how long the lock remains held unless it is renewed
	 * @param fullMillis how long that was at the last renewal
	 * @param updatedAt when that was, by the server's clock
	 * @param releasedAt when it was released
	 */
	record LockView(String name, boolean held, @Nullable String acquirer, @Nullable String why, long token,
			long leftMillis, long fullMillis, long updatedAt, long releasedAt) {

		static LockView of(LockInfo lock) {
			Instant updatedAt = lock.updatedAt();
			Instant expiresAt = lock.expiresAt();
			long full = (updatedAt != null && expiresAt != null) ? Duration.between(updatedAt, expiresAt).toMillis()
					: 0;
			return new LockView(lock.name(), lock.held(), lock.acquirer(), lock.why(), lock.token(),
					lock.remaining().toMillis(), full, millis(updatedAt), millis(lock.releasedAt()));
		}

		private static long millis(@Nullable Instant instant) {
			return (instant != null) ? instant.toEpochMilli() : 0;
		}

	}

	/**
	 * View of a scheduled job.
	 *
	 * @param id its id
	 * @param schedule a description of its schedule
	 * @param dueInMillis the time until the next planned time that the instance knows
	 * @param paused whether it is paused
	 * @param pausedBy the operator that paused it
	 * @param runningOn the instance that runs it
	 * @param overdue whether a planned time was not run
	 * @param runs its last runs, the latest first
	 */
	record JobView(String id, String schedule, @Nullable Long dueInMillis, boolean paused, @Nullable String pausedBy,
			@Nullable String runningOn, boolean overdue, List<RunView> runs) {

		static JobView of(JobInfo job) {
			String schedule = job.schedules()
				.stream()
				.map(JobInfo.Schedule::description)
				.collect(Collectors.joining(", "));
			Long dueInMillis = job.schedules()
				.stream()
				.map(JobInfo.Schedule::next)
				.filter(Objects::nonNull)
				.min(Comparator.naturalOrder())
				.map((next) -> Duration.between(job.at(), next).toMillis())
				.orElse(null);
			return new JobView(job.id(), schedule, dueInMillis, job.paused(), job.pausedBy(), job.runningOn(),
					job.overdue(), job.runs().stream().map(RunView::of).toList());
		}

	}

	/**
	 * View of a run of a job, by the server's clock.
	 *
	 * @param plannedAt the planned time of the run
	 * @param attempt the number of the attempt at that planned time
	 * @param startedAt when it began
	 * @param tookMillis how long it took, once it has ended
	 * @param outcome the outcome
	 * @param instance the instance that ran it
	 * @param error the error, if it failed
	 */
	record RunView(long plannedAt, int attempt, long startedAt, @Nullable Long tookMillis,
			JobRun.@Nullable Outcome outcome, String instance, @Nullable String error) {

		static RunView of(JobRun run) {
			Instant endedAt = run.endedAt();
			Long took = (endedAt != null) ? Duration.between(run.startedAt(), endedAt).toMillis() : null;
			return new RunView(run.plannedAt().toEpochMilli(), run.attempt(), run.startedAt().toEpochMilli(), took,
					run.outcome(), run.instance(), run.error());
		}

	}

	/**
	 * View of an event.
	 *
	 * @param id its id
	 * @param instance the instance
	 * @param kind the kind of event
	 * @param at the time
	 * @param name the name of the lock
	 * @param token the token
	 * @param text additional text
	 */
	record EventView(String id, String instance, LiveEvent.Kind kind, long at, @Nullable String name,
			@Nullable Long token, @Nullable String text) {

		static EventView of(LiveEvent event) {
			return new EventView(event.id(), event.instance(), event.kind(), event.at().toEpochMilli(), event.name(),
					event.token(), event.text());
		}

	}

}
