package dev.dblock.simulation;

import java.util.ArrayList;
import java.util.List;

import dev.dblock.simulation.scheduler.Scheduler;

/**
 * Checks that each call that asked a holder to run once more is served by a run that
 * begins after it, unless the holder has lost the lock. All calls are for one lock.
 */
final class RequestedRuns {

	static final String NAME = "index";

	private final Scheduler scheduler;

	private final Journal journal;

	private final Judge judge;

	/** When the calls began that were passed on since the last run began. */
	private final List<Long> unserved = new ArrayList<>();

	private long begun = Long.MIN_VALUE;

	/** The token of the last run whose lock was not proven to be held when it began. */
	private long unproven;

	/** When that run began. */
	private long unprovenBegun;

	/** The token of the last holder that has ended its work as it should. */
	private long ended;

	RequestedRuns(Scheduler scheduler, Journal journal, Judge judge) {
		this.scheduler = scheduler;
		this.journal = journal;
		this.judge = judge;
	}

	/**
	 * Called when a run begins. One whose lock is lost serves no request, since it may
	 * run beside another. Whether it is lost is known only at the end if a clock was
	 * stepped.
	 */
	void begun(ObservedLock lock) {
		this.journal.count("runs that others can request");
		if (this.judge.isHeld(lock)) {
			serve(this.scheduler.now());
		}
		else {
			this.unproven = lock.token();
			this.unprovenBegun = this.scheduler.now();
		}
	}

	private void serve(long begun) {
		this.begun = Math.max(this.begun, begun);
		this.unserved.removeIf((called) -> called <= begun);
	}

	/**
	 * Called when a call has returned that asked the holder.
	 * @param called when it began
	 */
	void asked(long called) {
		this.journal.count("requests to run once more");
		if (called > this.begun) {
			this.unserved.add(called);
			requireServed();
		}
	}

	/**
	 * Called when a holder has ended its work.
	 */
	void ended(long token) {
		this.ended = token;
		if (this.unproven == token) {
			serve(this.unprovenBegun);
		}
		requireServed();
	}

	/**
	 * As long as no other acquisition was granted, only that of the last holder can have
	 * been asked.
	 */
	private void requireServed() {
		if (!this.unserved.isEmpty() && this.ended == this.judge.granted(NAME)) {
			this.journal.violation("the holder of '%s' with token %d ended though it was asked to run once more"
				.formatted(NAME, this.ended));
		}
	}

}
