package dev.dblock.sample.live;

import java.time.Instant;

import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;

import org.springframework.data.annotation.Id;
import org.springframework.data.mongodb.core.mapping.Document;

/**
 * Event on one of the instances, which all instances show.
 *
 * @param id the id
 * @param instance the instance of the event
 * @param kind the kind of event
 * @param at the time, by the clock of that instance
 * @param name the name of the lock, if there is one
 * @param token the fencing token, if there is a grant
 * @param text additional text
 * @param storedAt when the event was sent to the server
 */
@Document(LiveEvent.COLLECTION)
record LiveEvent(@Id String id, String instance, Kind kind, Instant at, @Nullable String name, @Nullable Long token,
		@Nullable String text, @Nullable Instant storedAt) {

	static final String COLLECTION = "live_events";

	static LiveEvent of(String instance, Kind kind, Instant at, @Nullable String name, @Nullable Long token,
			@Nullable String text) {
		return new LiveEvent(new ObjectId().toHexString(), instance, kind, at, name, token, text, null);
	}

	/**
	 * Create an event for the end of a lease that was not released, which several
	 * instances may detect.
	 */
	static LiveEvent expired(String instance, String name, long token, Instant at) {
		return new LiveEvent("expired " + name + " " + token, instance, Kind.EXPIRED, at, name, token, null, null);
	}

	LiveEvent storedAt(Instant now) {
		return new LiveEvent(this.id, this.instance, this.kind, this.at, this.name, this.token, this.text, now);
	}

	/**
	 * Kinds of events.
	 */
	enum Kind {

		STARTED, STOPPING, STOPPED, PAUSED, RESUMED, ACQUIRED, RELEASED, UNAVAILABLE, RENEWED_LATE, LOST, EXPIRED,
		WRITE_REFUSED, JOB_FAILED, JOB_REPEATED, JOB_MISSED

	}

}
