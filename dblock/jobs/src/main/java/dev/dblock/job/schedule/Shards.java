package dev.dblock.job.schedule;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

import dev.dblock.LockHandle;
import dev.dblock.LockInterruptedException;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockShutdownException;
import dev.dblock.engine.LockEngine;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobInfo.JobStatus;
import dev.dblock.job.JobNews;
import dev.dblock.job.JobRefusal;
import dev.dblock.job.JobRun;
import dev.dblock.job.JobShards;
import dev.dblock.job.schedule.Answer.Asked;
import dev.dblock.job.schedule.JobMethod.Declaration;
import dev.dblock.job.trigger.PlannedTimes;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.task.TaskRejectedException;
import org.springframework.dao.DataAccessException;

/**
 * The shards of a job on this instance. A planned time begins with a request under the
 * lock of the job, which one instance is granted and releases at once: its run record has
 * the number of shards of that planned time for all instances, also if they declare
 * different ones. Then each instance requests the shards one after another, in a random
 * order, each under a lock of its own. A shard that another instance has is refused, so
 * that the instances share the work without knowing of each other. No planned time begins
 * on this instance before it is done with the one before.
 */
final class Shards {

	private static final Logger logger = LoggerFactory.getLogger(JobTask.class);

	private static final int MOST_TIMEOUTS = 3;

	/** About a minute and a half. */
	private static final int MOST_READS = 20;

	/** Far more than can be read at the same time. */
	private static final int MOST_OVER = 20;

	/** Pauses between two shards on an instance, which is at work nevertheless. */
	private static final Duration LONGEST_GAP = Duration.ofSeconds(10);

	/** The records of a thousand shards have several megabytes. */
	private static final Duration PATIENCE_PER_SHARD = Duration.ofMillis(5);

	private final JobTask job;

	private final JobMethod method;

	private final Map<Integer, JobTask> tasks = new ConcurrentHashMap<>();

	/** The calls of shards that wait for a thread. */
	private final Queue<Runnable> calls = new ArrayDeque<>();

	/** The threads that work, or are to. */
	private final List<Worker> workers = new ArrayList<>();

	/** The planned time that waits for the end of the one before. */
	private @Nullable Firing next;

	/** The last beginning whose shards were requested. */
	private @Nullable JobRun requested;

	/**
	 * A shard of each planned time that this instance has worked on since it was idle.
	 */
	private final Map<Instant, JobRun> worked = new TreeMap<>();

	/** The latest planned times that were reported to be over. */
	private final Deque<Instant> over = new ArrayDeque<>();

	Shards(JobTask job, JobMethod method) {
		this.job = job;
		this.method = method;
	}

	/**
	 * Fire a planned time as soon as this instance has no more work of the one before.
	 * One that still waits then is skipped.
	 */
	synchronized void fire(Instant planned, Runnable firing) {
		// A scheduler can refuse a task that it has accepted, once it is due
		this.workers.removeIf(Worker::isRefused);
		if (isWorking()) {
			this.job.passedOver(planned);
		}
		fireLater(planned, firing);
	}

	/**
	 * Fire a planned time from before this instance started, after the shards of the one
	 * before.
	 */
	synchronized void fireLater(Instant planned, Runnable firing) {
		if (this.next == null || !planned.isBefore(this.next.planned())) {
			this.next = new Firing(planned, firing);
		}
		proceed();
	}

	/**
	 * Call a shard as soon as a thread is free.
	 */
	synchronized void call(Runnable call) {
		this.calls.add(call);
		proceed();
	}

	synchronized boolean isWorking() {
		return !this.workers.isEmpty() || !this.calls.isEmpty();
	}

	private synchronized void proceed() {
		if (this.job.isCancelled()) {
			this.calls.clear();
			this.next = null;
		}
		while (this.workers.size() < this.method.declaration().concurrency()) {
			Runnable call = this.calls.poll();
			if (call == null && this.workers.isEmpty() && this.next != null) {
				call = this.next.firing();
				this.next = null;
			}
			if (call == null) {
				return;
			}
			start(new Worker(call));
		}
	}

	private void start(Worker worker) {
		this.workers.add(worker);
		try {
			// By the scheduler, which handles what the method throws
			worker.future = this.job.submit(worker);
		}
		catch (TaskRejectedException ex) {
			this.calls.clear();
			logger.debug("The scheduler does not accept the shards of {}", this.job.task(), ex);
		}
		finally {
			if (worker.future == null) {
				this.workers.remove(worker);
			}
		}
	}

	private void ended(Worker worker) {
		List<JobRun> ofEach = List.of();
		synchronized (this) {
			this.workers.remove(worker);
			if (!isWorking()) {
				ofEach = List.copyOf(this.worked.values());
				this.worked.clear();
			}
			proceed();
		}
		ofEach.forEach((run) -> report(run, 0));
	}

	/**
	 * Request a planned time, and then its shards, unless it does not begin.
	 */
	void request(JobRequest request) {
		Answer answer = ask(request);
		if (answer == null) {
			return;
		}
		this.job.answered(answer, true);
		this.job.granted(answer);
		this.job.follow(answer);
		JobRun run = answer.run();
		JobRun last = lastOfSamePlannedTime(answer);
		if (run != null) {
			begin(run);
			settleSurplus(run, run.shards() + 1, 0);
		}
		else if (last != null && isBegun(last)) {
			if (request.look()) {
				resume(last);
			}
			else {
				begin(last);
			}
		}
		else if (last != null && last.outcome() == null && last.shards() > 0) {
			// It may be abandoned, if its instance did not get the answer
			Duration pause = (request.earlier() == 0) ? NextFiring.SOON : NextFiring.pause(request.earlier());
			this.job.timer().startBeside(this.job.now().plus(pause), () -> requestAgain(request));
		}
		else if (answer.refusal() == null && answer.failure() == null) {
			// Locking is disabled
			this.job.callMethod(request);
		}
	}

	private void requestAgain(JobRequest request) {
		if (!this.job.isCancelled() && !request.isOvertakenBy(this.job.latest())) {
			request(request.next(0, null));
		}
	}

	/**
	 * Request the lock of the job.
	 * @return the answer; {@code null} if the application is closing
	 */
	private @Nullable Answer ask(JobRequest request) {
		Declaration declaration = this.method.declaration();
		Schedule.Planned planned = (Schedule.Planned) Objects.requireNonNull(request.schedule());
		JobFiring firing = request.firing(declaration, planned, true, this.job.plans().text())
			.whenInDoubt((failure) -> this.method.doubtful().failed(planned.at(), failure));
		return ask(request, new Asked(this.method, declaration, firing, this.job.nanoTime()));
	}

	private @Nullable Answer ask(JobRequest request, Asked asked) {
		Declaration declaration = asked.declaration();
		try {
			LockEngine.Attempt attempt = declaration.engine()
				.acquire(declaration.template(), LockOptions.defaults().claim(asked.firing()), Duration.ZERO);
			return (attempt instanceof LockEngine.Granted granted)
					? new Answer(request, asked, released(granted.handle()), null, null)
					: new Answer(request, asked, null, ((LockEngine.Refused) attempt).refusal(), null);
		}
		catch (DataAccessException ex) {
			return new Answer(request, asked, null, null, ex);
		}
		catch (LockShutdownException | LockInterruptedException ex) {
			logger.debug("{} is not requested any more", this.job.task(), ex);
			return null;
		}
	}

	private static @Nullable JobRun released(LockHandle handle) {
		JobRun run = JobRun.of(handle).orElse(null);
		try {
			handle.close();
		}
		catch (LockLostException ex) {
			logger.debug("The lock '{}' was lost when the planned time had begun", handle.name(), ex);
		}
		return run;
	}

	/**
	 * Return the last entry of the record if it is for the requested planned time, also
	 * if the job was paused since then.
	 */
	private static @Nullable JobRun lastOfSamePlannedTime(Answer answer) {
		JobRefusal verdict = answer.verdict();
		JobRun last = answer.lastRun();
		if (verdict == null || last == null || !(answer.request().schedule() instanceof Schedule.Planned planned)) {
			return null;
		}
		return switch (verdict.reason()) {
			case RUNNING, DONE, PAUSED -> last.plannedAt().equals(planned.at()) ? last : null;
			case OVERLAPPED, OTHER_ID, NOT_DUE, TOO_LATE -> null;
		};
	}

	/**
	 * Whether an entry of the record of a job is the beginning of a planned time with
	 * shards. Another version of the application may have run it without shards.
	 */
	static boolean isBegun(JobRun run) {
		return run.shards() > 0 && run.outcome() != null && run.outcome() != JobRun.Outcome.MISSED
				&& run.outcome() != JobRun.Outcome.ABANDONED;
	}

	/**
	 * Request the shards of a planned time that has begun.
	 */
	void begin(JobRun run) {
		synchronized (this) {
			JobRun before = this.requested;
			if (before != null && before.plannedAt().equals(run.plannedAt()) && before.attempt() == run.attempt()) {
				return;
			}
			this.requested = run;
		}
		this.job.worksSince(this.job.now());
		LatestPlanned latest = this.method.latestOfShards();
		latest.fired(run.plannedAt(), this.job.now());
		List<Integer> numbers = new ArrayList<>(IntStream.rangeClosed(1, run.shards()).boxed().toList());
		Collections.shuffle(numbers);
		numbers.forEach((number) -> task(number).call(JobRequest.shard(run, latest.at(this.job.now()))));
	}

	/**
	 * Request the shards of the last planned time of the record, unless it has not begun
	 * with shards, or an instance that starts now is too late for it.
	 */
	void resume(JobRun last) {
		Instant tooLate = last.plannedAt().plus(this.method.declaration().startWithin());
		if (isBegun(last) && this.job.now().isBefore(tooLate)) {
			begin(last);
		}
	}

	/**
	 * Settle the shards that the planned time before had in addition to those of the one
	 * that has begun: no later one would report those that were not run. The shards of
	 * this one go first.
	 * @param from the first number
	 * @param earlier the number of attempts before
	 */
	private void settleSurplus(JobRun run, int from, int earlier) {
		if (run.after() != null) {
			Instant at = (earlier == 0) ? this.job.now() : this.job.now().plus(NextFiring.pause(earlier));
			this.job.timer().startBeside(at, () -> settleSurplusNow(run, from, earlier));
		}
	}

	private void settleSurplusNow(JobRun run, int from, int earlier) {
		int number = from;
		try {
			int before = runs(this.method.declaration(), 0).stream()
				.filter((each) -> isBegun(each) && each.plannedAt().isBefore(run.plannedAt()))
				.findFirst()
				.map(JobRun::shards)
				.orElse(0);
			while (number <= before && !this.job.isCancelled()) {
				settle(number, run);
				number++;
			}
		}
		catch (DataAccessException ex) {
			logger.debug("The shard {} of the job '{}' could not be settled", number, this.method.id(), ex);
			if (isLatest(run.plannedAt())) {
				settleSurplus(run, number, earlier + 1);
			}
		}
	}

	private void settle(int number, JobRun run) {
		JobTask task = task(number);
		JobMethod shard = task.methods().iterator().next();
		Declaration declaration = shard.declaration();
		JobRequest request = JobRequest.shard(run, null);
		JobFiring firing = JobFiring.of(declaration.id(), Objects.requireNonNull(request.schedule()), false)
			.shards(run.shards())
			.startWithin(declaration.startWithin(), this.job.plans().text())
			.answerWithin(JobRequest.patience(0));
		Answer answer = ask(request, new Asked(shard, declaration, firing, this.job.nanoTime()));
		if (answer != null && answer.failure() != null) {
			throw answer.failure();
		}
		if (answer != null) {
			task.granted(answer);
		}
	}

	private JobTask task(int number) {
		return this.tasks.computeIfAbsent(number, (key) -> this.job.shard(new JobMethod(this.method, key)));
	}

	/**
	 * Record that the work on a shard begins.
	 */
	synchronized void workBegins(JobRun run) {
		if (run.shard() <= run.shards()) {
			this.worked.put(run.plannedAt(), run);
		}
	}

	/**
	 * Report that a planned time is over if this instance has run the last of its shards.
	 * @param earlier the number of attempts before
	 */
	private void report(JobRun worked, int earlier) {
		Instant planned = worked.plannedAt();
		Declaration declaration = this.method.declaration();
		try {
			List<List<JobRun>> runs = declaration.runsOfShards(worked.shards(),
					patience(worked.shards(), Math.min(earlier, MOST_TIMEOUTS)));
			JobShards shards = JobShards.of(planned, runs, false, declaration.rerun());
			boolean last = runs.stream()
				.flatMap(List::stream)
				.filter((run) -> run.plannedAt().equals(planned) && run.endedAt() != null)
				.max(Comparator.comparing(JobRun::endedAt).thenComparing(JobRun::shard))
				.filter((run) -> run.instance().equals(declaration.engine().acquirer()))
				.isPresent();
			if (last && shards.isOver() && isOverNow(planned)) {
				logger.info("The planned time {} of the job '{}' is over: {}", planned, this.method.id(),
						shards.describe());
				this.method.report(new JobNews.ShardsOver(this.method.id(), shards));
			}
		}
		catch (DataAccessException ex) {
			logger.debug("The shards of the job '{}' could not be read", this.method.id(), ex);
			if (earlier < MOST_READS) {
				this.job.timer()
					.startBeside(this.job.now().plus(NextFiring.pause(earlier)), () -> report(worked, earlier + 1));
			}
		}
	}

	/**
	 * Record that a planned time is over. Several reads can find that, if some failed.
	 * @return whether this is the first one to find it
	 */
	private synchronized boolean isOverNow(Instant planned) {
		if (this.over.contains(planned)) {
			return false;
		}
		if (this.over.size() == MOST_OVER) {
			this.over.removeFirst();
		}
		this.over.addLast(planned);
		return true;
	}

	/**
	 * Whether no later planned time was fired on this instance.
	 */
	private boolean isLatest(Instant planned) {
		Instant latest = this.job.latest();
		return latest == null || !latest.isAfter(planned);
	}

	private static List<JobRun> runs(Declaration declaration, int timeouts) {
		return declaration.status(JobRequest.patience(timeouts)).map(JobStatus::runs).orElse(List.of());
	}

	/**
	 * Return the planned times between two others that have begun, and in which a shard
	 * takes part. Those that have not are reported by the job as a whole.
	 */
	PlannedTimes begun(Instant after, Instant before, JobMethod shard) {
		List<JobRun> runs = runsOfJob();
		List<Instant> begun = runs.stream()
			.filter((run) -> isBegun(run) && run.shards() >= shard.number())
			.map(JobRun::plannedAt)
			.filter((planned) -> planned.isAfter(after) && planned.isBefore(before))
			.distinct()
			.sorted()
			.toList();
		// Which planned times had begun before those is no longer recorded
		Instant recorded = runs.isEmpty() ? null : runs.get(runs.size() - 1).after();
		return new PlannedTimes(begun, recorded != null && recorded.isAfter(after));
	}

	/**
	 * Return when instances were at work on the shards of a planned time.
	 * @return the periods in the order of time, of which the last one can be in progress;
	 * none if the shards could not be read
	 */
	static List<Period> work(Declaration declaration, JobRun begun) {
		try {
			List<Period> work = new ArrayList<>();
			declaration.runsOfShards(begun.shards(), patience(begun.shards(), 0))
				.stream()
				.flatMap(List::stream)
				.filter((run) -> run.plannedAt().equals(begun.plannedAt()))
				.map(Period::of)
				.sorted(Comparator.comparing(Period::from))
				.forEach((each) -> {
					Period last = work.isEmpty() ? null : work.get(work.size() - 1);
					if (last != null && !each.from().isAfter(last.longer(LONGEST_GAP))) {
						work.set(work.size() - 1, last.and(each));
					}
					else {
						work.add(each);
					}
				});
			return work;
		}
		catch (DataAccessException ex) {
			logger.debug("The shards of the job '{}' could not be read", begun.jobId(), ex);
			return List.of();
		}
	}

	private static Duration patience(int shards, int timeouts) {
		return JobRequest.patience(timeouts).plus(PATIENCE_PER_SHARD.multipliedBy(shards));
	}

	/**
	 * Read the record of the job. Without it, what a grant has settled is not reported.
	 */
	private List<JobRun> runsOfJob() {
		for (int timeouts = 0;; timeouts++) {
			try {
				return runs(this.method.declaration(), timeouts);
			}
			catch (DataAccessException ex) {
				if (timeouts == MOST_TIMEOUTS) {
					throw ex;
				}
			}
		}
	}

	void close() {
		synchronized (this) {
			this.calls.clear();
			this.next = null;
		}
		this.tasks.values().forEach(JobTask::close);
	}

	/**
	 * A call in a thread of the scheduler.
	 */
	private final class Worker implements Runnable {

		private final Runnable call;

		private volatile boolean started;

		private @Nullable Future<?> future;

		Worker(Runnable call) {
			this.call = call;
		}

		@Override
		public void run() {
			this.started = true;
			try {
				// A scheduler that waits for its tasks at shutdown also runs those that
				// it has not started by then
				if (!Shards.this.job.isCancelled()) {
					this.call.run();
				}
			}
			finally {
				ended(this);
			}
		}

		boolean isRefused() {
			Future<?> future = this.future;
			if (this.started || future == null || !future.isDone()) {
				return false;
			}
			try {
				future.get();
				// Some schedulers are done when they have handed the task to a thread
				return false;
			}
			catch (CancellationException | ExecutionException ex) {
				return true;
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				return false;
			}
		}

	}

	/**
	 * A period in which instances were at work.
	 */
	record Period(Instant from, Instant to) {

		static Period of(JobRun run) {
			Instant ended = run.endedAt();
			return new Period(run.startedAt(),
					(run.outcome() == null) ? Instant.MAX : (ended != null) ? ended : run.startedAt());
		}

		Instant longer(Duration gap) {
			return this.to.equals(Instant.MAX) ? this.to : this.to.plus(gap);
		}

		Period and(Period later) {
			return new Period(this.from, later.to.isAfter(this.to) ? later.to : this.to);
		}

		boolean contains(Instant planned) {
			return !planned.isBefore(this.from) && planned.isBefore(this.to);
		}

	}

	/**
	 * A planned time that is to be requested.
	 */
	private record Firing(Instant planned, Runnable firing) {
	}

}
