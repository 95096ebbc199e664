package dev.dblock.simulation;

import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import com.mongodb.MongoException;
import dev.dblock.simulation.scheduler.Scheduler;
import dev.dblock.simulation.scheduler.SimulatedProcess;

/**
 * The way between the instances and the server: delays, lost requests and lost answers.
 */
final class Network {

	private static final int LOST_ONE_OF = 40;

	/** Longer delays can excuse what is late. */
	static final long NOTICEABLE_NANOS = 50_000_000;

	private final Scheduler scheduler;

	private final Journal journal;

	private final SimulatedProcess server;

	private final Function<String, RuntimeException> timeouts;

	private final Function<String, RuntimeException> losses;

	private boolean faulty = true;

	private boolean down;

	/**
	 * Create a network.
	 * @param timeouts creates the exception of a request without an answer in time
	 * @param losses creates the exception of a request without an answer
	 */
	Network(Scheduler scheduler, Journal journal, SimulatedProcess server, Function<String, RuntimeException> timeouts,
			Function<String, RuntimeException> losses) {
		this.scheduler = scheduler;
		this.journal = journal;
		this.server = server;
		this.timeouts = timeouts;
		this.losses = losses;
	}

	boolean isFaulty() {
		return this.faulty;
	}

	/**
	 * Set whether requests are lost or take long.
	 */
	void setFaulty(boolean faulty) {
		this.faulty = faulty;
	}

	/**
	 * Set whether every request is lost.
	 */
	void setDown(boolean down) {
		this.down = down;
	}

	boolean isDown() {
		return this.down;
	}

	/**
	 * Send a request of the current thread, and wait for its answer.
	 * @param request what the server does
	 * @param limit the longest wait for the answer
	 * @param applied is called with the result at once when the server has it
	 * @throws RuntimeException if there is none after this time, or the connection
	 * breaks; the request may still arrive, or may have been applied
	 */
	<T> T send(Supplier<T> request, Duration limit, Consumer<T> applied) {
		this.scheduler.requireCurrent();
		long end = this.scheduler.now() + limit.toNanos();
		long left = limit.toNanos();
		long there = delayOfThread();
		if (this.down || there > left) {
			if (!this.down) {
				late(request, applied, there);
			}
			throw unanswered(left, "simulated: no answer");
		}
		this.scheduler.pause(there);
		if (isLost()) {
			throw lost(this.losses.apply("simulated: lost request"));
		}
		T answer = apply(request, applied);
		left = Math.max(0, end - this.scheduler.now());
		long back = delayOfThread();
		if (this.down || back > left) {
			throw unanswered(left, "simulated: late answer");
		}
		this.scheduler.pause(back);
		if (isLost()) {
			throw lost(this.losses.apply("simulated: lost answer"));
		}
		return answer;
	}

	/**
	 * Return what the server knows at this moment, which no client can know.
	 */
	<T> T atServer(Supplier<T> reading) {
		return this.scheduler.in(this.server, reading);
	}

	private <T> T apply(Supplier<T> request, Consumer<T> applied) {
		return this.scheduler.in(this.server, () -> {
			T answer = request.get();
			applied.accept(answer);
			return answer;
		});
	}

	/**
	 * Apply a request that the client has given up, so that no answer is read.
	 */
	private <T> void late(Supplier<T> request, Consumer<T> applied, long nanos) {
		this.scheduler.start(this.server, "late", () -> {
			this.scheduler.pause(nanos);
			try {
				apply(request, applied);
			}
			catch (MongoException ex) {
				// Would be thrown in the client, which has given up
			}
		});
	}

	/**
	 * Wait for an answer that does not arrive. Others of the process may give up waiting
	 * for this request before it fails.
	 */
	private RuntimeException unanswered(long nanos, String message) {
		this.scheduler.requireCurrent().process().troubled(this.scheduler.now() + nanos);
		this.scheduler.pause(nanos);
		return lost(this.timeouts.apply(message));
	}

	private RuntimeException lost(RuntimeException failure) {
		this.journal.count("failed requests");
		this.scheduler.requireCurrent().process().troubled(this.scheduler.now());
		return failure;
	}

	private boolean isLost() {
		return this.faulty && this.scheduler.random().nextInt(LOST_ONE_OF) == 0;
	}

	private long delayOfThread() {
		long nanos = delay();
		if (nanos > NOTICEABLE_NANOS) {
			this.scheduler.requireCurrent().process().troubled(this.scheduler.now() + nanos);
		}
		return nanos;
	}

	private long delay() {
		int kind = this.scheduler.random().nextInt(100);
		if (kind < 90 || !this.faulty) {
			return this.scheduler.random().nextInt(3_000_000);
		}
		return this.scheduler.random().nextInt((kind < 98) ? 200_000_000 : 2_000_000_000);
	}

	/**
	 * Send a message of the server to a process.
	 */
	void report(SimulatedProcess to, Runnable message) {
		reportAfter(0, to, message);
	}

	void reportAfter(long nanos, SimulatedProcess to, Runnable message) {
		this.scheduler.after(nanos + delay(), () -> {
			if (!to.isKilled()) {
				this.scheduler.start(to, "feed", message);
			}
		});
	}

}
