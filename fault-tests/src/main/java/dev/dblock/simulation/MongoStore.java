package dev.dblock.simulation;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import com.mongodb.MongoInterruptedException;
import dev.dblock.LockInfo;
import dev.dblock.mongodb.MongoLockRepository;
import dev.dblock.mongodb.MongoLockSettings;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.simulation.scheduler.Redirects;
import dev.dblock.simulation.scheduler.Scheduler;
import dev.dblock.simulation.scheduler.SimulatedThread;
import dev.dblock.simulation.server.SimulatedDriver;
import dev.dblock.simulation.server.SimulatedServer;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;

/**
 * A simulated MongoDB server, of which the network carries the commands of the unchanged
 * {@link MongoLockRepository}. What happens to the locks is read from the documents.
 */
final class MongoStore implements Store, SimulatedServer.ChangeListener {

	private static final String DATABASE = "simulated";

	private static final int BUSY_ONE_OF = 30;

	private static final long LONGEST_BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

	private final World world;

	private final Scheduler scheduler;

	private final MongoLockSettings settings;

	private final boolean pipelines;

	private final SimulatedServer server;

	/** The requests by the ids of their attempts, and who has sent them. */
	private final Map<String, Asked> asked = new HashMap<>();

	private final Map<SimulatedThread, LeaseKey> releasing = new HashMap<>();

	private final List<SimulatedThread> waiting = new ArrayList<>();

	/** When the command that is executed was received. */
	private long received;

	/** What the sender of the command that is executed releases. */
	private @Nullable LeaseKey released;

	MongoStore(World world, boolean pipelines) {
		this.world = world;
		this.scheduler = world.scheduler();
		this.pipelines = pipelines;
		this.settings = new MongoLockSettings("dblock_locks", world.options().allowance(), Duration.ofDays(7),
				Duration.ofSeconds(10), StatementDialect.AUTO, true);
		this.server = new SimulatedServer(DATABASE, pipelines, Redirects::currentTimeMillis, this);
	}

	@Override
	public LockRepository open(Instance instance) {
		MongoLockRepository repository = new MongoLockRepository(new SimulatedDriver(this::send, DATABASE).factory(),
				this.settings);
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

	/**
	 * Send a command as the driver does: not in an interrupted thread, and an interrupt
	 * meanwhile can end the wait for the answer.
	 */
	private BsonDocument send(BsonDocument command, Duration limit) {
		if (Thread.currentThread().isInterrupted()) {
			throw new MongoInterruptedException("simulated: interrupted before the request", null);
		}
		LeaseKey releases = this.releasing.get(this.scheduler.requireCurrent());
		BsonDocument answer = this.world.network().send(() -> execute(command, releases), limit, (unused) -> {
		});
		if (Thread.currentThread().isInterrupted() && this.scheduler.random().nextBoolean()) {
			throw new MongoInterruptedException("simulated: interrupted while waiting", null);
		}
		return answer;
	}

	/**
	 * Execute a command in the server, which may have to wait there first. What a
	 * pipeline sees as the current time is when it was received.
	 */
	private BsonDocument execute(BsonDocument command, @Nullable LeaseKey releases) {
		long arrival = Redirects.currentTimeMillis();
		if (this.world.network().isFaulty() && this.scheduler.random().nextInt(BUSY_ONE_OF) == 0) {
			this.scheduler.pause(this.scheduler.random().nextLong(LONGEST_BUSY_NANOS));
		}
		if (command.containsKey("getMore")) {
			awaitChanges(command);
		}
		this.received = arrival;
		this.released = releases;
		return this.server.execute(command, arrival);
	}

	private void awaitChanges(BsonDocument getMore) {
		SimulatedThread thread = this.scheduler.requireCurrent();
		long end = this.scheduler.now() + TimeUnit.MILLISECONDS.toNanos(getMore.getNumber("maxTimeMS").longValue());
		this.waiting.add(thread);
		while (!this.server.hasChanges(getMore) && this.scheduler.now() < end
				&& !Thread.currentThread().isInterrupted()) {
			Redirects.parkNanos(end - this.scheduler.now());
		}
		this.waiting.remove(thread);
	}

	@Override
	public void disturbReports(Instance instance) {
		this.server.killCursors();
		wakeReaders();
	}

	private void wakeReaders() {
		this.waiting.forEach((thread) -> LockSupport.unpark(thread.thread()));
	}

	@Override
	public void changed(String collection, @Nullable BsonDocument before, @Nullable BsonDocument after) {
		wakeReaders();
		if (collection.equals(this.settings.collection()) && after != null
				&& after.get("_id") instanceof BsonString id) {
			judge(id.getValue(), (before != null) ? before : new BsonDocument(), after);
		}
	}

	private void judge(String name, BsonDocument before, BsonDocument after) {
		String holder = text(after, "holder");
		String previous = text(before, "holder");
		Asked grant = (holder != null && !holder.equals(previous)) ? this.asked.get(holder) : null;
		if (grant != null) {
			AcquireRequest request = grant.request();
			// The classic dialect reserves no more for a new document
			int tokens = (this.pipelines || after.containsKey("fencePending")) ? request.tokens()
					: Math.min(AcquireRequest.USUAL_TOKENS, request.tokens());
			this.world.judge().granted(grant.instance(), request, after.getInt64("token").getValue() - tokens + 1);
		}
		if (this.released != null && previous != null && holder == null) {
			this.world.judge().released(this.released, previous);
		}
		long endBefore = date(before, "expiresAt");
		long end = date(after, "expiresAt");
		// A renewal of the classic dialect compares with an earlier time
		if (this.pipelines && holder != null && holder.equals(previous) && endBefore <= this.received
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
		return Instant.ofEpochMilli(Redirects.currentTimeMillis());
	}

	@Override
	public List<LockInfo> locks() {
		Instant now = time();
		return this.server.documents(this.settings.collection())
			.values()
			.stream()
			.filter((document) -> document.isString("_id") && document.containsKey("acquiredAt"))
			.map((document) -> lock(document, now))
			.toList();
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

}
