package dev.dblock.sample.live;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;

import dev.dblock.sample.live.Presence.State;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.data.domain.Sort;
import org.springframework.data.mongodb.core.FindAndModifyOptions;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.data.mongodb.core.index.Index;
import org.springframework.data.mongodb.core.query.Criteria;
import org.springframework.data.mongodb.core.query.Query;
import org.springframework.data.mongodb.core.query.Update;
import org.springframework.stereotype.Repository;

/**
 * Store for the communication between instances: two small collections in addition to
 * those of the application and of dblock.
 */
@Repository
class LiveStore {

	private static final Logger logger = LoggerFactory.getLogger(LiveStore.class);

	private final MongoTemplate mongo;

	LiveStore(MongoTemplate mongo) {
		this.mongo = mongo;
	}

	void createIndex() {
		this.mongo.indexOps(LiveEvent.class).createIndex(new Index("storedAt", Sort.Direction.ASC));
	}

	/**
	 * Store events, except for those that an earlier attempt has stored without seeing
	 * the answer of the server.
	 */
	void insert(Collection<LiveEvent> events) {
		Instant now = Instant.now();
		for (LiveEvent event : events) {
			try {
				this.mongo.insert(event.storedAt(now));
			}
			catch (DuplicateKeyException ex) {
				logger.debug("The event {} was stored before", event, ex);
			}
		}
	}

	void save(LiveEvent event) {
		this.mongo.save(event.storedAt(Instant.now()));
	}

	List<LiveEvent> storedSince(Instant since) {
		return this.mongo.find(Query.query(Criteria.where("storedAt").gt(since)).with(Sort.by("storedAt")),
				LiveEvent.class);
	}

	/**
	 * Write the presence of an instance.
	 * @return the commands for it
	 */
	List<LiveCommand> tell(Presence presence) {
		Update update = new Update().set("port", presence.port())
			.set("pid", presence.pid())
			.set("state", presence.state())
			.set("hostsServer", presence.hostsServer())
			.set("canBePaused", presence.canBePaused())
			.set("waiting", presence.waiting())
			.currentDate("seenAt")
			.unset("commands");
		@Nullable Presence before = this.mongo.findAndModify(byId(presence.id()), update,
				FindAndModifyOptions.options().upsert(true), Presence.class);
		List<LiveCommand> commands = (before != null) ? before.commands() : null;
		return (commands != null) ? commands : List.of();
	}

	void tell(String instance, State state) {
		this.mongo.updateFirst(byId(instance), new Update().set("state", state).currentDate("seenAt"), Presence.class);
	}

	/**
	 * Send a command to an instance.
	 * @return whether there is such an instance
	 */
	boolean ask(String instance, LiveCommand command) {
		return this.mongo.updateFirst(byId(instance), new Update().push("commands", command), Presence.class)
			.getMatchedCount() > 0;
	}

	List<Presence> presences() {
		return this.mongo.find(new Query().with(Sort.by("_id")), Presence.class);
	}

	void forget(Duration after, Instant now) {
		this.mongo.remove(Query.query(Criteria.where("storedAt").lt(now.minus(after))), LiveEvent.class);
		this.mongo.remove(Query.query(Criteria.where("seenAt").lt(now.minus(after))), Presence.class);
	}

	private static Query byId(String instance) {
		return Query.query(Criteria.where("_id").is(instance));
	}

}
