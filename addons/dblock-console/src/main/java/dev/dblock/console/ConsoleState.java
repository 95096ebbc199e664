package dev.dblock.console;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import dev.dblock.LockInfo;
import dev.dblock.job.JobInfo;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * State that the page shows. As an {@link OperationResponseBody}, it is written as
 * Actuator's own responses are, whatever the application sets for its own.
 *
 * @param instance the instance that read the state
 * @param ageMillis how long ago it was read
 * @param jobsPath where to send changes of jobs; {@code null} if not permitted
 * @param locksPath where to send forced releases; {@code null} if not permitted
 * @param jobs the jobs of the application, by id
 * @param locks the first locks that match the filter, by name
 * @param matching how many locks match it
 * @param more whether there are locks that were not read
 * @param waiting the waiting threads of the instance
 * @param events the last events of the instance, the latest first
 */
record ConsoleState(String instance, long ageMillis, @Nullable String jobsPath, @Nullable String locksPath,
		List<JobInfo> jobs, List<Lock> locks, int matching, boolean more, List<Waiting> waiting,
		List<Event> events) implements OperationResponseBody {

	/**
	 * Row of a lock.
	 *
	 * @param name the full name
	 * @param held whether it has a holder; otherwise, it is free, in its minimum hold, or
	 * released by force
	 * @param holder the instance that acquired it last
	 * @param thread the thread that acquired it
	 * @param why the purpose
	 * @param token the last token that was reserved, as a text since JavaScript's numbers
	 * are less exact
	 * @param since when it was granted
	 * @param leftMillis how long it remains unavailable unless it is renewed
	 * @param leaseMillis how long that was at the last renewal
	 * @param permits of how many permits this is one; zero for a plain lock
	 */
	record Lock(String name, boolean held, @Nullable String holder, @Nullable String thread, @Nullable String why,
			String token, @Nullable Instant since, long leftMillis, long leaseMillis, int permits) {

		/**
		 * Return the row of a lock.
		 * @param laterMillis how much later than the state the lock was read
		 */
		static Lock of(LockInfo lock, long laterMillis) {
			Instant renewed = lock.updatedAt();
			Instant end = lock.expiresAt();
			return new Lock(lock.name(), lock.held(), lock.acquirer(), lock.thread(), lock.why(),
					Long.toString(lock.token()), lock.acquiredAt(),
					lock.remaining().isZero() ? 0 : lock.remaining().toMillis() + laterMillis,
					(renewed != null && end != null) ? Duration.between(renewed, end).toMillis() : 0, lock.permits());
		}

	}

	/**
	 * Waiting thread.
	 *
	 * @param lock the full name of the lock
	 * @param thread the name of the thread
	 * @param since when the wait began, by the instance's clock
	 */
	record Waiting(String lock, String thread, Instant since) {
	}

	/**
	 * Event that needs attention.
	 *
	 * @param id the number of the event on this instance
	 * @param at the time, by the instance's clock
	 * @param subject the lock, or the id of the job
	 * @param text what happened, as the rest of the sentence
	 */
	record Event(long id, Instant at, String subject, String text) {
	}

}
