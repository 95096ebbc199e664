package dev.dblock.sample.live;

import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.data.annotation.Id;
import org.springframework.data.mongodb.core.mapping.Document;

/**
 * State that an instance reports several times a second.
 *
 * @param id its name, which is the acquirer of its locks
 * @param port the port on which it listens
 * @param pid the id of its process
 * @param state its state
 * @param seenAt when it was reported, by the server's clock
 * @param hostsServer whether it hosts the embedded server in its memory
 * @param canBePaused whether its process can be stopped for a while
 * @param waiting its waiting threads
 * @param commands the commands for it, which it removes when it reads them
 */
@Document(Presence.COLLECTION)
record Presence(@Id String id, int port, long pid, State state, @Nullable Instant seenAt, boolean hostsServer,
		boolean canBePaused, @Nullable List<Waiting> waiting, @Nullable List<LiveCommand> commands) {

	static final String COLLECTION = "live_instances";

	/**
	 * State of an instance.
	 */
	enum State {

		RUNNING, PAUSED, STOPPING, STOPPED

	}

	/**
	 * Thread that waits for a lock.
	 *
	 * @param name the name of the lock
	 * @param since when the wait began, by the clock of its instance
	 */
	record Waiting(String name, Instant since) {
	}

}
