package dev.dblock.autoconfigure;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Map;

import dev.dblock.WhenLost;
import dev.dblock.WhenUnavailable;
import dev.dblock.job.JobPolicy.WhenClockChanges;
import dev.dblock.job.JobPolicy.WhenCrashed;
import dev.dblock.job.JobPolicy.WhenMissed;
import dev.dblock.job.schedule.ScheduledJobs.WhenUnlocked;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.bind.Name;
import org.springframework.boot.convert.DurationUnit;

/**
 * Properties {@code dblock.*}. A duration without a unit is in seconds.
 *
 * @param strict Whether an unknown property under 'dblock' stops the start; if false, it
 * is only logged.
 * @param mode Where locks are stored: in MongoDB, in the memory of this application only,
 * or nowhere, so that every method runs unlocked.
 * @param checkAtStartup Whether to check at start-up that locks can be acquired: in the
 * background, with a warning in the log (true), not at all (false), or before the
 * application starts, which a failure prevents (fail).
 * @param lease Duration of a lease: how long a lock stays held if its holder does not
 * renew it.
 * @param waitUpTo How long to wait while another holder has the lock; zero tries once.
 * @param maxHold How long after the grant a lease is renewed at most; zero means no
 * limit.
 * @param namePrefix Prefix of the name of every lock, so that applications can share a
 * collection.
 * @param acquirer Name of this instance in the locks that it acquires; defaults to host,
 * process id and a random suffix.
 * @param clockAllowance How long a lock stays held after the lease of a failed holder, in
 * addition to a thousandth of the lease; the clocks of the servers may differ by 250ms
 * less than this, or by half of it if it is below 500ms.
 * @param advisorOrder Order of the lock among the advisors of a method; transactions and
 * caches run inside it as long as their order is higher.
 * @param locks Settings of single locks, by name or by the beginning of a name, such as
 * order-*; they override annotations and code.
 * @param oncePerPlannedTime Whether each planned time of a scheduled method with a lock
 * runs at most once across all instances; if false, runs are only kept from overlapping.
 * @param jobs Scheduled methods; the settings of single jobs, by id, are bound where they
 * are used.
 * @param releaseFeed How waiting callers learn of releases by other instances: by the
 * change stream of the server if there is one (auto), or always by polling.
 * @param shedlock Locks of ShedLock, with the module dblock-shedlock.
 * @param pollInterval How long a waiter without notifications pauses at most before it
 * asks again; the first pause is at most 50ms.
 * @param handoff Hand-over of locks inside the process.
 * @param mongodb Storage of the locks in MongoDB.
 * @param web Responses of web applications.
 */
@ConfigurationProperties("dblock")
public record DblockProperties(@DefaultValue("true") boolean strict, @DefaultValue("mongodb") Mode mode,
		@DefaultValue("true") CheckAtStartup checkAtStartup,
		@DefaultValue("30s") @DurationUnit(ChronoUnit.SECONDS) Duration lease,
		@Name("wait") @DefaultValue("0s") @DurationUnit(ChronoUnit.SECONDS) Duration waitUpTo,
		@DefaultValue("0s") @DurationUnit(ChronoUnit.SECONDS) Duration maxHold, @DefaultValue("") String namePrefix,
		@Nullable String acquirer, @DefaultValue("500ms") @DurationUnit(ChronoUnit.SECONDS) Duration clockAllowance,
		@DefaultValue("2147483547") int advisorOrder, @DefaultValue Map<String, Lock> locks,
		@DefaultValue("true") boolean oncePerPlannedTime, @DefaultValue Jobs jobs,
		@DefaultValue("auto") ReleaseFeed releaseFeed, @DefaultValue Shedlock shedlock,
		@DefaultValue("1s") @DurationUnit(ChronoUnit.SECONDS) Duration pollInterval, @DefaultValue Handoff handoff,
		@DefaultValue Mongodb mongodb, @DefaultValue Web web) {

	/**
	 * Store in which an application keeps its locks.
	 */
	public enum Mode {

		/**
		 * MongoDB, or the store of the application's {@code LockRepository} bean.
		 */
		MONGODB,

		/**
		 * The memory of this application. Locks exclude the application's own threads,
		 * but no other instance. For development and tests.
		 */
		LOCAL,

		/**
		 * No store. Every method runs unlocked.
		 */
		NONE

	}

	/**
	 * Checks at start-up that locks can be acquired.
	 */
	public enum CheckAtStartup {

		/**
		 * In the background. A failure is logged.
		 */
		TRUE,

		/**
		 * Not at all.
		 */
		FALSE,

		/**
		 * Before the application starts. A failure stops the start.
		 */
		FAIL

	}

	/**
	 * Settings of the module dblock-shedlock.
	 *
	 * @param keepAlive Whether to renew the locks of ShedLock as long as the work lasts;
	 * if false, lockAtMostFor is the end of a lock.
	 * @param beside Whether to acquire each lock from the application's own LockProvider
	 * as well, so that instances without dblock are excluded during a rolling update.
	 */
	public record Shedlock(@DefaultValue("false") boolean keepAlive, @DefaultValue("false") boolean beside) {
	}

	/**
	 * Scheduled methods.
	 *
	 * @param unlocked How to report scheduled methods without a lock, which every
	 * instance runs: not at all (ignore), in the log if the application has a job (log),
	 * or by a failure of the start (fail).
	 */
	public record Jobs(@DefaultValue("log") WhenUnlocked unlocked) {
	}

	/**
	 * Settings of a single job.
	 *
	 * @param whenCrashed What happens to the planned time of a run whose instance
	 * crashed.
	 * @param whenMissed What happens to planned times at which no instance was running.
	 * @param startWithin How long after its planned time the job can start.
	 * @param whenClockChanges What a cron with fixed hours plans when the clocks of its
	 * time zone change.
	 */
	public record Job(@Nullable WhenCrashed whenCrashed, @Nullable WhenMissed whenMissed,
			@DurationUnit(ChronoUnit.SECONDS) @Nullable Duration startWithin,
			@Nullable WhenClockChanges whenClockChanges) {
	}

	/**
	 * Settings of the locks of one name, or of all names with one beginning. Settings
	 * that are not specified default to those in the code.
	 *
	 * @param lease Duration of the lease: how long the lock stays held if its holder does
	 * not renew it.
	 * @param waitUpTo How long to wait while another holder has the lock; zero tries
	 * once.
	 * @param minHold How long after the grant the lock stays unavailable even if the work
	 * ends sooner; not longer than the lease.
	 * @param maxHold How long after the grant the lease is renewed at most; zero means no
	 * limit.
	 * @param permits How many holders the lock has at most at the same time, in all
	 * instances together; from 1 to 1000.
	 * @param autoRenew Whether the lease is renewed automatically while the lock is held.
	 * @param whenUnavailable What a locked method does when the lock is not available
	 * within the wait.
	 * @param whenLost What happens to the thread that acquired the lock when the lease is
	 * lost.
	 * @param label Name of the lock in metrics, instead of its declared name.
	 */
	public record Lock(@DurationUnit(ChronoUnit.SECONDS) @Nullable Duration lease,
			@Name("wait") @DurationUnit(ChronoUnit.SECONDS) @Nullable Duration waitUpTo,
			@DurationUnit(ChronoUnit.SECONDS) @Nullable Duration minHold,
			@DurationUnit(ChronoUnit.SECONDS) @Nullable Duration maxHold, @Nullable Integer permits,
			@Nullable Boolean autoRenew, @Nullable WhenUnavailable whenUnavailable, @Nullable WhenLost whenLost,
			@Nullable String label) {
	}

	/**
	 * How waiting callers learn of releases by other instances.
	 */
	public enum ReleaseFeed {

		/**
		 * By the change stream of the server, or by polling where there is none and while
		 * no lock that callers wait for is released for ten seconds. Each instance whose
		 * callers wait reads every release of the collection.
		 */
		AUTO,

		/**
		 * By polling. No instance opens a change stream.
		 */
		POLL

	}

	/**
	 * Hand-over of locks inside the process.
	 *
	 * @param maxTime How long a lock is handed over inside the process at most, before
	 * other processes get their turn; zero disables hand-over.
	 */
	public record Handoff(@DefaultValue("100ms") @DurationUnit(ChronoUnit.SECONDS) Duration maxTime) {
	}

	/**
	 * Storage of the locks in MongoDB.
	 *
	 * @param databaseFactory Name of the MongoDatabaseFactory bean whose database stores
	 * the locks; defaults to the primary or only one.
	 * @param collection Name of the collection that stores the locks.
	 * @param retention How long the document of an unused lock is kept before the server
	 * removes it; at least one day.
	 * @param timeout How long one request to the server may take.
	 * @param statements Which statements are sent: those of current servers, those that
	 * every server supports, or those that the server is found to support.
	 * @param createIndexes Whether to create the indexes that let the server remove old
	 * locks and fences.
	 * @param fenceTransactions Whether transactions under a lock commit only if the lock
	 * has not passed to another holder; applies to transactions of a MongoDB transaction
	 * manager on the servers that store the locks.
	 */
	public record Mongodb(@Nullable String databaseFactory, @DefaultValue("dblock_locks") String collection,
			@DefaultValue("7d") @DurationUnit(ChronoUnit.SECONDS) Duration retention,
			@DefaultValue("10s") @DurationUnit(ChronoUnit.SECONDS) Duration timeout,
			@DefaultValue("auto") StatementDialect statements, @DefaultValue("true") boolean createIndexes,
			@DefaultValue("true") boolean fenceTransactions) {
	}

	/**
	 * Responses of web applications.
	 *
	 * @param problemDetails Whether a request whose lock is not available is answered
	 * with 409 and problem details, and with 503 if the store of the locks did not serve
	 * it, unless the application handles these exceptions itself.
	 */
	public record Web(@DefaultValue("true") boolean problemDetails) {
	}

}
