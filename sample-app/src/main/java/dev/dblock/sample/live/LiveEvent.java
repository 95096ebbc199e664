package dev.dblock.sample.live;

import java.time.Instant;

import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;

import org.springframework.data.annotation.Id;
import org.springframework.data.mongodb.core.mapping.Document;

/**
 * Something that has happened on one of the instances, for all of them to show.
 *
 * @param id its id
 * @param instance where it happened
 * @param kind what happened
 * @param at when, by the clock of that instance
 * @param name the lock, if it is about one
 * @param token the fencing token, if it is about a grant
 * @param text what else there is to say
 * @param storedAt when it was sent to the server
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
	 * The end of a lease that was not released, which several instances may see.
	 */
	static LiveEvent expired(String instance, String name, long token, Instant at) {
		return new LiveEvent("expired " + name + " " + token, instance, Kind.EXPIRED, at, name, token, null, null);
	}

	LiveEvent storedAt(Instant now) {
		return new LiveEvent(this.id, this.instance, this.kind, this.at, this.name, this.token, this.text, now);
	}

	/**
	 * What can happen.
	 */
	enum Kind {

		STARTED, STOPPING, STOPPED, PAUSED, RESUMED, ACQUIRED, RELEASED, UNAVAILABLE, RENEWED_LATE, LOST, EXPIRED,
		WRITE_REFUSED, JOB_FAILED, JOB_REPEATED, JOB_MISSED

	}

}
