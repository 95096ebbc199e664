package dev.dblock.benchmarks;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;

/**
 * Counts the commands that a client sends.
 */
final class SentCommands implements CommandListener {

	private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();

	@Override
	public void commandStarted(CommandStartedEvent event) {
		this.counts.computeIfAbsent(event.getCommandName(), (name) -> new LongAdder()).increment();
	}

	long count() {
		return this.counts.values().stream().mapToLong(LongAdder::sum).sum();
	}

	/**
	 * Return how many requests for locks were sent. Renewals are other commands.
	 */
	long acquires() {
		LongAdder acquires = this.counts.get("findAndModify");
		return (acquires != null) ? acquires.sum() : 0;
	}

}
