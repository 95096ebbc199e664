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

	/** The token of the last holder that has ended its work as it should. */
	private long ended;

	RequestedRuns(Scheduler scheduler, Journal journal, Judge judge) {
		this.scheduler = scheduler;
		this.journal = journal;
		this.judge = judge;
	}

	/**
	 * Called when a run begins. One whose lock is lost serves no request, since it may
	 * run beside another.
	 */
	void begun(ObservedLock lock) {
		this.journal.count("runs that others can request");
		if (!this.judge.isHeld(lock)) {
			return;
		}
		this.begun = this.scheduler.now();
		this.unserved.clear();
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
