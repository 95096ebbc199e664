package dev.dblock.simulation.server;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * One MongoDB server with one database. It does nothing by itself: it executes commands,
 * one at a time.
 */
public final class SimulatedServer {

	private static final int COMMAND_NOT_FOUND = 59;

	private static final int FAILED_TO_PARSE = 9;

	private static final int DUPLICATE_KEY = 11000;

	private static final int NO_SUCH_TRANSACTION = 251;

	private static final int OUT_OF_TIME = 50;

	/** WriteConflict, NoSuchTransaction: the transaction may be repeated. */
	private static final Set<Integer> TRANSIENT = Set.of(112, NO_SUCH_TRANSACTION);

	/** Shorter than the usual 60 s, so that few requests fail while they wait for it. */
	public static final long TRANSACTION_MILLIS = 8000;

	private static final BsonDocument BY_ID = new BsonDocument("_id", new BsonInt32(1));

	private final String database;

	private final boolean pipelines;

	private final LongSupplier clock;

	private final ChangeListener listener;

	private final Map<String, Map<BsonValue, BsonDocument>> collections = new LinkedHashMap<>();

	private final Map<String, BsonArray> indexes = new HashMap<>();

	private final ChangeStreams streams;

	/** By session and number. Those that have ended do not begin again. */
	private final Map<BsonValue, Transaction> transactions = new LinkedHashMap<>();

	/** That of the command that is executed. */
	private @Nullable Transaction current;

	/**
	 * Create a server.
	 * @param pipelines whether it knows updates with a pipeline; otherwise it is as old
	 * as MongoDB 4.0
	 * @param clock its time in milliseconds
	 * @param listener is called for each change
	 */
	public SimulatedServer(String database, boolean pipelines, LongSupplier clock, ChangeListener listener) {
		this(database, pipelines, clock, listener, new ChangeStreams());
	}

	private SimulatedServer(String database, boolean pipelines, LongSupplier clock, ChangeListener listener,
			ChangeStreams streams) {
		this.database = database;
		this.pipelines = pipelines;
		this.clock = clock;
		this.listener = listener;
		this.streams = streams;
	}

	/**
	 * Return another member of the same replica set, without any documents. Cursors are
	 * of the member that has opened them.
	 */
	public SimulatedServer member(LongSupplier clock, ChangeListener listener) {
		this.streams.killCursors();
		return new SimulatedServer(this.database, this.pipelines, clock, listener, this.streams);
	}

	/**
	 * Return the documents of a collection by their ids.
	 */
	public Map<BsonValue, BsonDocument> documents(String collection) {
		return (this.current != null) ? this.current.documents(collection)
				: this.collections.getOrDefault(collection, Map.of());
	}

	/**
	 * Replace the documents of a collection, which exists if there are any.
	 */
	public void load(String collection, List<BsonDocument> documents) {
		this.collections.remove(collection);
		documents.forEach((document) -> create(collection).put(document.get("_id"), Values.copy(document)));
	}

	/**
	 * Whether a cursor of a change stream has something to return.
	 */
	public boolean hasChanges(BsonDocument getMore) {
		return this.streams.hasChanges(getMore.getInt64("getMore").getValue());
	}

	/**
	 * Close all cursors.
	 */
	public void killCursors() {
		this.streams.killCursors();
	}

	/**
	 * Execute a command.
	 * @param received when it was received, which is the value of {@code $$NOW}
	 * @return the answer, which can be an error
	 */
	public BsonDocument execute(BsonDocument command, long received) {
		try {
			return (command.containsKey("txnNumber") ? inTransaction(command, received) : answer(command, received))
				.append("ok", new BsonDouble(1));
		}
		catch (ServerException ex) {
			BsonDocument error = new BsonDocument("ok", new BsonDouble(0))
				.append("errmsg", text(String.valueOf(ex.getMessage())))
				.append("code", new BsonInt32(ex.code()));
			return (command.containsKey("txnNumber") && TRANSIENT.contains(ex.code()))
					? error.append("errorLabels", new BsonArray(List.of(text("TransientTransactionError")))) : error;
		}
	}

	/**
	 * Execute a command of a transaction, which an error ends.
	 */
	private BsonDocument inTransaction(BsonDocument command, long received) {
		BsonValue id = new BsonArray(List.of(command.get("lsid"), command.get("txnNumber")));
		long now = this.clock.getAsLong();
		if (command.containsKey("startTransaction") && !this.transactions.containsKey(id)) {
			this.transactions.put(id, new Transaction(this.collections, now + TRANSACTION_MILLIS));
		}
		else if (command.containsKey("startTransaction") || !this.transactions.containsKey(id)
				|| !this.transactions.get(id).isOpen(now)) {
			throw new ServerException(NO_SUCH_TRANSACTION, "Transaction is not in progress");
		}
		Transaction transaction = this.transactions.get(id);
		boolean done = false;
		try {
			this.current = transaction;
			BsonDocument answer = switch (command.getFirstKey()) {
				case "find", "insert", "update", "findAndModify" -> answer(command, received);
				case "commitTransaction", "abortTransaction" -> new BsonDocument();
				default -> throw Values.notSimulated("in a transaction, " + command.getFirstKey());
			};
			done = !command.getFirstKey().endsWith("Transaction");
			return answer;
		}
		finally {
			this.current = null;
			if (!done) {
				transaction.end();
			}
			if (command.getFirstKey().equals("commitTransaction")) {
				transaction.written()
					.forEach((each, after) -> store(each.collection(), documents(each.collection()).get(each.id()),
							after, false));
			}
		}
	}

	/**
	 * Wait for another transaction that has changed a document. A part of a transaction
	 * fails instead.
	 * @return whether it has waited, so that the document may be another one now
	 */
	private boolean waited(Transaction.Id id) {
		for (Transaction other : this.transactions.values()) {
			if (other != this.current && other.isOpen(this.clock.getAsLong()) && other.written().containsKey(id)) {
				if (this.current != null) {
					throw Transaction.conflict();
				}
				this.listener.await(() -> !other.isOpen(this.clock.getAsLong()));
				return true;
			}
		}
		return false;
	}

	private BsonDocument answer(BsonDocument command, long received) {
		String name = command.getFirstKey();
		String collection = (command.get(name) instanceof BsonString text) ? text.getValue() : "";
		return switch (name) {
			case "hello", "isMaster" -> hello(name);
			case "buildInfo" -> new BsonDocument();
			case "listCollections" -> listCollections(command);
			case "listIndexes" -> listIndexes(collection);
			case "createIndexes" -> createIndexes(collection, command.getArray("indexes"));
			case "create" -> {
				if (this.collections.containsKey(collection)) {
					throw new ServerException(48, "Collection already exists");
				}
				create(collection);
				yield new BsonDocument();
			}
			case "find" -> find(collection, command, received);
			case "insert" -> insert(collection, command);
			case "update" -> update(collection, command, received);
			case "delete" -> delete(collection, command, received);
			case "findAndModify" -> findAndModify(collection, command, received);
			case "aggregate" -> cursor(this.streams.open(collection, command), collection, "firstBatch");
			case "getMore" ->
				cursor(this.streams.next(command, received), command.getString("collection").getValue(), "nextBatch");
			case "killCursors" -> this.streams.close(command);
			default -> throw Values.notSimulated("the command " + name);
		};
	}

	private static BsonString text(String text) {
		return new BsonString(text);
	}

	private BsonDocument hello(String name) {
		if (!this.pipelines && name.equals("hello")) {
			throw new ServerException(COMMAND_NOT_FOUND, "no such command: 'hello'");
		}
		return new BsonDocument(this.pipelines ? "isWritablePrimary" : "ismaster", BsonBoolean.TRUE)
			.append("localTime", new BsonDateTime(this.clock.getAsLong()))
			.append("maxWireVersion", new BsonInt32(this.pipelines ? 17 : 7))
			.append("setName", text("simulated"));
	}

	private Map<BsonValue, BsonDocument> create(String collection) {
		return this.collections.computeIfAbsent(collection, (name) -> new LinkedHashMap<>());
	}

	private BsonDocument cursor(BsonDocument cursor, String collection, String batch) {
		BsonDocument complete = new BsonDocument("id", cursor.get("id", new BsonInt64(0)))
			.append("ns", text(this.database + "." + collection))
			.append(batch, cursor.get("batch"));
		if (cursor.containsKey("token")) {
			complete.append("postBatchResumeToken", cursor.get("token"));
		}
		return new BsonDocument("cursor", complete);
	}

	private BsonDocument batch(List<BsonDocument> documents, String collection) {
		return cursor(new BsonDocument("batch", new BsonArray(documents)), collection, "firstBatch");
	}

	private BsonDocument listCollections(BsonDocument command) {
		Filter filter = new Filter(command.getDocument("filter"), 0);
		return batch(this.collections.keySet()
			.stream()
			.map((name) -> new BsonDocument("name", text(name)).append("type", text("collection"))
				.append("options", new BsonDocument()))
			.filter(filter::matches)
			.toList(), "$cmd.listCollections");
	}

	private BsonDocument listIndexes(String collection) {
		if (!this.collections.containsKey(collection)) {
			throw new ServerException(26, "ns does not exist: " + this.database + "." + collection);
		}
		List<BsonDocument> all = new ArrayList<>();
		all.add(new BsonDocument("key", BY_ID).append("name", text("_id_")));
		this.indexes.getOrDefault(collection, new BsonArray()).forEach((index) -> all.add(index.asDocument()));
		return batch(all, collection);
	}

	private BsonDocument createIndexes(String collection, BsonArray created) {
		create(collection);
		this.indexes.put(collection, created);
		return new BsonDocument();
	}

	/**
	 * Find all documents in one answer, whatever batches the client wants.
	 */
	private BsonDocument find(String collection, BsonDocument command, long now) {
		Filter filter = filter(command.getDocument("filter"), now);
		List<BsonDocument> found = new ArrayList<>(
				documents(collection).values().stream().filter(filter::matches).toList());
		if (!BY_ID.equals(command.get("sort", BY_ID))) {
			throw Values.notSimulated("the order " + command.get("sort"));
		}
		// A server without a request for an order uses the index as well
		if (command.containsKey("sort") || command.getDocument("filter").containsKey("_id")) {
			found.sort(Comparator.comparing((document) -> document.get("_id"), Values::compare));
		}
		int limit = command.getInt32("limit", new BsonInt32(Integer.MAX_VALUE)).getValue();
		return batch(
				found.stream().limit(limit).map((document) -> projected(document, command, "projection", now)).toList(),
				collection);
	}

	private Filter filter(BsonDocument query, long now) {
		if (!this.pipelines && query.containsKey("$expr")) {
			throw new ServerException(17276, "Use of undefined variable: NOW");
		}
		return new Filter(query, now);
	}

	private static BsonDocument projected(BsonDocument document, BsonDocument command, String field, long now) {
		return Values.copy(command.containsKey(field) ? new Projection(command.getDocument(field)).apply(document, now)
				: document);
	}

	private BsonDocument insert(String collection, BsonDocument command) {
		BsonArray errors = new BsonArray();
		BsonArray inserted = command.getArray("documents");
		for (BsonValue document : inserted) {
			while (waited(id(collection, document.asDocument()))) {
				// It may have inserted the same id, or not
			}
			if (documents(collection).containsKey(document.asDocument().get("_id"))) {
				errors.add(writeError(errors.size(), duplicate(collection)));
			}
			else {
				store(collection, null, document.asDocument(), false);
			}
		}
		return written(new BsonDocument("n", new BsonInt32(inserted.size() - errors.size())), errors);
	}

	private ServerException duplicate(String collection) {
		return new ServerException(DUPLICATE_KEY, "E11000 duplicate key error collection: %s.%s index: _id_ dup key"
			.formatted(this.database, collection));
	}

	private static BsonDocument writeError(int index, ServerException ex) {
		return new BsonDocument("index", new BsonInt32(index)).append("code", new BsonInt32(ex.code()))
			.append("errmsg", text(String.valueOf(ex.getMessage())));
	}

	private static BsonDocument written(BsonDocument answer, BsonArray errors) {
		return errors.isEmpty() ? answer : answer.append("writeErrors", errors);
	}

	private BsonDocument update(String collection, BsonDocument command, long now) {
		int matched = 0;
		int modified = 0;
		BsonArray upserted = new BsonArray();
		BsonArray errors = new BsonArray();
		BsonArray updates = command.getArray("updates");
		for (int i = 0; i < updates.size(); i++) {
			BsonDocument statement = updates.get(i).asDocument();
			try {
				Change change = change(collection, statement.getDocument("q"), statement.get("u"), statement, now);
				matched += change.matched();
				modified += change.modified();
				if (change.upserted() && change.after() != null) {
					upserted.add(new BsonDocument("index", new BsonInt32(i)).append("_id", change.after().get("_id")));
				}
			}
			catch (ServerException ex) {
				if (this.current != null || ex.code() == OUT_OF_TIME) {
					throw ex;
				}
				errors.add(writeError(i, ex));
			}
		}
		BsonDocument answer = new BsonDocument("n", new BsonInt32(matched)).append("nModified",
				new BsonInt32(modified));
		return written(upserted.isEmpty() ? answer : answer.append("upserted", upserted), errors);
	}

	private BsonDocument findAndModify(String collection, BsonDocument command, long now) {
		Change change = change(collection, command.getDocument("query"), command.get("update"), command, now);
		BsonDocument after = change.after();
		BsonDocument last = new BsonDocument("n", new BsonInt32(change.matched())).append("updatedExisting",
				BsonBoolean.valueOf(after != null && !change.upserted()));
		if (after != null && change.upserted()) {
			last.append("upserted", after.get("_id"));
		}
		return new BsonDocument("lastErrorObject", last).append("value",
				(after != null) ? projected(after, command, "fields", now) : BsonNull.VALUE);
	}

	/**
	 * Update the first matching document, or all of them, or insert one.
	 */
	private Change change(String collection, BsonDocument query, @Nullable BsonValue by, BsonDocument options,
			long now) {
		if (by == null || by instanceof BsonArray && !this.pipelines) {
			throw new ServerException(FAILED_TO_PARSE, "Wrong type for parameter u");
		}
		Update update = new Update(by, now);
		Filter filter = filter(query, now);
		boolean multi = isSet(options, "multi");
		// The order of the index, which each query by id uses
		List<BsonDocument> found = documents(collection).values()
			.stream()
			.filter(filter::matches)
			.sorted(Comparator.comparing((document) -> document.get("_id"), Values::compare))
			.limit(multi ? Long.MAX_VALUE : 1)
			.toList();
		long clock = this.clock.getAsLong();
		if (found.isEmpty() && isSet(options, "upsert")) {
			BsonDocument inserted = update.apply(filter.asDocument(), clock);
			if (documents(collection).containsKey(inserted.get("_id"))) {
				throw duplicate(collection);
			}
			if (waited(id(collection, inserted))) {
				return change(collection, query, by, options, now);
			}
			store(collection, null, inserted, false);
			return new Change(inserted, 1, 0, true);
		}
		int modified = 0;
		BsonDocument after = null;
		for (BsonDocument before : found) {
			after = update.apply(before, clock);
			if (Values.compare(before, after) != 0) {
				if (waited(id(collection, before))) {
					return change(collection, query, by, options, now);
				}
				modified++;
				store(collection, before, after, by instanceof BsonArray);
			}
		}
		return new Change(after, found.size(), modified, false);
	}

	private static boolean isSet(BsonDocument options, String option) {
		return options.getBoolean(option, BsonBoolean.FALSE).getValue();
	}

	private BsonDocument delete(String collection, BsonDocument command, long now) {
		int deleted = 0;
		for (BsonValue statement : command.getArray("deletes")) {
			Filter filter = filter(statement.asDocument().getDocument("q"), now);
			for (BsonDocument document : List.copyOf(documents(collection).values())) {
				if (filter.matches(document) && deleted == 0) {
					deleted++;
					create(collection).remove(document.get("_id"));
					changed(collection, document, null, false);
				}
			}
		}
		return new BsonDocument("n", new BsonInt32(deleted));
	}

	private static Transaction.Id id(String collection, BsonDocument document) {
		return new Transaction.Id(collection, document.getOrDefault("_id", BsonNull.VALUE));
	}

	private void store(String collection, @Nullable BsonDocument before, BsonDocument after, boolean replaces) {
		if (this.current != null) {
			Transaction.Id id = id(collection, after);
			this.current.write(id, after, create(collection).get(id.id()));
			return;
		}
		create(collection).put(after.get("_id"), after);
		changed(collection, before, after, replaces);
	}

	private void changed(String collection, @Nullable BsonDocument before, @Nullable BsonDocument after,
			boolean replaces) {
		this.listener.changed(collection, before, after, () -> this.streams.add(collection, before, after, replaces));
	}

	/**
	 * What an update has done.
	 *
	 * @param after the last document that matched, as it is now
	 */
	private record Change(@Nullable BsonDocument after, int matched, int modified, boolean upserted) {
	}

	/**
	 * Is called for each change of a document.
	 */
	public interface ChangeListener {

		/**
		 * Called when a document was inserted, changed or deleted.
		 * @param report reports the change to change streams, once a majority has it
		 */
		void changed(String collection, @Nullable BsonDocument before, @Nullable BsonDocument after, Runnable report);

		/**
		 * Called when a write has to wait for a transaction; other commands can be
		 * executed meanwhile.
		 * @param ended whether it has ended
		 */
		default void await(BooleanSupplier ended) {
			throw new ServerException(OUT_OF_TIME, "operation exceeded time limit");
		}

	}

}
