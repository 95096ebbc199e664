package dev.dblock.test.check;

import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import com.mongodb.CursorType;
import com.mongodb.MongoException;
import com.mongodb.WriteConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoChangeStreamCursor;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.CreateCollectionOptions;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.mongodb.MongoLockRepository;
import dev.dblock.settings.EngineSettings;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository.AcquireAnswer;
import dev.dblock.store.LockRepository.StoreTime;
import dev.dblock.store.TransactionFence;
import dev.dblock.store.TransactionFence.Outcome;
import dev.dblock.test.check.Contender.Place;
import dev.dblock.test.check.ServerReport.Result;
import dev.dblock.test.check.ServerReport.Row;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.Document;

import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.MongoTransactionManager;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.Assert;

/**
 * The checks of what dblock uses where a server has it, and of what it costs. None of
 * them decides whether locks exclude each other.
 */
final class FeatureChecks {

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private static final Duration SHORT = Duration.ofSeconds(1);

	private static final BsonString NOW = new BsonString("$$NOW");

	private static final int ROUNDS = 10;

	private final CheckedServer server;

	private final Place place;

	private final UnaryOperator<MongoDatabase> change;

	private final List<String> settings;

	private final MongoDatabaseFactory factory;

	private final MongoCollection<BsonDocument> documents;

	private boolean transactions;

	FeatureChecks(CheckedServer server, Place place, UnaryOperator<MongoDatabase> change, List<String> settings) {
		this.server = server;
		this.place = place;
		this.change = change;
		this.settings = settings;
		this.factory = server.factory(change);
		this.documents = server.database()
			.getCollection(place.collection(), BsonDocument.class)
			.withWriteConcern(WriteConcern.MAJORITY);
	}

	Map<String, Supplier<Row>> all() {
		Map<String, Supplier<Row>> checks = new LinkedHashMap<>();
		checks.put("clocks", this::clocks);
		checks.put("write concern", this::writeConcern);
		checks.put("cost", this::cost);
		checks.put("wake-up", this::wakeUp);
		feature(checks, "pipeline updates", this::pipelineUpdates);
		feature(checks, "$$NOW in projections", this::nowInProjections);
		feature(checks, "transactions", () -> this.transactions = transactions());
		checks.put("fenced commits", this::fencedCommits);
		feature(checks, "change streams", this::changeStreams);
		feature(checks, "tailable cursors", this::tailableCursors);
		return checks;
	}

	private void feature(Map<String, Supplier<Row>> checks, String name, Supplier<Boolean> probe) {
		checks.put(name, () -> {
			try {
				boolean works = probe.get();
				if (!works && name.equals("change streams")) {
					this.settings.add("dblock.release-feed=poll");
				}
				return new Row(name, works ? Result.YES : Result.NO, works ? "" : "without the right effect");
			}
			catch (MongoException ex) {
				return (ex.getCode() == CheckedServer.UNAUTHORIZED)
						? new Row(name, Result.SKIPPED, "the user lacks the privilege")
						: new Row(name, Result.NO, CheckedServer.reason(ex));
			}
		});
	}

	private BsonDocument id(String name) {
		return new BsonDocument("_id", new BsonString(this.place.prefix() + name));
	}

	private Row clocks() {
		MongoLockRepository repository = repository();
		repository.time(TIMEOUT);
		StoreTime time = repository.time(TIMEOUT).orElseThrow();
		long now = System.currentTimeMillis();
		return new Row("clocks", Result.MEASURED, "the server's clock is between %d and %d ms ahead of this machine's"
			.formatted(time.notBefore().toEpochMilli() - now, time.notAfter().toEpochMilli() - now));
	}

	private Row writeConcern() {
		long start = System.nanoTime();
		this.documents.updateOne(id("write"), new BsonDocument("$set", new BsonDocument("n", new BsonInt32(1))),
				new UpdateOptions().upsert(true));
		String seen = "a write to the majority took %d ms; the default of transactions is ".formatted(millis(start));
		try {
			BsonDocument concern = this.server.client()
				.getDatabase("admin")
				.runCommand(new BsonDocument("getDefaultRWConcern", new BsonInt32(1)), BsonDocument.class)
				.getDocument("defaultWriteConcern", new BsonDocument("w", new BsonInt32(1)));
			if (!new BsonString("majority").equals(concern.get("w"))) {
				this.settings.add("w=majority in the connection string, for transactions under locks");
			}
			return new Row("write concern", Result.YES, seen + concern.toJson());
		}
		catch (MongoException ex) {
			return new Row("write concern", Result.YES, seen + "unknown");
		}
	}

	private Row cost() {
		try (Contender contender = contender()) {
			contender.locks(0).acquire("cost").close();
			int requests = this.server.requests().count();
			long start = System.nanoTime();
			for (int i = 0; i < 2 * ROUNDS; i++) {
				contender.locks(0).acquire("cost").close();
			}
			return new Row("cost", Result.MEASURED,
					"a lock without contention costs %.1f requests and %.1f ms".formatted(
							(this.server.requests().count() - requests) / (2.0 * ROUNDS),
							millis(start) / (2.0 * ROUNDS)));
		}
	}

	private Row wakeUp() {
		long[] millis = new long[ROUNDS];
		try (Contender contender = contender()) {
			for (int i = 0; i < ROUNDS; i++) {
				LockHandle held = contender.locks(0).acquire("wake-up");
				CompletableFuture<Long> woken = CompletableFuture.supplyAsync(() -> {
					try (LockHandle next = contender.locks(1)
						.acquire("wake-up", LockOptions.defaults().waitUpTo(TIMEOUT))) {
						return System.nanoTime();
					}
				});
				// Until the waiter waits
				Contender.sleep(300);
				long released = System.nanoTime();
				held.close();
				millis[i] = TimeUnit.NANOSECONDS.toMillis(woken.join() - released);
			}
		}
		Arrays.sort(millis);
		return new Row("wake-up", Result.MEASURED,
				"a waiter had the lock %d ms after its release (median of %d), %d ms at most"
					.formatted(millis[ROUNDS / 2], ROUNDS, millis[ROUNDS - 1]));
	}

	private Contender contender() {
		return new Contender(this.server, this.place, this.change, EngineSettings.defaults("dblock-check").poll());
	}

	private boolean pipelineUpdates() {
		this.documents.updateOne(id("pipeline"), List.of(new BsonDocument("$set", new BsonDocument("at", NOW))),
				new UpdateOptions().upsert(true));
		BsonDocument found = this.documents.find(id("pipeline")).first();
		return found != null && found.isDateTime("at");
	}

	private boolean nowInProjections() {
		this.documents.updateOne(id("now"), new BsonDocument("$set", new BsonDocument("n", new BsonInt32(1))),
				new UpdateOptions().upsert(true));
		BsonDocument found = this.documents.find(id("now")).projection(new BsonDocument("at", NOW)).first();
		return found != null && found.isDateTime("at");
	}

	private boolean transactions() {
		try (ClientSession session = this.server.client().startSession()) {
			session.startTransaction();
			this.documents.withWriteConcern(WriteConcern.ACKNOWLEDGED).insertOne(session, id("transaction"));
			session.abortTransaction();
		}
		return this.documents.find(id("transaction")).first() == null;
	}

	private boolean changeStreams() {
		try (MongoChangeStreamCursor<ChangeStreamDocument<BsonDocument>> events = this.documents.watch()
			.maxAwaitTime(500, TimeUnit.MILLISECONDS)
			.cursor()) {
			this.documents.insertOne(id("change"));
			return comes(events);
		}
	}

	private boolean tailableCursors() {
		String name = this.place.collection() + ".capped";
		MongoCollection<BsonDocument> capped = this.server.database().getCollection(name, BsonDocument.class);
		this.server.database().createCollection(name, new CreateCollectionOptions().capped(true).sizeInBytes(100_000));
		try {
			capped.insertOne(id("first"));
			try (MongoCursor<BsonDocument> cursor = capped.find()
				.cursorType(CursorType.TailableAwait)
				.maxAwaitTime(500, TimeUnit.MILLISECONDS)
				.cursor()) {
				boolean first = comes(cursor);
				capped.insertOne(id("second"));
				return first && comes(cursor);
			}
		}
		finally {
			capped.drop();
		}
	}

	private static boolean comes(MongoCursor<?> cursor) {
		long end = System.nanoTime() + TIMEOUT.toNanos();
		while (System.nanoTime() - end < 0) {
			if (cursor.tryNext() != null) {
				return true;
			}
		}
		return false;
	}

	/**
	 * One stale commit, which must be refused, and one that began before a take-over,
	 * which must wait for it.
	 */
	private Row fencedCommits() {
		if (!this.transactions) {
			return new Row("fenced commits", Result.SKIPPED, "without transactions");
		}
		CommitCheck stale = new CommitCheck("stale");
		Outcome outcome = stale.commit(() -> stale.takeOver().join(), () -> {
		});
		CommitCheck early = new CommitCheck("early");
		CompletableFuture<?>[] next = new CompletableFuture<?>[1];
		boolean[] waited = new boolean[1];
		Outcome committed = early.commit(() -> {
		}, () -> {
			next[0] = early.takeOver();
			waited[0] = !isDone(next[0], Duration.ofSeconds(3));
		});
		next[0].join();
		boolean fenced = outcome == Outcome.OVERTAKEN && !stale.isCommitted() && committed == Outcome.DONE
				&& early.isCommitted() && waited[0];
		if (!fenced) {
			this.settings.add("dblock.mongodb.fence-transactions=false");
		}
		return new Row("fenced commits", fenced ? Result.YES : Result.NO,
				"a stale holder's commit was %s, and a take-over %s for a commit in progress"
					.formatted(stale.isCommitted() ? "applied" : "refused", waited[0] ? "waited" : "did not wait"));
	}

	private static boolean isDone(CompletableFuture<?> future, Duration limit) {
		try {
			future.get(limit.toMillis(), TimeUnit.MILLISECONDS);
			return true;
		}
		catch (TimeoutException ex) {
			return false;
		}
		catch (Exception ex) {
			return true;
		}
	}

	private MongoLockRepository repository() {
		return new MongoLockRepository(this.factory, this.place.settings());
	}

	private static long millis(long start) {
		return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
	}

	/**
	 * A transaction under a lock whose lease ends before the commit. It uses the store
	 * directly: the engine would refuse the commit by its own clock.
	 */
	private final class CommitCheck {

		private final String name;

		private final LeaseKey key;

		private final MongoLockRepository repository = repository();

		CommitCheck(String name) {
			this.name = FeatureChecks.this.place.prefix() + name;
			this.key = new LeaseKey(this.name, UUID.randomUUID().toString());
		}

		private AcquireAnswer acquire(MongoLockRepository repository, LeaseKey key) {
			return repository.acquire(new AcquireRequest(key, SHORT, "dblock-check", "check", "check", TIMEOUT));
		}

		/**
		 * Take the lock over in another thread, as soon as the lease has ended.
		 */
		CompletableFuture<Void> takeOver() {
			return CompletableFuture.runAsync(() -> {
				MongoLockRepository next = repository();
				while (!(acquire(next,
						new LeaseKey(this.name, UUID.randomUUID().toString())) instanceof AcquireAnswer.Granted)) {
					Contender.sleep(100);
				}
			});
		}

		Outcome commit(Runnable beforeFence, Runnable afterFence) {
			MongoTransactionManager manager = new MongoTransactionManager(FeatureChecks.this.factory);
			TransactionFence fence = this.repository.fenceFor(manager);
			Assert.state(fence != null, "Transactions of this server are not fenced");
			fence.prepare();
			AcquireAnswer answer = acquire(this.repository, this.key);
			long token = ((AcquireAnswer.Granted) answer).token();
			Outcome outcome = new TransactionTemplate(manager).execute((status) -> {
				new MongoTemplate(FeatureChecks.this.factory).insert(marker(), fences());
				beforeFence.run();
				TransactionFence.Written written = fence.write(this.key, token, 0);
				if (written.outcome() != Outcome.DONE) {
					status.setRollbackOnly();
				}
				else {
					afterFence.run();
				}
				return written.outcome();
			});
			return (outcome != null) ? outcome : Outcome.UNKNOWN;
		}

		private String fences() {
			return FeatureChecks.this.place.collection() + ".fences";
		}

		private Document marker() {
			return new Document("_id", new Document("name", this.name).append("slot", "marker"));
		}

		boolean isCommitted() {
			return FeatureChecks.this.server.database().getCollection(fences()).find(marker()).first() != null;
		}

	}

}
