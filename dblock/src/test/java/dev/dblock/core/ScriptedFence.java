package dev.dblock.core;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

import dev.dblock.core.queue.Outcome;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.TransactionFence;

/**
 * Records the fenced transactions, and answers as a test has scripted.
 */
final class ScriptedFence implements TransactionFence {

	private final List<Integer> slots = new ArrayList<>();

	private final List<Long> tokens = new ArrayList<>();

	private final Deque<Written> answers = new ArrayDeque<>();

	private final List<Integer> settled = new ArrayList<>();

	private final List<String> monitors = new ArrayList<>();

	private boolean endedByFailures;

	private boolean settlesFail;

	private volatile boolean prepared;

	/**
	 * Let the next writes have these answers, and those after them succeed.
	 */
	void next(Written... answers) {
		this.answers.addAll(List.of(answers));
	}

	void next(Outcome outcome, RuntimeException failure) {
		next(new Written(outcome, failure));
	}

	void failToSettle(boolean fail) {
		this.settlesFail = fail;
	}

	void endedByFailures() {
		this.endedByFailures = true;
	}

	List<Integer> slots() {
		return this.slots;
	}

	/**
	 * In whose monitors threads asked the store.
	 */
	List<String> monitors() {
		return this.monitors;
	}

	List<Integer> settled() {
		return this.settled;
	}

	List<Long> tokens() {
		return this.tokens;
	}

	@Override
	public void prepare() {
		this.prepared = true;
	}

	@Override
	public boolean isPrepared() {
		return this.prepared;
	}

	@Override
	public Written write(LeaseKey lease, long token, int slot) {
		this.monitors.addAll(Monitors.held());
		this.slots.add(slot);
		this.tokens.add(token);
		return this.answers.isEmpty() ? Written.DONE : this.answers.remove();
	}

	@Override
	public void settle(LeaseKey lease, long token, List<Integer> slots) {
		this.monitors.addAll(Monitors.held());
		this.settled.addAll(slots);
		if (this.settlesFail) {
			throw new IllegalStateException("scripted");
		}
	}

	@Override
	public boolean isEndedBy(Throwable failure) {
		return this.endedByFailures;
	}

}
