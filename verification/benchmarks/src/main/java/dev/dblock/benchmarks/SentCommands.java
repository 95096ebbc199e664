package dev.dblock.benchmarks;

import java.util.concurrent.atomic.LongAdder;

import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;

/**
 * Counts the commands that a client sends.
 */
final class SentCommands implements CommandListener {

	private final LongAdder count = new LongAdder();

	@Override
	public void commandStarted(CommandStartedEvent event) {
		this.count.increment();
	}

	long count() {
		return this.count.sum();
	}

}
