package dev.dblock.job.schedule;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import dev.dblock.claim.Claim;
import dev.dblock.claim.ClaimRecord;
import dev.dblock.claim.ClaimRecords;
import dev.dblock.engine.LockEngine;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobInfo.JobStatus;
import dev.dblock.job.JobNews;
import dev.dblock.job.JobPolicy.WhenClockChanges;
import dev.dblock.job.JobRun;
import dev.dblock.job.ShardNames;
import dev.dblock.job.StoredJob;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.util.function.SingletonSupplier;

/**
 * A locked method of a bean that a scheduler can call. It is a job once its planned times
 * are captured.
 */
public final class JobMethod {

	private static final Logger logger = LoggerFactory.getLogger(JobMethod.class);

	private final String bean;

	private final String method;

	private final SingletonSupplier<Declaration> declaration;

	/** The latest planned time that was fired, by any of the job's schedules. */
	private final LatestPlanned latest;

	/** The latest planned time whose shards were requested. */
	private final LatestPlanned latestOfShards;

	private final DoubtfulTimes doubtful = new DoubtfulTimes();

	/** The bean, if there is only one. */
	private volatile WeakReference<@Nullable Object> target = new WeakReference<>(null);

	private @Nullable Runnable carrying;

	private boolean captured;

	private volatile @Nullable String lock;

	/** How often the method itself was called, inside of all advice. */
	private final AtomicLong calls;

	private @Nullable String lastInstance;

	/** The method with all its shards, if this is one of them. */
	private final @Nullable JobMethod whole;

	/** The number of this shard; 0 if it is none. */
	private final int number;

	JobMethod(String bean, Class<?> type, String name, Supplier<Declaration> declaration) {
		this.bean = bean;
		this.method = type.getName() + "#" + name;
		this.declaration = SingletonSupplier.of(declaration);
		this.latest = new LatestPlanned();
		this.latestOfShards = new LatestPlanned();
		this.calls = new AtomicLong();
		this.whole = null;
		this.number = 0;
	}

	/**
	 * Create a shard of a method.
	 * @param number its number, from 1
	 */
	JobMethod(JobMethod whole, int number) {
		this.bean = whole.bean;
		this.method = whole.method;
		this.declaration = SingletonSupplier.of(() -> whole.declaration().shard(number));
		this.latest = whole.latestOfShards;
		this.latestOfShards = whole.latestOfShards;
		this.calls = whole.calls;
		this.whole = whole;
		this.number = number;
	}

	/**
	 * Whether the planned times of the method have shards.
	 */
	boolean isSharded() {
		try {
			return declaration().shards() > 0;
		}
		catch (IllegalArgumentException ex) {
			// The startup fails because of the declaration
			return false;
		}
	}

	/**
	 * Whether this is a shard of a method.
	 */
	boolean isShard() {
		return this.whole != null;
	}

	/**
	 * Return the number of the shard; 0 for a method as a whole.
	 */
	int number() {
		return this.number;
	}

	/**
	 * Whether this is a method, or one of its shards.
	 */
	boolean isOf(JobMethod method) {
		return this == method || this.whole == method;
	}

	/**
	 * Return the location of the method, for messages.
	 */
	String place() {
		return "bean '%s', %s()".formatted(this.bean, this.method);
	}

	/**
	 * Return the declaration of the job, once the application has started.
	 * @return the same declaration at each call
	 * @throws IllegalArgumentException if the declaration is invalid
	 */
	public Declaration declaration() {
		return this.declaration.obtain();
	}

	/**
	 * Return the latest planned time that was fired. For a shard, one that has begun: a
	 * planned time that does not begin, such as that of a paused job, overtakes no shard.
	 */
	LatestPlanned latest() {
		return this.latest;
	}

	LatestPlanned latestOfShards() {
		return this.latestOfShards;
	}

	DoubtfulTimes doubtful() {
		return this.doubtful;
	}

	/**
	 * Set the only bean with this method.
	 * @param target the bean, without the proxies in front of it
	 */
	public void target(Object target) {
		this.target = new WeakReference<>(target);
	}

	boolean isOf(Object target) {
		return this.target.get() == target;
	}

	/**
	 * Return the id under which the record is stored; {@code null} if the declaration is
	 * invalid, or if only a call determines the id.
	 */
	@Nullable String storedId() {
		try {
			return declaration().storedId();
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

	/**
	 * Record the instance of the last run. If the job moves to this instance from another
	 * one, this is logged at DEBUG level, since most jobs move with every other planned
	 * time.
	 * @param run the run
	 * @param own whether it is a run of this instance
	 */
	void lastRunBy(JobRun run, boolean own) {
		String before;
		synchronized (this) {
			before = this.lastInstance;
			this.lastInstance = run.instance();
		}
		if (own && before != null && !before.equals(run.instance())) {
			logger.debug("The job '{}' moved to this instance ({}); its last known run was by {}", run.jobId(),
					run.instance(), before);
		}
	}

	/**
	 * Record that the method itself is called, inside of all advice.
	 */
	public void called() {
		this.calls.incrementAndGet();
	}

	/**
	 * Return how often the method itself was called, in any thread. Counting the calls of
	 * all threads works with advice that calls the method in another one.
	 */
	long calls() {
		return this.calls.get();
	}

	/**
	 * Notify the listeners of news about the job.
	 */
	void report(JobNews news) {
		String lock = lock();
		if (lock != null) {
			declaration().engine().report(lock, news);
		}
	}

	String bean() {
		return this.bean;
	}

	String method() {
		return this.method;
	}

	/**
	 * Record the lock of a call, if only a call determines it.
	 * @param fullName the full name of the lock
	 */
	public void lockedBy(String fullName) {
		this.lock = fullName;
	}

	/**
	 * Return the full name of the lock; {@code null} if only a call determines it and
	 * there was none yet.
	 */
	@Nullable String lock() {
		return (this.lock != null) ? this.lock : declaration().lock();
	}

	/**
	 * Return the id of the job, or the declared name of its lock as long as it has none.
	 */
	String id() {
		String id = declaration().id();
		String lock = lock();
		return (id != null) ? id : (lock != null) ? lock : declaration().template();
	}

	boolean isKnownAs(String id) {
		return id.equals(id()) || (declaration().id() == null && id.equals(declaration().template()));
	}

	/**
	 * Whether the planned times of the method are captured.
	 * @return whether they are
	 */
	public synchronized boolean isCaptured() {
		return this.captured;
	}

	/**
	 * Prepare the bean to pass the scheduler's calls on to their locks, as soon as the
	 * method is a job.
	 * @param carrying prepares the bean
	 */
	public synchronized void carryOnceCaptured(Runnable carrying) {
		if (this.captured) {
			carrying.run();
		}
		else {
			this.carrying = carrying;
		}
	}

	synchronized void capture() {
		this.captured = true;
		if (this.carrying != null) {
			this.carrying.run();
			this.carrying = null;
		}
	}

	/**
	 * The declaration of a job, by annotations and by properties for its name.
	 *
	 * @param id the declared id; {@code null} for the full name of the lock
	 * @param lock the full name of the lock; {@code null} if only a call determines it
	 * @param template the name of the lock as it is declared
	 * @param engine the engine of the lock
	 * @param rerun whether a crashed run is repeated
	 * @param runMissed whether the latest planned time at which no instance was available
	 * is run
	 * @param startWithin how long after its planned time the job can start
	 * @param waitUpTo how long a call waits for the lock at most; {@code null} if only
	 * the defaults of all locks apply
	 * @param minHold the minimum hold of the lock; {@code null} if only the defaults of
	 * all locks apply
	 * @param obstacle why the method cannot run once per planned time, and how to fix
	 * that; {@code null} if it can
	 * @param whenClockChanges what a cron expression with fixed hours plans when the
	 * clocks of its time zone change; {@code null} if that is left to Spring without
	 * being set
	 * @param method the method, by which a planned time is known that was settled under
	 * another id; {@code null} if other ids do not matter
	 * @param shards how many shards each planned time has; 0 for none
	 * @param concurrency how many of them an instance works on at the same time
	 */
	public record Declaration(@Nullable String id, @Nullable String lock, String template, LockEngine engine,
			boolean rerun, boolean runMissed, Duration startWithin, @Nullable Duration waitUpTo,
			@Nullable Duration minHold, @Nullable String obstacle, @Nullable WhenClockChanges whenClockChanges,
			@Nullable String method, int shards, int concurrency) {

		/**
		 * Return the declaration of a shard.
		 */
		Declaration shard(int number) {
			String id = storedId();
			return new Declaration((id != null) ? ShardNames.of(id, number) : null,
					(this.lock != null) ? ShardNames.of(this.lock, number) : null, ShardNames.of(this.template, number),
					this.engine, this.rerun, false, this.startWithin, this.waitUpTo, this.minHold, this.obstacle,
					this.whenClockChanges, null, 0, 1);
		}

		/**
		 * Return the id or the full name of the lock; {@code null} if only a call
		 * determines that name.
		 */
		@Nullable String storedId() {
			return (this.id != null) ? this.id : this.lock;
		}

		/**
		 * Read the run record of the job.
		 * @param limit how long the server may take to answer
		 * @return the record; empty if there is none, or if only a call determines the
		 * lock
		 * @throws org.springframework.dao.DataAccessException if the request to the
		 * server fails
		 */
		Optional<JobStatus> status(Duration limit) {
			return (this.lock != null) ? status(this.lock, limit) : Optional.empty();
		}

		Optional<JobStatus> status(String lock, @Nullable Duration limit) {
			return records().flatMap((records) -> records.find(lock, key(lock), limit)).map(JobStatus.class::cast);
		}

		/**
		 * Read the runs of the shards of the job.
		 * @param count how many shards
		 * @param limit how long the server may take to answer; {@code null} for the
		 * default
		 * @return the runs of each shard by its number, the latest first
		 * @throws org.springframework.dao.DataAccessException if the request to the
		 * server fails
		 */
		List<List<JobRun>> runsOfShards(int count, @Nullable Duration limit) {
			Map<String, Claim.Key> keys = new LinkedHashMap<>();
			for (int number = 1; number <= count; number++) {
				String name = Objects.requireNonNull(shard(number).lock());
				keys.put(name, shard(number).key(name));
			}
			Map<String, ClaimRecord.Status> found = records().map((records) -> records.findAll(keys, limit))
				.orElse(Map.of());
			return keys.keySet()
				.stream()
				.map((name) -> (found.get(name) instanceof JobStatus status) ? status.runs() : List.<JobRun>of())
				.toList();
		}

		/**
		 * Read the run record of the job as it lasts.
		 * @param lock the full name of its lock
		 * @param limit how long the server may take to answer
		 * @return the record; empty if there is none
		 * @throws org.springframework.dao.DataAccessException if the request to the
		 * server fails
		 */
		Optional<JobStatus> lastingStatus(String lock, Duration limit) {
			return records().flatMap((records) -> records.findLasting(lock, key(lock), limit))
				.map(JobStatus.class::cast);
		}

		/**
		 * Record a planned time as missed, whose firing was refused as too late.
		 * @param lock the full name of its lock
		 * @param firing the firing
		 * @param limit how long the server may take to answer
		 * @return the record, if this request has changed it
		 * @throws org.springframework.dao.DataAccessException if the request to the
		 * server fails
		 */
		Optional<JobStatus> recordMissed(String lock, JobFiring firing, Duration limit) {
			ClaimRecord.Request request = new ClaimRecord.Request(firing, firing.key(lock),
					UUID.randomUUID().toString(), this.engine.acquirer());
			return records().flatMap((records) -> records.expire(lock, request, limit)).map(JobStatus.class::cast);
		}

		private Optional<ClaimRecords> records() {
			return this.engine.administration().claims();
		}

		private Claim.Key key(String lock) {
			return StoredJob.key((this.id != null) ? this.id : lock);
		}

		void pause(String lock, String by) {
			records()
				.orElseThrow(() -> new IllegalStateException(
						"This engine cannot pause jobs, because it does not record their runs"))
				.pause(lock, key(lock), by);
		}

		boolean resume(String lock) {
			return records().filter((records) -> records.resume(lock, key(lock))).isPresent();
		}

	}

}
