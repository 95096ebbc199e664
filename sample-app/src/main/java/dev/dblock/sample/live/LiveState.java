package dev.dblock.sample.live;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import dev.dblock.LockInfo;
import dev.dblock.sample.billing.BillingFigures.Figures;
import dev.dblock.sample.live.Presence.State;
import dev.dblock.sample.live.Presence.Waiting;
import org.jspecify.annotations.Nullable;

/**
 * State that is sent to the page: everything each time, except for the events. Times are
 * in milliseconds.
 *
 * @param self the instance that sends it
 * @param now the clock of that instance
 * @param server a description of the MongoDB server
 * @param transactions whether writes are fenced
 * @param pauseMillis how long a pause lasts
 * @param instances all instances
 * @param locks all locks
 * @param figures the billing figures
 * @param events the events since the previous state
 */
record LiveState(String self, long now, String server, boolean transactions, long pauseMillis,
		List<InstanceView> instances, List<LockView> locks, Figures figures, List<EventView> events) {

	LiveState withEvents(List<EventView> events) {
		return new LiveState(this.self, this.now, this.server, this.transactions, this.pauseMillis, this.instances,
				this.locks, this.figures, events);
	}

	/**
	 * View of an instance.
	 *
	 * @param id its name
	 * @param port the port on which it listens
	 * @param pid the id of its process
	 * @param state the state that it last reported
	 * @param silentMillis how long ago that was, by the server's clock
	 * @param hostsServer whether it hosts the embedded server
	 * @param canBePaused whether it can be paused
	 * @param waiting its waiting threads
	 */
	record InstanceView(String id, int port, long pid, State state, long silentMillis, boolean hostsServer,
			boolean canBePaused, List<WaitingView> waiting) {

		static InstanceView of(Presence presence, @Nullable Instant serverNow) {
			Instant seenAt = presence.seenAt();
			long silent = (seenAt != null && serverNow != null) ? Duration.between(seenAt, serverNow).toMillis() : 0;
			List<Waiting> waiting = (presence.waiting() != null) ? presence.waiting() : List.of();
			return new InstanceView(presence.id(), presence.port(), presence.pid(), presence.state(),
					Math.max(0, silent), presence.hostsServer(), presence.canBePaused(),
					waiting.stream().map((one) -> new WaitingView(one.name(), one.since().toEpochMilli())).toList());
		}

	}

	/**
	 * View of a waiting thread.
	 *
	 * @param name the name of the lock
	 * @param since when the wait began
	 */
	record WaitingView(String name, long since) {
	}

	/**
	 * View of a lock.
	 *
	 * @param name its name
	 * @param held whether it is held
	 * @param acquirer the holder's instance
	 * @param token the last token that was reserved
	 * @param releasedAt when it was released
	 */
	record LockView(String name, boolean held, @Nullable String acquirer, long token, long releasedAt) {

		static LockView of(LockInfo lock) {
			Instant releasedAt = lock.releasedAt();
			return new LockView(lock.name(), lock.held(), lock.acquirer(), lock.token(),
					(releasedAt != null) ? releasedAt.toEpochMilli() : 0);
		}

	}

	/**
	 * View of an event.
	 *
	 * @param id its id
	 * @param instance the instance
	 * @param kind the kind of event
	 * @param at the time
	 * @param name the name of the lock
	 * @param token the token
	 * @param text additional text
	 */
	record EventView(String id, String instance, LiveEvent.Kind kind, long at, @Nullable String name,
			@Nullable Long token, @Nullable String text) {

		static EventView of(LiveEvent event) {
			return new EventView(event.id(), event.instance(), event.kind(), event.at().toEpochMilli(), event.name(),
					event.token(), event.text());
		}

	}

}
