package dev.dblock.simulation;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import com.mongodb.MongoInterruptedException;
import com.mongodb.MongoNotPrimaryException;
import com.mongodb.MongoOperationTimeoutException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.ServerAddress;
import dev.dblock.LockInfo;
import dev.dblock.job.JobRun;
import dev.dblock.mongodb.MongoLockRepository;
import dev.dblock.mongodb.MongoLockSettings;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.simulation.scheduler.Redirects;
import dev.dblock.simulation.scheduler.Scheduler;
import dev.dblock.simulation.scheduler.SimulatedThread;
import dev.dblock.simulation.server.Connection;
import dev.dblock.simulation.server.SimulatedDriver;
import dev.dblock.simulation.server.SimulatedServer;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository;
import dev.dblock.store.Permits;
import org.bson.BsonArray;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * A simulated MongoDB server, of which the network carries the commands of the unchanged
 * {@link MongoLockRepository}. What happens to the locks is read from the documents.
 */
final class MongoStore implements Store {

	private static final String DATABASE = "simulated";

	private static final int BUSY_ONE_OF = 30;

	private static final long LONGEST_BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

	/** How often a server checks whether a majority has a change. */
	private static final long MAJORITY_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

	private static final long LONGEST_ELECTION_NANOS = TimeUnit.SECONDS.toNanos(2);

	private static final long LONGEST_STALE_NANOS = TimeUnit.SECONDS.toNanos(4);

	/**
	 * With a suspension that is not noticed, all differences are within the allowance.
	 */
	private static final long CLOCKS_MILLIS = 100;

	private final World world;

	private final Scheduler scheduler;

	private final MongoLockSettings settings;

	private final boolean pipelines;

	/** What a majority of the members has. */
	private final Map<String, Map<BsonValue, BsonDocument>> committed = new LinkedHashMap<>();

	/** The member to which an instance is connected, which can be a former primary. */
	private final Map<Instance, Member> connected = new HashMap<>();

	private Member primary;

	/** Without a primary until then. */
	private long electedAt;

	/** The requests by the ids of their attempts, and who has sent them. */
	private final Map<String, Asked> asked = new HashMap<>();

	private final Map<SimulatedThread, LeaseKey> releasing = new HashMap<>();

	private final Map<Instance, Ledger> ledgers = new HashMap<>();

	private final List<SimulatedThread> waiting = new ArrayList<>();

	MongoStore(World world, boolean pipelines) {
		this.world = world;
		this.scheduler = world.scheduler();
		this.pipelines = pipelines;
		this.settings = new MongoLockSettings("dblock_locks", NetworkRepository.KEPT, Duration.ofDays(7),
				Duration.ofSeconds(10), StatementDialect.AUTO, true);
		this.primary = new Member(null);
	}

	@Override
	public LockRepository open(Instance instance) {
		Connection connection = new Connection() {

			@Override
			public BsonDocument send(BsonDocument command, Duration limit) {
				return MongoStore.this.send(instance, command, limit);
			}

			@Override
			public int election() {
				return connected(instance).election;
			}

		};
		SimulatedDriver driver = new SimulatedDriver(connection, DATABASE);
		MongoLockRepository repository = new MongoLockRepository(driver.factory(), this.settings);
		this.ledgers.put(instance, new Ledger(driver, repository, this.world.judge()));
		return (LockRepository) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { LockRepository.class }, (self, method, given) -> {
					SimulatedThread thread = this.scheduler.requireCurrent();
					if (method.getName().equals("acquire")) {
						AcquireRequest request = (AcquireRequest) given[0];
						this.asked.put(request.key().holder(), new Asked(instance, request));
					}
					else if (method.getName().equals("release")) {
						this.releasing.put(thread, (LeaseKey) given[0]);
					}
					try {
						return method.invoke(repository, given);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
					finally {
						this.releasing.remove(thread);
					}
				});
	}

	@Override
	public @Nullable Ledger ledger(Instance instance) {
		return this.ledgers.get(instance);
	}

	/**
	 * Send a command as the driver does: not in an interrupted thread, and an interrupt
	 * meanwhile can end the wait for the answer.
	 */
	private BsonDocument send(Instance instance, BsonDocument command, Duration limit) {
		if (Thread.currentThread().isInterrupted()) {
			throw new MongoInterruptedException("simulated: interrupted before the request", null);
		}
		long end = this.scheduler.now() + limit.toNanos();
		Member member = selectServer(instance, end);
		LeaseKey releases = this.releasing.get(this.scheduler.requireCurrent());
		BsonDocument answer = this.world.network()
			.send(() -> execute(instance, member, command, releases, end), Duration.ofNanos(end - this.scheduler.now()),
					(unused) -> {
					});
		if (Thread.currentThread().isInterrupted() && this.scheduler.random().nextBoolean()) {
			throw new MongoInterruptedException("simulated: interrupted while waiting", null);
		}
		return answer;
	}

	private Member connected(Instance instance) {
		return this.connected.getOrDefault(instance, this.primary);
	}

	private Member selectServer(Instance instance, long end) {
		Member member = connected(instance);
		if (member == this.primary && this.scheduler.now() < this.electedAt) {
			long until = Math.min(end, this.electedAt);
			instance.process().troubled(until);
			this.scheduler.pause(until - this.scheduler.now());
			if (this.scheduler.now() >= end) {
				throw new MongoTimeoutException("Timed out while waiting for a server, simulated");
			}
			return selectServer(instance, end);
		}
		return member;
	}

	/**
	 * Execute a command in a member, which may have to wait there first. What a pipeline
	 * sees as the current time is when it was received. If the client wants it, the
	 * answer waits until a majority has the changes. A command that has changed nothing
	 * waits for those before it, as on a real server.
	 */
	private BsonDocument execute(Instance instance, Member member, BsonDocument command, @Nullable LeaseKey releases,
			long end) {
		long arrival = member.time();
		if (this.world.network().isFaulty() && this.scheduler.random().nextInt(BUSY_ONE_OF) == 0) {
			long busy = this.scheduler.random().nextLong(LONGEST_BUSY_NANOS);
			if (busy > Network.NOTICEABLE_NANOS) {
				instance.process().troubled(this.scheduler.now() + busy);
			}
			this.scheduler.pause(busy);
		}
		if (command.containsKey("getMore")) {
			awaitChanges(member, command);
		}
		boolean streamed = command.containsKey("getMore") || command.containsKey("aggregate");
		if (member.closed || streamed && member != this.primary) {
			instance.process().troubled(this.scheduler.now());
			throw notPrimary();
		}
		this.world.journal().count("command " + command.getFirstKey());
		member.current = new Write(instance, arrival, releases, end, command.containsKey("commitTransaction"));
		BsonDocument answer = member.server.execute(command, arrival);
		Write write = member.current;
		Write last = member.last;
		if (command.containsKey("writeConcern") && last != null) {
			await(member, write, () -> last.pending == 0);
		}
		return answer;
	}

	private void await(Member member, Write write, BooleanSupplier condition) {
		long began = this.scheduler.now();
		while (!condition.getAsBoolean()) {
			if (member.closed) {
				write.instance.process().troubled(this.scheduler.now());
				throw notPrimary();
			}
			if (this.scheduler.now() - began > Network.NOTICEABLE_NANOS) {
				write.instance.process().troubled(this.scheduler.now());
			}
			if (this.scheduler.now() > write.end) {
				throw new MongoOperationTimeoutException("simulated: no majority, or an open transaction");
			}
			this.scheduler.pause(MAJORITY_POLL_NANOS);
		}
	}

	private static MongoNotPrimaryException notPrimary() {
		return new MongoNotPrimaryException(
				new BsonDocument("ok", new BsonDouble(0)).append("code", new BsonInt32(10107))
					.append("errmsg", new BsonString("simulated: not primary")),
				new ServerAddress());
	}

	/**
	 * Elect another member, without the changes that no majority has. The former primary
	 * may not know that for a while, nor some of the instances.
	 */
	@Override
	public void elect() {
		Member former = this.primary;
		if (this.scheduler.now() < this.electedAt + LONGEST_STALE_NANOS) {
			return;
		}
		this.world.journal().add("election");
		this.world.journal().count("elections");
		this.electedAt = this.scheduler.now() + this.scheduler.random().nextLong(LONGEST_ELECTION_NANOS);
		this.primary = new Member(former);
		this.committed.forEach((name, all) -> this.primary.server.load(name, List.copyOf(all.values())));
		this.connected.clear();
		this.world.instances()
			.stream()
			.filter((instance) -> this.scheduler.random().nextBoolean())
			.forEach((instance) -> this.connected.put(instance, former));
		this.scheduler.after(this.scheduler.random().nextLong(LONGEST_STALE_NANOS), () -> {
			this.world.journal().add("former primary steps down");
			former.closed = true;
			this.connected.values().removeIf((member) -> member == former);
			wakeReaders();
		});
		wakeReaders();
	}

	private void awaitChanges(Member member, BsonDocument getMore) {
		SimulatedThread thread = this.scheduler.requireCurrent();
		long end = this.scheduler.now() + TimeUnit.MILLISECONDS.toNanos(getMore.getNumber("maxTimeMS").longValue());
		this.waiting.add(thread);
		while (!member.server.hasChanges(getMore) && this.scheduler.now() < end
				&& !Thread.currentThread().isInterrupted()) {
			Redirects.parkNanos(end - this.scheduler.now());
		}
		this.waiting.remove(thread);
	}

	@Override
	public void disturbReports(Instance instance) {
		this.primary.server.killCursors();
		wakeReaders();
	}

	private void wakeReaders() {
		this.waiting.forEach((thread) -> LockSupport.unpark(thread.thread()));
	}

	private void commit(Write write, String collection, BsonValue id, @Nullable BsonDocument after, Runnable report) {
		write.pending--;
		Map<BsonValue, BsonDocument> all = this.committed.computeIfAbsent(collection, (name) -> new LinkedHashMap<>());
		BsonDocument before = (after != null) ? all.put(id, after) : all.remove(id);
		report.run();
		wakeReaders();
		if (collection.equals(Ledger.COLLECTION) && after != null) {
			this.world.judge().committed(after);
		}
		if (collection.equals(this.settings.collection()) && after != null && id instanceof BsonString name) {
			judge(write, name.getValue(), (before != null) ? before : new BsonDocument(), after);
		}
	}

	private void judge(Write write, String name, BsonDocument before, BsonDocument after) {
		String holder = text(after, "holder");
		String previous = text(before, "holder");
		Asked grant = (holder != null && !holder.equals(previous)) ? this.asked.get(holder) : null;
		if (grant != null) {
			AcquireRequest request = grant.request();
			// The classic dialect reserves no more for a new document
			int tokens = (this.pipelines || after.containsKey("fencePending")) ? request.tokens()
					: Math.min(AcquireRequest.USUAL_TOKENS, request.tokens());
			LeaseKey key = request.key().granted(Permits.numberOf(name, request.key().name()));
			this.world.judge().granted(grant.instance(), key, after.getInt64("token").getValue() - tokens + 1);
		}
		if (write.releases != null && previous != null && holder == null) {
			this.world.judge().released(write.releases, previous);
		}
		long endBefore = date(before, "expiresAt");
		long end = date(after, "expiresAt");
		// A renewal of the classic dialect compares with an earlier time
		if (this.pipelines && holder != null && holder.equals(previous) && endBefore <= write.received
				&& end > endBefore) {
			this.world.judge().revived(name);
		}
		if (end < endBefore) {
			this.world.judge().changed(name);
		}
	}

	private static @Nullable String text(BsonDocument document, String field) {
		return (document.get(field) instanceof BsonString text) ? text.getValue() : null;
	}

	private static long date(BsonDocument document, String field) {
		return document.getDateTime(field, new BsonDateTime(0)).getValue();
	}

	@Override
	public Instant time() {
		return Instant.ofEpochMilli(this.primary.time());
	}

	@Override
	public List<LockInfo> locks() {
		Instant now = time();
		return this.committed.getOrDefault(this.settings.collection(), Map.of())
			.values()
			.stream()
			.filter((document) -> document.isString("_id") && document.containsKey("acquiredAt"))
			.map((document) -> lock(document, now))
			.toList();
	}

	@Override
	public List<JobRun> runs(String name) {
		BsonDocument document = this.committed.getOrDefault(this.settings.collection(), Map.of())
			.getOrDefault(new BsonString(name), new BsonDocument());
		List<JobRun> runs = new ArrayList<>();
		for (BsonValue job : document.getDocument("jobs", new BsonDocument()).values()) {
			BsonDocument record = job.asDocument();
			if (record.containsKey("last")) {
				runs.add(run(name, record.getDocument("last")));
			}
			record.getArray("runs", new BsonArray()).forEach((run) -> runs.add(run(name, run.asDocument())));
		}
		return runs;
	}

	private static JobRun run(String job, BsonDocument run) {
		String outcome = text(run, "outcome");
		return new JobRun(job, Instant.ofEpochMilli(date(run, "planned")), run.getInt32("attempt").getValue(),
				Instant.ofEpochMilli(date(run, "started")),
				run.containsKey("ended") ? Instant.ofEpochMilli(date(run, "ended")) : null,
				(outcome != null) ? JobRun.Outcome.valueOf(outcome) : null, String.valueOf(text(run, "instance")),
				run.getInt64("token").getValue(), text(run, "error"), null, null,
				run.getInt32("shards", new BsonInt32(0)).getValue());
	}

	private static LockInfo lock(BsonDocument document, Instant now) {
		Instant end = Instant.ofEpochMilli(date(document, "expiresAt"));
		String holder = text(document, "holder");
		return new LockInfo(document.getString("_id").getValue(), holder != null && end.isAfter(now), holder,
				text(document, "acquirer"), text(document, "thread"), text(document, "why"),
				document.getInt64("token").getValue(), Instant.ofEpochMilli(date(document, "acquiredAt")), null, end,
				null, end.isAfter(now) ? Duration.between(now, end) : Duration.ZERO);
	}

	/**
	 * A request, and the instance that has sent it.
	 */
	private record Asked(Instance instance, AcquireRequest request) {
	}

	/**
	 * A member of the replica set that is or was the primary, with a clock of its own.
	 */
	private final class Member implements SimulatedServer.ChangeListener {

		private final long aheadMillis = MongoStore.this.scheduler.random().nextLong(-CLOCKS_MILLIS, CLOCKS_MILLIS);

		private final SimulatedServer server;

		private final int election;

		private @Nullable Write current;

		/** The last command that has changed something. */
		private @Nullable Write last;

		/** When a majority has the last change. */
		private long committedAt;

		/** Whether it knows that it is not the primary any more. */
		private boolean closed;

		Member(@Nullable Member former) {
			this.election = (former != null) ? former.election + 1 : 1;
			this.server = (former != null) ? former.server.member(this::time, this)
					: new SimulatedServer(DATABASE, MongoStore.this.pipelines, this::time, this);
		}

		long time() {
			return Redirects.currentTimeMillis() + this.aheadMillis;
		}

		@Override
		public void changed(String collection, @Nullable BsonDocument before, @Nullable BsonDocument after,
				Runnable report) {
			Write write = Objects.requireNonNull(this.current);
			boolean together = write.atomic && write.pending > 0;
			this.last = write;
			write.pending++;
			BsonDocument either = Objects.requireNonNull((after != null) ? after : before);
			Scheduler scheduler = MongoStore.this.scheduler;
			boolean slow = MongoStore.this.world.network().isFaulty() && scheduler.random().nextInt(BUSY_ONE_OF) == 0;
			this.committedAt = together ? this.committedAt : Math.max(this.committedAt,
					scheduler.now() + scheduler.random().nextLong(slow ? LONGEST_BUSY_NANOS : MAJORITY_POLL_NANOS));
			scheduler.after(this.committedAt - scheduler.now(), () -> {
				if (MongoStore.this.primary == this) {
					commit(write, collection, either.getOrDefault("_id", either), after, report);
				}
			});
		}

		/**
		 * Wait for a transaction, while other commands are executed. Its client may lose
		 * a lock meanwhile.
		 */
		@Override
		public void await(BooleanSupplier ended) {
			Write write = Objects.requireNonNull(this.current);
			MongoStore.this.world.journal().count("waits for transactions");
			MongoStore.this.await(this, write, ended);
			write.instance.process().troubled(MongoStore.this.scheduler.now());
			this.current = write;
		}

	}

	/**
	 * The changes of one command.
	 */
	private static final class Write {

		private final Instance instance;

		private final long received;

		private final @Nullable LeaseKey releases;

		private final long end;

		/** Whether a majority has all changes, or none. */
		private final boolean atomic;

		/** How many changes only a minority has. */
		private int pending;

		Write(Instance instance, long received, @Nullable LeaseKey releases, long end, boolean atomic) {
			this.instance = instance;
			this.received = received;
			this.releases = releases;
			this.end = end;
			this.atomic = atomic;
		}

	}

}
