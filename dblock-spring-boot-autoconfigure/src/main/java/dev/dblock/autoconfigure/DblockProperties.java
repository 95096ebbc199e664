package dev.dblock.autoconfigure;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

import dev.dblock.WhenLost;
import dev.dblock.WhenUnavailable;
import dev.dblock.job.WhenCrashed;
import dev.dblock.job.WhenMissed;
import dev.dblock.mongodb.request.StatementDialect;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Configuration properties of dblock.
 */
@ConfigurationProperties("dblock")
public class DblockProperties {

	/**
	 * Whether to acquire locks; if false, every method runs unlocked.
	 */
	private boolean enabled = true;

	/**
	 * Where locks are stored: in MongoDB, in the memory of this application only, or
	 * nowhere, so that every method runs unlocked.
	 */
	private LockMode mode = LockMode.MONGODB;

	/**
	 * Duration of a lease: how long a lock stays held if its holder does not renew it.
	 */
	private Duration lease = Duration.ofSeconds(30);

	/**
	 * How long to wait while another holder has the lock; zero tries once.
	 */
	private Duration wait = Duration.ofSeconds(0);

	/**
	 * How long after the grant a lock stays unavailable even if the work ends sooner; not
	 * longer than the lease.
	 */
	private Duration minHold = Duration.ofSeconds(0);

	/**
	 * How long after the grant a lease is renewed at most; zero means no limit.
	 */
	private Duration maxHold = Duration.ofSeconds(0);

	/**
	 * Prefix of the name of every lock, so that applications can share a collection.
	 */
	private String namePrefix = "";

	/**
	 * Name of this instance in the locks that it acquires; defaults to host, process id
	 * and a random suffix.
	 */
	private @Nullable String acquirer;

	/**
	 * How long a lock stays held after the lease of a failed holder, in addition to a
	 * thousandth of the lease; the clocks of the servers may differ by 250ms less than
	 * this, or by half of it if it is below 500ms.
	 */
	private Duration clockAllowance = Duration.ofMillis(500);

	// Lowest precedence less 100, written out because the metadata takes literals only
	/**
	 * Order of the lock among the advisors of a method; transactions and caches run
	 * inside it as long as their order is higher.
	 */
	private int advisorOrder = 2147483547;

	/**
	 * Settings of single locks, by name or by a pattern such as order-*; they override
	 * annotations and code.
	 */
	private final Map<String, Lock> locks = new LinkedHashMap<>();

	/**
	 * Scheduled methods.
	 */
	private final Jobs jobs = new Jobs();

	/**
	 * How waiting callers learn of releases by other instances: by the change stream of
	 * the server if there is one (auto), or always by polling.
	 */
	private ReleaseFeedMode releaseFeed = ReleaseFeedMode.AUTO;

	private final Poll poll = new Poll();

	private final Handoff handoff = new Handoff();

	private final Mongodb mongodb = new Mongodb();

	private final Web web = new Web();

	public boolean isEnabled() {
		return this.enabled;
	}

	public void setEnabled(boolean enabled) {
		this.enabled = enabled;
	}

	public LockMode getMode() {
		return this.mode;
	}

	public void setMode(LockMode mode) {
		this.mode = mode;
	}

	public Duration getLease() {
		return this.lease;
	}

	public void setLease(Duration lease) {
		this.lease = lease;
	}

	public Duration getWait() {
		return this.wait;
	}

	public void setWait(Duration wait) {
		this.wait = wait;
	}

	public Duration getMinHold() {
		return this.minHold;
	}

	public void setMinHold(Duration minHold) {
		this.minHold = minHold;
	}

	public Duration getMaxHold() {
		return this.maxHold;
	}

	public void setMaxHold(Duration maxHold) {
		this.maxHold = maxHold;
	}

	public String getNamePrefix() {
		return this.namePrefix;
	}

	public void setNamePrefix(String namePrefix) {
		this.namePrefix = namePrefix;
	}

	public @Nullable String getAcquirer() {
		return this.acquirer;
	}

	public void setAcquirer(@Nullable String acquirer) {
		this.acquirer = acquirer;
	}

	public Duration getClockAllowance() {
		return this.clockAllowance;
	}

	public void setClockAllowance(Duration clockAllowance) {
		this.clockAllowance = clockAllowance;
	}

	public int getAdvisorOrder() {
		return this.advisorOrder;
	}

	public void setAdvisorOrder(int advisorOrder) {
		this.advisorOrder = advisorOrder;
	}

	public Map<String, Lock> getLocks() {
		return this.locks;
	}

	public Jobs getJobs() {
		return this.jobs;
	}

	public ReleaseFeedMode getReleaseFeed() {
		return this.releaseFeed;
	}

	public void setReleaseFeed(ReleaseFeedMode releaseFeed) {
		this.releaseFeed = releaseFeed;
	}

	public Poll getPoll() {
		return this.poll;
	}

	public Handoff getHandoff() {
		return this.handoff;
	}

	public Mongodb getMongodb() {
		return this.mongodb;
	}

	public Web getWeb() {
		return this.web;
	}

	/**
	 * Scheduled methods. The settings of a single job ({@code dblock.jobs.<id>.*}) are
	 * those of {@link Job}.
	 */
	public static class Jobs {

		/**
		 * Whether each planned time of a method with @Scheduled and @DistributedLock runs
		 * at most once across all instances; if false, runs are only kept from
		 * overlapping.
		 */
		private boolean oncePerPlannedTime = true;

		public boolean isOncePerPlannedTime() {
			return this.oncePerPlannedTime;
		}

		public void setOncePerPlannedTime(boolean oncePerPlannedTime) {
			this.oncePerPlannedTime = oncePerPlannedTime;
		}

	}

	/**
	 * Settings of a single job.
	 */
	public static class Job {

		/**
		 * What happens to the planned time of a run whose instance crashed.
		 */
		private @Nullable WhenCrashed whenCrashed;

		/**
		 * What happens to planned times at which no instance was running.
		 */
		private @Nullable WhenMissed whenMissed;

		/**
		 * How long after its planned time the job can start.
		 */
		private @Nullable Duration startWithin;

		public @Nullable WhenCrashed getWhenCrashed() {
			return this.whenCrashed;
		}

		public void setWhenCrashed(@Nullable WhenCrashed whenCrashed) {
			this.whenCrashed = whenCrashed;
		}

		public @Nullable WhenMissed getWhenMissed() {
			return this.whenMissed;
		}

		public void setWhenMissed(@Nullable WhenMissed whenMissed) {
			this.whenMissed = whenMissed;
		}

		public @Nullable Duration getStartWithin() {
			return this.startWithin;
		}

		public void setStartWithin(@Nullable Duration startWithin) {
			this.startWithin = startWithin;
		}

	}

	/**
	 * Settings of the locks of one name or pattern. Settings that are not specified
	 * default to those in the code.
	 */
	public static class Lock {

		/**
		 * Duration of the lease: how long the lock stays held if its holder does not
		 * renew it.
		 */
		private @Nullable Duration lease;

		/**
		 * How long to wait while another holder has the lock; zero tries once.
		 */
		private @Nullable Duration wait;

		/**
		 * How long after the grant the lock stays unavailable even if the work ends
		 * sooner; not longer than the lease.
		 */
		private @Nullable Duration minHold;

		/**
		 * How long after the grant the lease is renewed at most; zero means no limit.
		 */
		private @Nullable Duration maxHold;

		/**
		 * Whether the lease is renewed automatically while the lock is held.
		 */
		private @Nullable Boolean autoRenew;

		/**
		 * What a locked method does when the lock is not available within the wait.
		 */
		private @Nullable WhenUnavailable whenUnavailable;

		/**
		 * What happens to the thread that acquired the lock when the lease is lost.
		 */
		private @Nullable WhenLost whenLost;

		/**
		 * Name of the lock in metrics, instead of its declared name.
		 */
		private @Nullable String label;

		public @Nullable Duration getLease() {
			return this.lease;
		}

		public void setLease(@Nullable Duration lease) {
			this.lease = lease;
		}

		public @Nullable Duration getWait() {
			return this.wait;
		}

		public void setWait(@Nullable Duration wait) {
			this.wait = wait;
		}

		public @Nullable Duration getMinHold() {
			return this.minHold;
		}

		public void setMinHold(@Nullable Duration minHold) {
			this.minHold = minHold;
		}

		public @Nullable Duration getMaxHold() {
			return this.maxHold;
		}

		public void setMaxHold(@Nullable Duration maxHold) {
			this.maxHold = maxHold;
		}

		public @Nullable Boolean getAutoRenew() {
			return this.autoRenew;
		}

		public void setAutoRenew(@Nullable Boolean autoRenew) {
			this.autoRenew = autoRenew;
		}

		public @Nullable WhenUnavailable getWhenUnavailable() {
			return this.whenUnavailable;
		}

		public void setWhenUnavailable(@Nullable WhenUnavailable whenUnavailable) {
			this.whenUnavailable = whenUnavailable;
		}

		public @Nullable WhenLost getWhenLost() {
			return this.whenLost;
		}

		public void setWhenLost(@Nullable WhenLost whenLost) {
			this.whenLost = whenLost;
		}

		public @Nullable String getLabel() {
			return this.label;
		}

		public void setLabel(@Nullable String label) {
			this.label = label;
		}

	}

	/**
	 * Polling by waiting threads.
	 */
	public static class Poll {

		/**
		 * How long a waiter pauses after the first refusal.
		 */
		private Duration minInterval = Duration.ofMillis(50);

		/**
		 * How long a waiter pauses at most; the pauses double up to this.
		 */
		private Duration maxInterval = Duration.ofSeconds(1);

		public Duration getMinInterval() {
			return this.minInterval;
		}

		public void setMinInterval(Duration minInterval) {
			this.minInterval = minInterval;
		}

		public Duration getMaxInterval() {
			return this.maxInterval;
		}

		public void setMaxInterval(Duration maxInterval) {
			this.maxInterval = maxInterval;
		}

	}

	/**
	 * Hand-over of locks inside the process.
	 */
	public static class Handoff {

		/**
		 * How many times in a row a lock is handed over inside the process at most,
		 * before other processes get their turn; zero disables hand-over.
		 */
		private int maxCount = 10000;

		/**
		 * How long a lock is handed over inside the process at most, before other
		 * processes get their turn; zero disables hand-over.
		 */
		private Duration maxTime = Duration.ofMillis(100);

		public int getMaxCount() {
			return this.maxCount;
		}

		public void setMaxCount(int maxCount) {
			this.maxCount = maxCount;
		}

		public Duration getMaxTime() {
			return this.maxTime;
		}

		public void setMaxTime(Duration maxTime) {
			this.maxTime = maxTime;
		}

	}

	/**
	 * Storage of the locks in MongoDB.
	 */
	public static class Mongodb {

		/**
		 * Name of the MongoDatabaseFactory bean whose database stores the locks; defaults
		 * to the primary or only one.
		 */
		private @Nullable String databaseFactory;

		/**
		 * Name of the collection that stores the locks.
		 */
		private String collection = "dblock_locks";

		/**
		 * How long the document of an unused lock is kept before the server removes it;
		 * at least one day.
		 */
		private Duration retention = Duration.ofDays(7);

		/**
		 * How long one request to the server may take.
		 */
		private Duration timeout = Duration.ofSeconds(10);

		/**
		 * Which statements are sent: those of current servers, those that every server
		 * supports, or those that the server is found to support.
		 */
		private StatementDialect statements = StatementDialect.AUTO;

		/**
		 * Whether to create the indexes that let the server remove old locks and fences.
		 */
		private boolean createIndexes = true;

		/**
		 * Whether the locks use a small client of their own instead of the connections of
		 * the application; for applications whose queries can exhaust their connection
		 * pool for longer than two thirds of a lease.
		 */
		private boolean dedicatedClient = false;

		/**
		 * Whether transactions under a lock commit only if the lock has not passed to
		 * another holder; applies to transactions of a MongoDB transaction manager on the
		 * servers that store the locks.
		 */
		private boolean fenceTransactions = true;

		public @Nullable String getDatabaseFactory() {
			return this.databaseFactory;
		}

		public void setDatabaseFactory(@Nullable String databaseFactory) {
			this.databaseFactory = databaseFactory;
		}

		public String getCollection() {
			return this.collection;
		}

		public void setCollection(String collection) {
			this.collection = collection;
		}

		public Duration getRetention() {
			return this.retention;
		}

		public void setRetention(Duration retention) {
			this.retention = retention;
		}

		public Duration getTimeout() {
			return this.timeout;
		}

		public void setTimeout(Duration timeout) {
			this.timeout = timeout;
		}

		public StatementDialect getStatements() {
			return this.statements;
		}

		public void setStatements(StatementDialect statements) {
			this.statements = statements;
		}

		public boolean isCreateIndexes() {
			return this.createIndexes;
		}

		public void setCreateIndexes(boolean createIndexes) {
			this.createIndexes = createIndexes;
		}

		public boolean isDedicatedClient() {
			return this.dedicatedClient;
		}

		public void setDedicatedClient(boolean dedicatedClient) {
			this.dedicatedClient = dedicatedClient;
		}

		public boolean isFenceTransactions() {
			return this.fenceTransactions;
		}

		public void setFenceTransactions(boolean fenceTransactions) {
			this.fenceTransactions = fenceTransactions;
		}

	}

	/**
	 * Responses of web applications.
	 */
	public static class Web {

		/**
		 * Whether a request whose lock is not available is answered with 409 and problem
		 * details, unless the application handles LockUnavailableException itself.
		 */
		private boolean problemDetails = true;

		public boolean isProblemDetails() {
			return this.problemDetails;
		}

		public void setProblemDetails(boolean problemDetails) {
			this.problemDetails = problemDetails;
		}

	}

}
