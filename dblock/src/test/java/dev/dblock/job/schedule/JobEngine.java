package dev.dblock.job.schedule;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.LossReason;
import dev.dblock.claim.Claim;
import dev.dblock.claim.ClaimRecord;
import dev.dblock.claim.ClaimRecords;
import dev.dblock.claim.Claimed;
import dev.dblock.engine.LockEngine;
import dev.dblock.job.GrantedRun;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobInfo.JobStatus;
import dev.dblock.job.JobNews;
import dev.dblock.job.JobRefusal;
import dev.dblock.job.JobRefusal.Reason;
import dev.dblock.job.JobRun;
import dev.dblock.store.LockAdministration;
import dev.dblock.store.LockRepository;
import org.jspecify.annotations.Nullable;

import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * An engine in memory that records the firings that it is asked for, and gives the
 * answers of a test.
 */
class JobEngine implements LockEngine {

	private final Map<String, List<Asked>> asked = new ConcurrentHashMap<>();

	private final Map<String, BiFunction<String, JobFiring, LockEngine.Attempt>> answers = new ConcurrentHashMap<>();

	private final JobRecords jobs;

	JobEngine() {
		this(new JobRecords() {
		});
	}

	JobEngine(JobRecords jobs) {
		this.jobs = jobs;
	}

	/**
	 * The requests for a name, in order.
	 */
	List<Asked> asked(String name) {
		return List.copyOf(this.asked.getOrDefault(name, List.of()));
	}

	/**
	 * The firings that were asked for under a name, in order.
	 */
	List<JobFiring> firings(String name) {
		return asked(name).stream().map(Asked::firing).filter(Objects::nonNull).toList();
	}

	List<Instant> planned(String name) {
		return firings(name).stream().map((firing) -> ((Schedule.Planned) firing.schedule()).at()).toList();
	}

	void answer(String name, BiFunction<String, JobFiring, LockEngine.Attempt> answer) {
		this.answers.put(name, answer);
	}

	@Override
	public Object id() {
		return this;
	}

	@Override
	public String fullName(String name) {
		return name;
	}

	@Override
	public void check(String name, LockOptions options) {
	}

	@Override
	public LockEngine.Attempt acquire(String name, LockOptions options) {
		this.asked.computeIfAbsent(name, (key) -> new CopyOnWriteArrayList<>())
			.add(new Asked((JobFiring) options.claim(), Thread.currentThread().getName()));
		return this.answers.getOrDefault(name, JobEngine::granted).apply(name, (JobFiring) options.claim());
	}

	static LockEngine.Attempt granted(String name, @Nullable JobFiring firing) {
		Instant planned = (firing != null && firing.schedule() instanceof Schedule.Planned at) ? at.at()
				: Instant.now();
		return new LockEngine.Granted(new Handle(name, (firing != null) ? run(name, planned, Instant.now()) : null));
	}

	static LockEngine.Attempt granted(String name, Instant planned, Instant started) {
		return new LockEngine.Granted(new Handle(name, run(name, planned, started)));
	}

	static LockRefusal refused(String name, Reason reason, @Nullable Instant nextDue, @Nullable JobRun last,
			Instant at) {
		return new LockRefusal(name, null, Duration.ZERO, null, new JobRefusal(reason, nextDue, last, null, at));
	}

	static JobRun run(String name, Instant planned, Instant started) {
		return new JobRun(name, planned, 1, started, null, null, "another", 1, null);
	}

	@Override
	public Optional<LockHandle> keptByTransaction(String fullName) {
		return Optional.empty();
	}

	@Override
	public void report(String fullName, Claim.News news) {
		JobNews.Missed missed = (JobNews.Missed) news;
		this.jobs.missed(fullName, missed.jobId(), missed.plannedAt());
	}

	@Override
	public LockAdministration administration() {
		LockRepository store = mock();
		given(store.claims()).willReturn(Optional.of(this.jobs));
		return LockAdministration.of(store, "", UnaryOperator.identity());
	}

	/**
	 * The run records of a test.
	 */
	interface JobRecords extends ClaimRecords {

		default Optional<JobStatus> find(String fullName, String jobId, @Nullable Duration limit) {
			return Optional.empty();
		}

		@Override
		default Optional<ClaimRecord.Status> find(String lock, Claim.Key key, @Nullable Duration limit) {
			return find(lock, key.id(), limit).map(ClaimRecord.Status.class::cast);
		}

		/**
		 * Record a planned time as missed.
		 */
		default Optional<JobStatus> expire(Instant planned) {
			return Optional.empty();
		}

		@Override
		default Optional<ClaimRecord.Status> expire(String lock, ClaimRecord.Request request,
				@Nullable Duration limit) {
			JobFiring firing = (JobFiring) request.claim();
			return expire(((Schedule.Planned) firing.schedule()).at()).map(ClaimRecord.Status.class::cast);
		}

		@Override
		default void pause(String lock, Claim.Key key, String by) {
		}

		@Override
		default boolean resume(String lock, Claim.Key key) {
			return false;
		}

		default void missed(String fullName, String jobId, Instant plannedAt) {
		}

	}

	/**
	 * A request.
	 *
	 * @param firing the firing that it was made for
	 * @param thread the name of its thread
	 */
	record Asked(@Nullable JobFiring firing, String thread) {
	}

	private record Handle(String name, @Nullable JobRun granted) implements LockHandle, Claimed.Holder {

		@Override
		public long token() {
			return 1;
		}

		@Override
		public boolean isHeld() {
			return true;
		}

		@Override
		public Duration remaining() {
			return Duration.ofSeconds(30);
		}

		@Override
		public void ensureHeld() {
		}

		@Override
		public void renew() {
		}

		@Override
		public void extend(Duration atLeast, Duration minHold) {
		}

		@Override
		public void startRenewal() {
		}

		@Override
		public void stopRenewal() {
		}

		@Override
		public void onLost(Consumer<LossReason> callback) {
		}

		@Override
		public void keepUntilShutdown() {
		}

		@Override
		public boolean release() {
			return true;
		}

		@Override
		public void close() {
		}

		@Override
		public @Nullable Claimed claimed() {
			return (this.granted != null) ? new GrantedRun(this.granted, null) : null;
		}

	}

}
