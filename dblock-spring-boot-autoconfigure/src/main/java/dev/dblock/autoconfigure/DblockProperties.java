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
 * What an application can set about its locks.
 */
@ConfigurationProperties("dblock")
public class DblockProperties {

	/**
	 * Whether locks are taken at all; without them every method runs unlocked.
	 */
	private boolean enabled = true;

	/**
	 * Where locks are kept: in MongoDB, in the memory of this application alone, or
	 * nowhere, so that every method runs unlocked.
	 */
	private LockMode mode = LockMode.MONGODB;

	/**
	 * How long a lock is kept for a holder that the server hears nothing from.
	 */
	private Duration lease = Duration.ofSeconds(30);

	/**
	 * How long to wait while somebody else holds a lock; zero asks once.
	 */
	private Duration wait = Duration.ofSeconds(0);

	/**
	 * How long after the grant a name stays taken even if the work was done sooner; not
	 * longer than the lease.
	 */
	private Duration minHold = Duration.ofSeconds(0);

	/**
	 * How long after the grant a lease is renewed at most; zero means without end.
	 */
	private Duration maxHold = Duration.ofSeconds(0);

	/**
	 * What is put before the name of every lock, so that applications can share a
	 * collection.
	 */
	private String namePrefix = "";

	/**
	 * How this instance is called in the locks that it takes; unless set, by host,
	 * process id and a random suffix.
	 */
	private @Nullable String acquirer;

	/**
	 * How much longer than its lease a lock stays taken when its holder is gone, beside a
	 * thousandth of the lease; the clocks of the servers may differ by 250ms less; 250ms
	 * or more.
	 */
	private Duration clockAllowance = Duration.ofMillis(500);

	// Lowest precedence less 100, written out because the metadata takes literals only
	/**
	 * Order of the lock among the advisors of a method; transactions and caches come
	 * inside it as long as theirs is higher.
	 */
	private int advisorOrder = 2147483547;

	/**
	 * What is set for single locks, by their names or by patterns such as order-*; comes
	 * before what annotations and code say.
	 */
	private final Map<String, Lock> locks = new LinkedHashMap<>();

	/**
	 * Scheduled methods.
	 */
	private final Jobs jobs = new Jobs();

	private final Poll poll = new Poll();

	private final Handoff handoff = new Handoff();

	private final Mongodb mongodb = new Mongodb();

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

	public Poll getPoll() {
		return this.poll;
	}

	public Handoff getHandoff() {
		return this.handoff;
	}

	public Mongodb getMongodb() {
		return this.mongodb;
	}

	/**
	 * Scheduled methods. What is set for single ones ({@code dblock.jobs.<id>.*}) is a
	 * {@link Job}.
	 */
	public static class Jobs {

		/**
		 * Whether each planned time of a method with @Scheduled and @DistributedLock runs
		 * at most once among all instances, rather than once at a time.
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
	 * What is set for a single job.
	 */
	public static class Job {

		/**
		 * What happens to the planned time of a run whose instance crashed.
		 */
		private @Nullable WhenCrashed whenCrashed;

		/**
		 * What happens to planned times at which no instance was there to run the job.
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
	 * What is set for the locks of one name or pattern; what is left out stays as the
	 * code has it.
	 */
	public static class Lock {

		/**
		 * How long such a lock is kept for a holder that the server hears nothing from.
		 */
		private @Nullable Duration lease;

		/**
		 * How long to wait while somebody else holds such a lock; zero asks once.
		 */
		private @Nullable Duration wait;

		/**
		 * How long after the grant the name stays taken even if the work was done sooner;
		 * not longer than the lease.
		 */
		private @Nullable Duration minHold;

		/**
		 * How long after the grant the lease is renewed at most; zero means without end.
		 */
		private @Nullable Duration maxHold;

		/**
		 * Whether the lease is renewed by itself while the lock is held.
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
		 * What the lock is called in metrics, in the place of its declared name.
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
	 * How a waiter asks again.
	 */
	public static class Poll {

		/**
		 * How long a waiter pauses after the first refusal.
		 */
		private Duration minInterval = Duration.ofMillis(50);

		/**
		 * How long a waiter pauses at most; pauses double up to it.
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
	 * How far a lock is handed on inside the process.
	 */
	public static class Handoff {

		/**
		 * How many times in a row a lock is handed on inside the process at most, before
		 * other processes get their turn; zero switches handing over off.
		 */
		private int maxCount = 10000;

		/**
		 * How long a lock is handed on inside the process at most, before other processes
		 * get their turn; zero switches handing over off.
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
	 * How the locks are kept in MongoDB.
	 */
	public static class Mongodb {

		/**
		 * Name of the MongoDatabaseFactory bean whose database has the locks; unless set,
		 * the primary or only one.
		 */
		private @Nullable String databaseFactory;

		/**
		 * Name of the collection that has the locks.
		 */
		private String collection = "dblock_locks";

		/**
		 * How long a lock that is used no more is kept before the server removes it; a
		 * day or more.
		 */
		private Duration retention = Duration.ofDays(7);

		/**
		 * How long one request to the server may take.
		 */
		private Duration timeout = Duration.ofSeconds(10);

		/**
		 * Which statements are sent: those of current servers, those that every server
		 * understands, or whichever the server is found to understand.
		 */
		private StatementDialect statements = StatementDialect.AUTO;

		/**
		 * Whether the indexes that let the server remove old locks and fences are
		 * created.
		 */
		private boolean createIndexes = true;

		/**
		 * Whether locks have a small client of their own, so that they do without the
		 * connections of the application's; for applications whose queries can use up
		 * their pool for longer than two thirds of a lease.
		 */
		private boolean dedicatedClient = false;

		/**
		 * Whether transactions under a lock are committed only while the lock has not
		 * passed to another; for those of a MongoDB transaction manager on the servers
		 * that have the locks.
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

}
