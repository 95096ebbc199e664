package dev.dblock.scenario;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;

import com.mongodb.MongoException;
import com.mongodb.event.CommandFailedEvent;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import com.mongodb.event.CommandSucceededEvent;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Records the commands that a client sent to the collections of an application, and the
 * answers to them.
 */
final class SentCommands implements CommandListener {

	private final List<Sent> sent = new CopyOnWriteArrayList<>();

	private static final int UNAUTHORIZED = 13;

	private final List<String> answered = new CopyOnWriteArrayList<>();

	private final List<String> denied = new CopyOnWriteArrayList<>();

	private final Map<Integer, Long> startedNanos = new ConcurrentHashMap<>();

	private final Map<String, Long> lastDoneNanos = new ConcurrentHashMap<>();

	@Override
	public void commandStarted(CommandStartedEvent event) {
		this.startedNanos.put(event.getRequestId(), System.nanoTime());
		BsonDocument command = event.getCommand();
		if (command.get(event.getCommandName()) instanceof BsonString collection) {
			BsonDocument session = command.getDocument("lsid", null);
			this.sent.add(new Sent(event.getCommandName(), collection.getValue(), command.containsKey("autocommit"),
					(session != null) ? session.getBinary("id").asUuid().toString() : null));
		}
	}

	@Override
	public void commandSucceeded(CommandSucceededEvent event) {
		this.lastDoneNanos.merge(event.getCommandName(), this.startedNanos.remove(event.getRequestId()), Math::max);
		this.answered.add(event.getCommandName());
	}

	@Override
	public void commandFailed(CommandFailedEvent event) {
		this.startedNanos.remove(event.getRequestId());
		this.answered.add(event.getCommandName());
		if (event.getThrowable() instanceof MongoException ex && ex.getCode() == UNAUTHORIZED) {
			this.denied.add(ex.getMessage());
		}
	}

	/**
	 * Returns the server's errors of missing privileges.
	 */
	List<String> denied() {
		return this.denied;
	}

	List<Sent> to(String collection) {
		return this.sent.stream().filter((sent) -> sent.collection().equals(collection)).toList();
	}

	/**
	 * Returns the commands that were sent to the fences, except for the creation of their
	 * collection.
	 */
	List<Sent> fences() {
		return to(Instance.FENCES).stream().filter((sent) -> !sent.command().equals("createIndexes")).toList();
	}

	/**
	 * Whether one command has fenced the transaction that wrote to a collection, and
	 * nothing else of the locks is a part of it.
	 */
	void assertFencedOnce(String collection) {
		assertThat(fences()).singleElement().satisfies((fence) -> {
			assertThat(fence.command()).isEqualTo("findAndModify");
			assertThat(fence.inTransaction()).isTrue();
			assertThat(to(collection)).filteredOn(Sent::inTransaction)
				.extracting(Sent::session)
				.containsExactly(fence.session());
		});
		assertThat(to(Instance.COLLECTION)).noneMatch(Sent::inTransaction);
	}

	long count(String command) {
		return this.sent.stream().filter((sent) -> sent.command().equals(command)).count();
	}

	/**
	 * Returns how many commands of a name were answered, be it by an error or by a
	 * connection that broke.
	 */
	long answers(String command) {
		return this.answered.stream().filter(Predicate.isEqual(command)).count();
	}

	/**
	 * Returns when the last command of a name that succeeded was sent, by the monotonic
	 * clock.
	 */
	long lastDoneNanos(String command) {
		return this.lastDoneNanos.get(command);
	}

	/**
	 * A command.
	 *
	 * @param command its name
	 * @param collection the collection that it concerns
	 * @param inTransaction whether it is part of a transaction
	 * @param session the session that it belongs to
	 */
	record Sent(String command, String collection, boolean inTransaction, @Nullable String session) {
	}

}
