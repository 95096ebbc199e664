package dev.dblock.sample.live;

import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.data.annotation.Id;
import org.springframework.data.mongodb.core.mapping.Document;

/**
 * What an instance says of itself, several times a second.
 *
 * @param id its name, which is what its locks have as the acquirer
 * @param port where it listens
 * @param pid its process
 * @param state what it is about
 * @param seenAt when it said so, by the server's clock
 * @param hostsServer whether the embedded server lives in its memory
 * @param canBePaused whether its process can be stopped for a while
 * @param waiting what its threads wait for
 * @param commands what it is asked to do; it takes them away when it reads them
 */
@Document(Presence.COLLECTION)
record Presence(@Id String id, int port, long pid, State state, @Nullable Instant seenAt, boolean hostsServer,
		boolean canBePaused, @Nullable List<Waiting> waiting, @Nullable List<LiveCommand> commands) {

	static final String COLLECTION = "live_instances";

	/**
	 * What an instance is about.
	 */
	enum State {

		RUNNING, PAUSED, STOPPING, STOPPED

	}

	/**
	 * A thread that waits for a lock.
	 *
	 * @param name the lock
	 * @param since when it began to, by the clock of its instance
	 */
	record Waiting(String name, Instant since) {
	}

}
