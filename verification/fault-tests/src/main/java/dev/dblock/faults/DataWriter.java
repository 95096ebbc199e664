package dev.dblock.faults;

import java.util.EnumSet;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import com.mongodb.MongoException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;

/**
 * Reads and writes the data of sections, and records the outcome.
 */
final class DataWriter {

	private static final Logger logger = LoggerFactory.getLogger(DataWriter.class);

	private final SectionData data;

	private final TransactionMoments moments;

	private final Stamps stamps;

	private final int worker;

	DataWriter(SectionData data, TransactionMoments moments, Stamps stamps, int worker) {
		this.data = data;
		this.moments = moments;
		this.stamps = stamps;
		this.worker = worker;
	}

	/**
	 * Read a number.
	 * @return the number; less than zero if nothing is to be written
	 */
	long read(Writing writing, String lock, long token) {
		try {
			return (writing != Writing.NONE) ? this.data.read(writing, lock, token) : -1;
		}
		catch (MongoException | DataAccessException ex) {
			logger.debug("Data could not be read", ex);
			return -1;
		}
	}

	/**
	 * Write a number.
	 * @param attempt the attempt that records the write
	 * @param slowly whether a transaction pauses before its fence and before its commit
	 * @param random determines the length of the pauses
	 */
	void write(OpenAttempt attempt, Writing writing, String lock, long token, long value, boolean slowly,
			Random random) {
		attempt.write(writing, value, Written.UNKNOWN);
		Set<Moment> seen = EnumSet.noneOf(Moment.class);
		Written written = Written.UNKNOWN;
		try {
			written = this.moments.during((moment) -> {
				if (seen.add(moment)) {
					if (moment == Moment.FENCE) {
						attempt.write(writing, value, Written.FENCED);
					}
					if (slowly) {
						pause(moment, random);
					}
				}
			}, () -> this.data.write(writing, lock, token, value));
		}
		catch (MongoException | DataAccessException | TransactionException ex) {
			logger.debug("Data could not be written", ex);
		}
		attempt.write(writing, value, written(writing, written, seen.contains(Moment.FENCE)));
	}

	private static Written written(Writing writing, Written written, boolean fenced) {
		if (writing == Writing.TRANSACTION && written == Written.REFUSED) {
			return fenced ? Written.REFUSED_BY_FENCE : Written.REFUSED_BY_DEADLINE;
		}
		return (fenced && written == Written.UNKNOWN) ? Written.FENCED : written;
	}

	private void pause(Moment moment, Random random) {
		this.stamps.beginWrite(this.worker, moment);
		try {
			long end = System.nanoTime() + slowNanos(random);
			for (long left = 1; left > 0 && !this.stamps.isStopped(); left = end - System.nanoTime()) {
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
			}
		}
		finally {
			this.stamps.endWrite(this.worker, moment);
		}
	}

	/**
	 * Return how long a worker remains at a moment, so that a fault can find it there.
	 */
	static long slowNanos(Random random) {
		return TimeUnit.MILLISECONDS.toNanos(300 + random.nextInt(300));
	}

}
