package dev.dblock.mongodb.request;

import java.time.Duration;

import com.mongodb.client.MongoDatabase;
import dev.dblock.job.StoredJob;
import dev.dblock.job.mongodb.JobStatements;

/**
 * Requests of their own, for tests of the repository.
 */
public final class Requests {

	private static final HelloCommand HELLO = new HelloCommand();

	private Requests() {
	}

	/**
	 * A request to a collection of locks.
	 */
	public static StoreRequest on(MongoDatabase database, String collection, Duration timeout) {
		return new StoreRequest(database, new LockCollection(collection), timeout);
	}

	/**
	 * The server's clock, in milliseconds.
	 */
	public static long serverTime(StoreRequest request) {
		return HELLO.say(request).getDateTime("localTime").getValue();
	}

	/**
	 * Remove what no grant can use from the run record of a job.
	 * @return whether there was anything
	 */
	public static boolean repairRecord(StoreRequest request, String name, String jobId) {
		return CommonStatements.repairRecord(request, name,
				(stored) -> new JobStatements().unusable(StoredJob.key(jobId), stored));
	}

	/**
	 * The possible error of the classic dialect's estimate of the server's clock.
	 * @param age the milliseconds since the sample, with the time that it took
	 */
	public static long inaccuracy(long age) {
		return age + LeaseTimes.driftOf(age) + ClockSample.TOLERANCE;
	}

}
