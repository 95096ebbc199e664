package dev.dblock.simulation.server;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

import com.mongodb.ClientSessionOptions;
import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.MongoWriteException;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.ServerAddress;
import com.mongodb.TransactionOptions;
import com.mongodb.WriteConcern;
import com.mongodb.WriteError;
import com.mongodb.bulk.BulkWriteError;
import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.client.ChangeStreamIterable;
import com.mongodb.client.ClientSession;
import com.mongodb.client.FindIterable;
import com.mongodb.client.MongoChangeStreamCursor;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import com.mongodb.client.result.DeleteResult;
import com.mongodb.client.result.InsertOneResult;
import com.mongodb.client.result.UpdateResult;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ClusterSettings;
import com.mongodb.connection.ClusterType;
import com.mongodb.connection.ServerConnectionState;
import com.mongodb.connection.ServerDescription;
import com.mongodb.connection.ServerSettings;
import com.mongodb.connection.ServerType;
import dev.dblock.simulation.scheduler.Redirects;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.codecs.BsonValueCodecProvider;
import org.bson.codecs.configuration.CodecRegistries;
import org.bson.codecs.configuration.CodecRegistry;
import org.bson.conversions.Bson;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.support.PersistenceExceptionTranslator;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.core.MongoExceptionTranslator;

/**
 * The part of the driver that dblock calls. Each call becomes the command that the driver
 * would send; it sends no command again after a failure. The methods of the inner classes
 * are those of the driver's interfaces.
 */
public final class SimulatedDriver {

	private static final ServerAddress ADDRESS = new ServerAddress("simulated");

	/** The only write concern that dblock sets. */
	private static final BsonDocument MAJORITY = new BsonDocument("w", new BsonString("majority"));

	/**
	 * Of requests without a limit of their own, as those of a transaction. Some arrive
	 * after it.
	 */
	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	/** Of each driver another, by which dblock recognizes a client. */
	private final CodecRegistry codecs = CodecRegistries.fromProviders(new BsonValueCodecProvider());

	private final Connection connection;

	private final String database;

	public SimulatedDriver(Connection connection, String database) {
		this.connection = connection;
		this.database = database;
	}

	/**
	 * Return the factory of the database.
	 */
	public MongoDatabaseFactory factory() {
		return as(MongoDatabaseFactory.class, new Factory());
	}

	/**
	 * Start a session.
	 */
	public ClientSession startSession() {
		return as(ClientSession.class, new Session());
	}

	/**
	 * Return the database.
	 */
	public MongoDatabase database() {
		return as(MongoDatabase.class, new Database(TIMEOUT));
	}

	/**
	 * Return an object with an interface of the driver, whose methods are those of the
	 * same name and parameters.
	 */
	private static <T> T as(Class<T> type, Object methods) {
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, new Methods(methods)));
	}

	/**
	 * Calls the methods of an object.
	 */
	private record Methods(Object target) implements InvocationHandler {

		@Override
		public @Nullable Object invoke(Object self, Method method, Object @Nullable [] given) throws Throwable {
			try {
				Object result = this.target.getClass()
					.getMethod(method.getName(), method.getParameterTypes())
					.invoke(this.target, given);
				return (result == this.target) ? self : result;
			}
			catch (NoSuchMethodException ex) {
				throw Values.notSimulated(method);
			}
			catch (InvocationTargetException ex) {
				throw ex.getCause();
			}
		}

	}

	private static Session session(ClientSession session) {
		return (Session) ((Methods) Proxy.getInvocationHandler(session)).target();
	}

	private static BsonDocument document(@Nullable Object bson) {
		return Values.copy((BsonDocument) Objects.requireNonNull(bson));
	}

	private static BsonArray array(Collection<?> documents) {
		return new BsonArray(documents.stream().map(SimulatedDriver::document).toList());
	}

	private BsonDocument send(BsonDocument command, Duration limit) {
		BsonDocument answer = this.connection.send(command, limit);
		if (answer.getNumber("ok").intValue() != 1) {
			throw new MongoCommandException(answer, ADDRESS);
		}
		return answer;
	}

	private BsonDocument write(BsonDocument command, Duration limit) {
		return checked(send(command.append("writeConcern", MAJORITY), limit));
	}

	private static BsonDocument checked(BsonDocument answer) {
		if (answer.containsKey("writeErrors")) {
			BsonDocument error = answer.getArray("writeErrors").get(0).asDocument();
			throw new MongoWriteException(new WriteError(error.getInt32("code").getValue(),
					error.getString("errmsg").getValue(), new BsonDocument()), ADDRESS, List.of());
		}
		return answer;
	}

	/**
	 * Methods of a factory.
	 */
	public final class Factory {

		public MongoDatabase getMongoDatabase() {
			return as(MongoDatabase.class, new Database(Duration.ZERO));
		}

		public PersistenceExceptionTranslator getExceptionTranslator() {
			return new MongoExceptionTranslator();
		}

		public ClientSession getSession(ClientSessionOptions options) {
			return startSession();
		}

	}

	/**
	 * Methods of a session.
	 */
	public final class Session {

		private @Nullable BsonDocument transaction;

		/** Whether a command of the transaction was sent. */
		private boolean begun;

		public Object getOriginator() {
			return as(MongoClient.class, new Client());
		}

		public TransactionOptions getTransactionOptions() {
			return TransactionOptions.builder().writeConcern(WriteConcern.MAJORITY).build();
		}

		public void startTransaction() {
			this.transaction = new BsonDocument("lsid",
					new BsonDocument("id", new BsonString(Redirects.randomUUID().toString())))
				.append("txnNumber", new BsonInt64(1))
				.append("autocommit", BsonBoolean.FALSE);
			this.begun = false;
		}

		public boolean hasActiveTransaction() {
			return this.transaction != null;
		}

		public void commitTransaction() {
			end("commitTransaction", "UnknownTransactionCommitResult");
		}

		public void abortTransaction() {
			try {
				end("abortTransaction", MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL);
			}
			catch (MongoException ex) {
				// As the driver does: the server aborts it later
			}
		}

		public void close() {
			if (this.transaction != null) {
				abortTransaction();
			}
		}

		private void end(String command, String label) {
			try {
				if (this.begun) {
					send(new BsonDocument(command, new BsonInt32(1)).append("writeConcern", MAJORITY), label);
				}
			}
			finally {
				this.transaction = null;
			}
		}

		private BsonDocument send(BsonDocument command) {
			return send(command, MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL);
		}

		/**
		 * Send a command as a part of the transaction.
		 * @param label the label of failures without an answer
		 */
		private BsonDocument send(BsonDocument command, String label) {
			command.putAll(Objects.requireNonNull(this.transaction));
			if (!this.begun) {
				command.append("startTransaction", BsonBoolean.TRUE);
			}
			this.begun = true;
			try {
				return SimulatedDriver.this.send(command, TIMEOUT);
			}
			catch (MongoException ex) {
				if (!(ex instanceof MongoCommandException)) {
					ex.addLabel(label);
				}
				throw ex;
			}
		}

	}

	/**
	 * Methods of a client.
	 */
	public final class Client {

		public MongoDatabase getDatabase(String name) {
			return database();
		}

		public ClusterDescription getClusterDescription() {
			ServerDescription primary = ServerDescription.builder()
				.address(ADDRESS)
				.state(ServerConnectionState.CONNECTED)
				.ok(true)
				.type(ServerType.REPLICA_SET_PRIMARY)
				.electionId(new ObjectId(0, SimulatedDriver.this.connection.election()))
				.build();
			return new ClusterDescription(ClusterConnectionMode.MULTIPLE, ClusterType.REPLICA_SET, List.of(primary),
					ClusterSettings.builder().build(), ServerSettings.builder().build());
		}

	}

	/**
	 * Methods of a database.
	 */
	public final class Database {

		private final Duration limit;

		Database(Duration limit) {
			this.limit = limit;
		}

		public String getName() {
			return SimulatedDriver.this.database;
		}

		public CodecRegistry getCodecRegistry() {
			return SimulatedDriver.this.codecs;
		}

		public Database withCodecRegistry(CodecRegistry registry) {
			return this;
		}

		public Database withWriteConcern(WriteConcern concern) {
			return this;
		}

		public MongoDatabase withTimeout(long time, TimeUnit unit) {
			return as(MongoDatabase.class, new Database(Duration.of(time, unit.toChronoUnit())));
		}

		public MongoCollection<?> getCollection(String name, Class<?> type) {
			return as(MongoCollection.class, new Documents(name, this.limit));
		}

		public void createCollection(String name) {
			send(new BsonDocument("create", new BsonString(name)), this.limit);
		}

		public BsonDocument runCommand(Bson command, ReadPreference preference, Class<?> type) {
			return send(document(command), this.limit);
		}

	}

	/**
	 * Methods of a collection.
	 */
	public final class Documents {

		private final String name;

		private final Duration limit;

		Documents(String name, Duration limit) {
			this.name = name;
			this.limit = limit;
		}

		private BsonDocument command(String command) {
			return new BsonDocument(command, new BsonString(this.name));
		}

		public Documents withCodecRegistry(CodecRegistry registry) {
			return this;
		}

		public Documents withWriteConcern(WriteConcern concern) {
			return this;
		}

		public Documents withReadConcern(ReadConcern concern) {
			return this;
		}

		public Documents withReadPreference(ReadPreference preference) {
			return this;
		}

		public MongoCollection<?> withTimeout(long time, TimeUnit unit) {
			return as(MongoCollection.class, new Documents(this.name, Duration.of(time, unit.toChronoUnit())));
		}

		public FindIterable<?> find(Bson filter) {
			return as(FindIterable.class, new Find(command("find").append("filter", document(filter)),
					(command) -> send(command, this.limit)));
		}

		public FindIterable<?> find(ClientSession session, Bson filter) {
			return as(FindIterable.class,
					new Find(command("find").append("filter", document(filter)), session(session)::send));
		}

		public InsertOneResult insertOne(Object inserted) {
			write(command("insert").append("documents", array(List.of(inserted))), this.limit);
			return InsertOneResult.acknowledged(null);
		}

		public InsertOneResult insertOne(ClientSession session, Object inserted) {
			checked(session(session).send(command("insert").append("documents", array(List.of(inserted)))));
			return InsertOneResult.acknowledged(null);
		}

		public UpdateResult updateOne(Bson filter, Bson update) {
			return update(filter, document(update), false, false);
		}

		public UpdateResult updateOne(Bson filter, Bson update, UpdateOptions options) {
			return update(filter, document(update), false, options.isUpsert());
		}

		public UpdateResult updateOne(Bson filter, List<?> update) {
			return update(filter, array(update), false, false);
		}

		public UpdateResult updateMany(Bson filter, Bson update) {
			return update(filter, document(update), true, false);
		}

		public UpdateResult updateMany(Bson filter, List<?> update) {
			return update(filter, array(update), true, false);
		}

		private UpdateResult update(Bson filter, BsonValue update, boolean multi, boolean upsert) {
			BsonDocument answer = write(command("update").append("updates",
					new BsonArray(List.of(statement(filter, update, multi, upsert)))), this.limit);
			return UpdateResult.acknowledged(answer.getNumber("n").longValue(),
					answer.getNumber("nModified").longValue(), null);
		}

		private static BsonDocument statement(Bson filter, BsonValue update, boolean multi, boolean upsert) {
			return new BsonDocument("q", document(filter)).append("u", update)
				.append("multi", BsonBoolean.valueOf(multi))
				.append("upsert", BsonBoolean.valueOf(upsert));
		}

		public BulkWriteResult bulkWrite(List<?> models, BulkWriteOptions options) {
			BsonArray updates = new BsonArray();
			for (Object each : models) {
				UpdateOneModel<?> model = (UpdateOneModel<?>) each;
				updates.add(statement(model.getFilter(), document(model.getUpdate()), false,
						model.getOptions().isUpsert()));
			}
			BsonDocument answer = send(command("update").append("updates", updates)
				.append("ordered", BsonBoolean.valueOf(options.isOrdered()))
				.append("writeConcern", MAJORITY), this.limit);
			List<BulkWriteError> errors = answer.getArray("writeErrors", new BsonArray())
				.stream()
				.map(BsonValue::asDocument)
				.map((error) -> new BulkWriteError(error.getInt32("code").getValue(),
						error.getString("errmsg").getValue(), new BsonDocument(), error.getInt32("index").getValue()))
				.toList();
			BulkWriteResult result = BulkWriteResult.acknowledged(0, answer.getNumber("n").intValue(), 0, 0, List.of(),
					List.of());
			if (!errors.isEmpty()) {
				throw new MongoBulkWriteException(result, errors, null, ADDRESS, java.util.Set.of());
			}
			return result;
		}

		public DeleteResult deleteOne(Bson filter) {
			BsonDocument statement = new BsonDocument("q", document(filter)).append("limit", new BsonInt32(1));
			return DeleteResult
				.acknowledged(write(command("delete").append("deletes", new BsonArray(List.of(statement))), this.limit)
					.getNumber("n")
					.longValue());
		}

		public @Nullable Object findOneAndUpdate(Bson filter, Bson update, FindOneAndUpdateOptions options) {
			return found(send(findAndModify(filter, update, options).append("writeConcern", MAJORITY), this.limit));
		}

		public @Nullable Object findOneAndUpdate(ClientSession session, Bson filter, Bson update,
				FindOneAndUpdateOptions options) {
			return found(session(session).send(findAndModify(filter, update, options)));
		}

		private BsonDocument findAndModify(Bson filter, Bson update, FindOneAndUpdateOptions options) {
			BsonDocument command = command("findAndModify").append("query", document(filter))
				.append("update", document(update))
				.append("new", BsonBoolean.TRUE)
				.append("upsert", BsonBoolean.valueOf(options.isUpsert()));
			if (options.getProjection() != null) {
				command.append("fields", document(options.getProjection()));
			}
			return command;
		}

		private static @Nullable Object found(BsonDocument answer) {
			return (answer.get("value") instanceof BsonDocument found) ? found : null;
		}

		public String createIndex(Bson keys, IndexOptions options) {
			BsonDocument index = new BsonDocument("key", document(keys));
			String indexName = document(keys).getFirstKey() + "_1";
			Long expireAfter = options.getExpireAfter(TimeUnit.SECONDS);
			index.append("name", new BsonString(indexName));
			if (expireAfter != null) {
				index.append("expireAfterSeconds", new BsonInt64(expireAfter));
			}
			send(command("createIndexes").append("indexes", new BsonArray(List.of(index))), this.limit);
			return indexName;
		}

		public ChangeStreamIterable<?> watch(List<?> pipeline) {
			return as(ChangeStreamIterable.class, new Stream(this, pipeline));
		}

	}

	/**
	 * Methods of a search. All documents are in one answer.
	 */
	public static final class Find {

		private final BsonDocument command;

		private final UnaryOperator<BsonDocument> connection;

		Find(BsonDocument command, UnaryOperator<BsonDocument> connection) {
			this.command = command;
			this.connection = connection;
		}

		public Find projection(Bson projection) {
			this.command.append("projection", document(projection));
			return this;
		}

		public Find sort(Bson sort) {
			this.command.append("sort", document(sort));
			return this;
		}

		public Find batchSize(int size) {
			return this;
		}

		public @Nullable Object first() {
			this.command.append("limit", new BsonInt32(1)).append("singleBatch", BsonBoolean.TRUE);
			List<BsonDocument> found = all();
			return found.isEmpty() ? null : found.get(0);
		}

		public MongoCursor<?> iterator() {
			return cursor();
		}

		public MongoCursor<?> cursor() {
			return as(MongoCursor.class, new Cursor(all()));
		}

		public Collection<Object> into(Collection<Object> target) {
			target.addAll(all());
			return target;
		}

		private List<BsonDocument> all() {
			return this.connection.apply(this.command)
				.getDocument("cursor")
				.getArray("firstBatch")
				.stream()
				.map(BsonValue::asDocument)
				.toList();
		}

	}

	/**
	 * Methods of a cursor.
	 */
	public static final class Cursor {

		private final Deque<BsonDocument> left;

		Cursor(List<BsonDocument> all) {
			this.left = new ArrayDeque<>(all);
		}

		public boolean hasNext() {
			return !this.left.isEmpty();
		}

		public Object next() {
			return this.left.remove();
		}

		public void close() {
			this.left.clear();
		}

	}

	/**
	 * Methods of a change stream.
	 */
	public final class Stream {

		private final Documents collection;

		private final BsonDocument options = new BsonDocument();

		private final BsonArray pipeline;

		private long awaitMillis;

		Stream(Documents collection, List<?> pipeline) {
			this.collection = collection;
			List<BsonValue> stages = new ArrayList<>(List.of(new BsonDocument("$changeStream", this.options)));
			stages.addAll(array(pipeline));
			this.pipeline = new BsonArray(stages);
		}

		public Stream maxAwaitTime(long time, TimeUnit unit) {
			this.awaitMillis = unit.toMillis(time);
			return this;
		}

		public Stream resumeAfter(BsonDocument token) {
			this.options.append("resumeAfter", token);
			return this;
		}

		public MongoChangeStreamCursor<?> cursor() {
			BsonDocument answer = send(this.collection.command("aggregate")
				.append("pipeline", this.pipeline)
				.append("cursor", new BsonDocument()), this.collection.limit);
			return as(MongoChangeStreamCursor.class,
					new StreamCursor(this.collection, answer.getDocument("cursor"), this.awaitMillis));
		}

	}

	/**
	 * Methods of the cursor of a change stream, which is not resumed by this driver.
	 */
	public final class StreamCursor {

		private final Documents collection;

		private final BsonInt64 id;

		private final long awaitMillis;

		private final Deque<BsonDocument> batch = new ArrayDeque<>();

		private BsonDocument token;

		StreamCursor(Documents collection, BsonDocument opened, long awaitMillis) {
			this.collection = collection;
			this.id = opened.getInt64("id");
			this.token = opened.getDocument("postBatchResumeToken");
			this.awaitMillis = awaitMillis;
		}

		public @Nullable ChangeStreamDocument<?> tryNext() {
			if (this.batch.isEmpty()) {
				BsonDocument cursor = send(
						new BsonDocument("getMore", this.id).append("collection", new BsonString(this.collection.name))
							.append("maxTimeMS", new BsonInt64(this.awaitMillis)),
						this.collection.limit)
					.getDocument("cursor");
				cursor.getArray("nextBatch").forEach((event) -> this.batch.add(event.asDocument()));
				this.token = cursor.getDocument("postBatchResumeToken");
			}
			BsonDocument event = this.batch.poll();
			if (event == null) {
				return null;
			}
			if (!this.batch.isEmpty()) {
				this.token = event.getDocument("_id");
			}
			return new ChangeStreamDocument<>(event.getString("operationType").getValue(), event.getDocument("_id"),
					null, null, null, null, null, event.getDocument("documentKey"), null, null, null, null, null, null,
					null);
		}

		public BsonDocument getResumeToken() {
			return this.token;
		}

		public void close() {
			try {
				send(new BsonDocument("killCursors", new BsonString(this.collection.name)).append("cursors",
						new BsonArray(List.of(this.id))), this.collection.limit);
			}
			catch (MongoException ex) {
				// As the driver does: the server closes it later
			}
		}

	}

}
