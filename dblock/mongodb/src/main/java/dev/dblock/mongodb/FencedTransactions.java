package dev.dblock.mongodb;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

import com.mongodb.MongoException;
import com.mongodb.TransactionOptions;
import com.mongodb.WriteConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import dev.dblock.mongodb.request.FailureTranslation;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.TransactionFence.Outcome;
import dev.dblock.store.TransactionFence.Written;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The shared state and operations of all fenced transactions of one repository.
 */
final class FencedTransactions {

	private static final Logger logger = LoggerFactory.getLogger(FencedTransactions.class);

	/**
	 * DuplicateKey, WriteConflict, TransactionTooOld, SnapshotUnavailable,
	 * NoSuchTransaction: with these codes, the server reports that the transaction has
	 * ended.
	 */
	private static final Set<Integer> ENDED = Set.of(11000, 112, 225, 246, 251);

	/**
	 * DuplicateKey, WriteConflict, SnapshotUnavailable: another transaction or holder has
	 * written the fence. For SnapshotUnavailable, this may have been the first write of
	 * all.
	 */
	private static final Set<Integer> CONFLICT = Set.of(11000, 112, 246);

	private static final long PAUSE_AFTER_FAILURE = Duration.ofMinutes(1).toNanos();

	private final Fences fences;

	private final LockDatabase locks;

	private final Requests requests;

	private final LongSupplier nanoTime;

	private final DefaultWriteConcern defaultConcern;

	private final AtomicBoolean warned = new AtomicBoolean();

	/** Not a monitor, which would pin virtual threads during a request. */
	private final Lock preparation = new ReentrantLock();

	private volatile boolean prepared;

	private volatile long nextPreparation;

	FencedTransactions(Fences fences, LockDatabase locks, Requests requests, LongSupplier nanoTime) {
		this.fences = fences;
		this.locks = locks;
		this.defaultConcern = new DefaultWriteConcern(locks);
		this.requests = requests;
		this.nanoTime = nanoTime;
		this.nextPreparation = nanoTime.getAsLong();
	}

	/**
	 * Ensure that the collection of the fences exists and has its TTL index. A
	 * transaction cannot write to a collection that was created after its begin.
	 */
	void prepare() {
		if (!isPrepared() && !OpenSession.isOpenHere()) {
			prepareNow();
		}
	}

	/**
	 * Prepare under a lock. A caller that arrives before the collection exists waits,
	 * since its transaction would be too old as well.
	 */
	private void prepareNow() {
		this.preparation.lock();
		try {
			if (!isPrepared()) {
				this.requests.createFences();
				this.prepared = true;
			}
		}
		catch (RuntimeException ex) {
			this.fences.indexes().failed();
			this.nextPreparation = this.nanoTime.getAsLong() + PAUSE_AFTER_FAILURE;
			logger.debug("The collection of the fences could not be created; the next fence may create it", ex);
		}
		finally {
			this.preparation.unlock();
		}
	}

	/**
	 * Return whether nothing has to be prepared at present. After a failure, the next
	 * attempt follows a pause.
	 */
	boolean isPrepared() {
		return this.prepared ? !this.fences.indexes().isDue() : this.nanoTime.getAsLong() - this.nextPreparation < 0;
	}

	/**
	 * Write the fence as a part of a transaction. The client of the session is used,
	 * because a factory may choose the database by thread even if it is requested by
	 * name.
	 * @param client the client of the session
	 */
	Written write(MongoClient client, ClientSession session, LeaseKey lease, long token, int slot) {
		return write(session.getTransactionOptions(), lease,
				() -> this.fences.write(client.getDatabase(database().name()), session, lease.id(), slot, token));
	}

	/**
	 * Return the database of the locks and their fences.
	 */
	LockDatabase database() {
		return this.locks;
	}

	Fences fences() {
		return this.fences;
	}

	/**
	 * Write the fence as a part of a transaction.
	 * @param options the options of the transaction
	 * @param lease the acquisition
	 * @param request writes the fence, and returns whether no higher token is stored
	 * @return the outcome
	 */
	Written write(TransactionOptions options, LeaseKey lease, BooleanSupplier request) {
		warnOfWeakness(options);
		try {
			return request.getAsBoolean() ? Written.DONE : new Written(Outcome.OVERTAKEN, null);
		}
		catch (MongoException ex) {
			if (CONFLICT.contains(ex.getCode()) && !isHeld(lease)) {
				return new Written(Outcome.OVERTAKEN, ex);
			}
			return new Written(ENDED.contains(ex.getCode()) ? Outcome.ENDED : Outcome.UNKNOWN, ex);
		}
	}

	void settle(LeaseKey lease, long token, List<Integer> slots) {
		this.requests.settleFence(lease, token, slots);
	}

	/**
	 * Return whether the caller still holds the lock, by a read outside of the
	 * transaction.
	 */
	private boolean isHeld(LeaseKey lease) {
		try {
			return this.requests.isHeld(lease);
		}
		catch (RuntimeException ex) {
			logger.debug("It is unknown who holds the lock '{}' after a conflict", lease.id(), ex);
			return true;
		}
	}

	private void warnOfWeakness(TransactionOptions options) {
		WriteConcern concern = options.getWriteConcern();
		Object members = (concern != null) ? concern.getWObject() : null;
		if (members == null) {
			this.defaultConcern.warnIfWeak();
		}
		else if (!"majority".equals(members) && this.warned.compareAndSet(false, true)) {
			logger.warn("A transaction under a lock is committed with the write concern {}: an election can roll it"
					+ " back after another holder has acquired the lock and read its data. Use \"majority\" in"
					+ " transactions under locks", concern);
		}
	}

	static boolean isEndedBy(Throwable failure) {
		MongoException cause = FailureTranslation.mongoCause(failure);
		return cause != null && cause.hasErrorLabel(MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL);
	}

	/**
	 * The requests of the repository that fenced transactions need.
	 */
	interface Requests {

		void createFences();

		void settleFence(LeaseKey lease, long token, List<Integer> slots);

		/**
		 * Return whether an acquisition is the holder according to the server.
		 */
		boolean isHeld(LeaseKey lease);

	}

}
