package dev.dblock.core;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

import dev.dblock.ForeignDocumentException;
import dev.dblock.LockInfo;
import dev.dblock.LockPage;
import dev.dblock.claim.Claim;
import dev.dblock.claim.ClaimRecord;
import dev.dblock.claim.ClaimRecords;
import dev.dblock.core.Request.Kind;
import dev.dblock.job.JobDecision;
import dev.dblock.job.StoredJob;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.ListRequest;
import dev.dblock.store.LockRepository;
import dev.dblock.store.LockRepository.AcquireAnswer;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.store.ReleaseFeed;
import dev.dblock.store.TransactionFence;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.reactive.TransactionContext;

/**
 * A store that keeps the contract of {@link LockRepository} by a server clock of its own,
 * and whose requests fail as a test has scripted.
 */
final class InMemoryLockRepository implements LockRepository, ClaimRecords {

	/**
	 * Requests for names with this prefix are neither counted nor disturbed.
	 */
	static final String UNSEEN = "unseen-";

	private static final long TOKENS_PER_MILLI = 1024;

	private static final long ALLOWANCE_MILLIS = 500;

	private static final long DRIFT = 1000;

	private final LongSupplier serverMillis;

	private final Map<String, Document> documents = new TreeMap<>();

	private final List<Request> requests = Collections.synchronizedList(new ArrayList<>());

	private final Map<Kind, Queue<Fault>> nextFaults = new EnumMap<>(Kind.class);

	private final List<Rule> rules = new CopyOnWriteArrayList<>();

	private volatile ReleaseFeed feed = ReleaseFeed.NONE;

	private volatile Function<PlatformTransactionManager, @Nullable TransactionFence> fences = (manager) -> null;

	private volatile @Nullable TransactionFence reactiveFence;

	InMemoryLockRepository(LongSupplier serverMillis) {
		this.serverMillis = serverMillis;
		for (Kind kind : Kind.values()) {
			this.nextFaults.put(kind, new ConcurrentLinkedQueue<>());
		}
	}

	/**
	 * Let the next requests of a kind fail, one after another.
	 */
	void next(Kind kind, Fault... faults) {
		this.nextFaults.get(kind).addAll(List.of(faults));
	}

	/**
	 * Let all requests of a kind fail until {@link #heal()}.
	 */
	void always(Kind kind, Fault fault) {
		always((request) -> request.kind() == kind, fault);
	}

	void always(Predicate<Request> which, Fault fault) {
		this.rules.add(new Rule(which, fault));
	}

	void heal() {
		this.nextFaults.values().forEach(Queue::clear);
		this.rules.clear();
	}

	List<Request> requests(Kind kind) {
		synchronized (this.requests) {
			return this.requests.stream().filter((request) -> request.kind() == kind).toList();
		}
	}

	int count(Kind kind) {
		return requests(kind).size();
	}

	List<Request> requests(Kind kind, String name) {
		return requests(kind).stream().filter((request) -> request.isAbout(name)).toList();
	}

	int count(Kind kind, String name) {
		return requests(kind, name).size();
	}

	@SuppressWarnings("unchecked")
	private <T> T serve(Kind kind, List<LeaseKey> leases, Duration timeout, Supplier<T> store) {
		if (leases.stream().allMatch((lease) -> lease.name().startsWith(UNSEEN))) {
			synchronized (this.documents) {
				return store.get();
			}
		}
		Request request = new Request(kind, leases, timeout, Thread.currentThread().getName());
		Fault fault = faultOf(request);
		if (fault == null) {
			// Together, so that a test that has counted a request sees its effect
			synchronized (this.documents) {
				this.requests.add(request);
				return store.get();
			}
		}
		this.requests.add(request);
		return (T) fault.answer(request, () -> {
			synchronized (this.documents) {
				return store.get();
			}
		});
	}

	private @Nullable Fault faultOf(Request request) {
		Fault fault = this.nextFaults.get(request.kind()).poll();
		for (Rule rule : this.rules) {
			if (fault == null && rule.which().test(request)) {
				fault = rule.fault();
			}
		}
		return fault;
	}

	private <T> T serve(Kind kind, String name, Supplier<T> store) {
		return serve(kind, List.of(new LeaseKey(name, "")), Duration.ZERO, store);
	}

	@Override
	public AcquireAnswer acquire(AcquireRequest request) {
		return serve(Kind.ACQUIRE, List.of(request.key()), request.timeout(), () -> grantOrRefuse(request));
	}

	private AcquireAnswer grantOrRefuse(AcquireRequest request) {
		if (request.key().permit() == 0) {
			return grantAnyOrRefuse(request);
		}
		long now = now();
		String name = request.key().id();
		Document document = this.documents.computeIfAbsent(name, (key) -> new Document());
		if (document.foreign) {
			throw new ForeignDocumentException(name, "memory");
		}
		boolean mine = request.key().holder().equals(document.holder) && document.isTaken(now);
		ClaimRecord.Request claim = request.claimRequest();
		JobDecision decision = (claim != null && !mine)
				? JobDecision.of(claim, document.job(claim.id()), document.state(now), null, now) : null;
		if (!mine && (document.isTaken(now) || (decision != null && !decision.granted())
				|| (request.key().permits() == 0 && document.permits > 1))) {
			return new AcquireAnswer.Refused(document.info(name, now), (decision != null) ? decision.refusal() : null);
		}
		if (!mine) {
			document.grant(request, now);
		}
		if (decision != null) {
			document.jobs.put(claim.id(), document.job(claim.id()).granted(decision, claim, document.token, now));
		}
		return new AcquireAnswer.Granted(document.token - request.tokens() + 1, document.token,
				Instant.ofEpochMilli(document.acquiredAt), false,
				(claim != null) ? document.job(claim.id()).claimed(claim.id()) : null, request.key().permit(),
				(request.key().permits() > 0 && document.earlierPermits != document.permits) ? document.earlierPermits
						: 0);
	}

	private AcquireAnswer grantAnyOrRefuse(AcquireRequest request) {
		List<LockInfo> held = new ArrayList<>();
		for (int permit = 1; permit <= request.key().permits(); permit++) {
			AcquireAnswer answer = grantOrRefuse(request.forPermit(permit));
			if (!(answer instanceof AcquireAnswer.Refused refused)) {
				return answer;
			}
			held.add(refused.lock());
		}
		return new AcquireAnswer.Refused(held);
	}

	@Override
	public Optional<ClaimRecords> claims() {
		return Optional.of(this);
	}

	@Override
	public void pause(String name, Claim.Key key, String by) {
		synchronized (this.documents) {
			Document document = this.documents.computeIfAbsent(name, (missing) -> new Document());
			document.jobs.put(key.id(), document.job(key.id()).pausedBy(by, now()));
		}
	}

	@Override
	public boolean resume(String name, Claim.Key key) {
		synchronized (this.documents) {
			Document document = this.documents.get(name);
			boolean paused = document != null && document.job(key.id()).paused();
			if (paused) {
				document.jobs.put(key.id(), document.job(key.id()).resumed(now()));
			}
			return paused;
		}
	}

	@Override
	public Optional<ClaimRecord.Status> expire(String name, ClaimRecord.Request request, @Nullable Duration limit) {
		synchronized (this.documents) {
			Document document = this.documents.computeIfAbsent(name, (missing) -> new Document());
			StoredJob expired = document.job(request.id()).expired(request, document.state(now()), now());
			if (expired == null) {
				return Optional.empty();
			}
			document.jobs.put(request.id(), expired);
			return find(name, request.key(), limit);
		}
	}

	@Override
	public Optional<ClaimRecord.Status> find(String name, Claim.Key key, @Nullable Duration limit) {
		synchronized (this.documents) {
			return Optional.ofNullable(this.documents.get(name))
				.map((document) -> document.job(key.id())
					.toStatus(key.id(), document.state(now()), document.heldBy(now()), now()));
		}
	}

	@Override
	public Map<LeaseKey, Optional<LockInfo>> renew(List<LeaseKey> leases, Duration timeout) {
		return serve(Kind.RENEW, List.copyOf(leases), timeout, () -> {
			Map<LeaseKey, Optional<LockInfo>> gone = new HashMap<>();
			for (LeaseKey lease : leases) {
				Document document = this.documents.get(lease.id());
				if (document == null || !document.prolong(lease, document.leaseMillis, now())) {
					gone.put(lease, Optional.ofNullable(document).map((found) -> found.info(lease.id(), now())));
				}
			}
			return gone;
		});
	}

	@Override
	public boolean extend(LeaseKey lease, Duration atLeast, Duration timeout) {
		return serve(Kind.EXTEND, List.of(lease), timeout, () -> {
			Document document = this.documents.get(lease.id());
			return document != null && document.prolong(lease, atLeast.toMillis(), now());
		});
	}

	@Override
	public boolean extendExactly(LeaseKey lease, Duration duration, Duration timeout) {
		return serve(Kind.EXTEND, List.of(lease), timeout, () -> {
			Document document = this.documents.get(lease.id());
			return document != null && document.endExactly(lease, duration.toMillis(), now());
		});
	}

	@Override
	public boolean release(LeaseKey lease, Duration minHoldLeft, FenceMark mark, Claim.@Nullable End end,
			Duration timeout) {
		return serve(Kind.RELEASE, List.of(lease), timeout, () -> {
			Document document = lease.ids()
				.stream()
				.map(this.documents::get)
				.filter((each) -> each != null && lease.holder().equals(each.holder))
				.findAny()
				.orElse(null);
			if (document == null) {
				return false;
			}
			if (end != null) {
				document.jobs.replaceAll((id, job) -> job.ended(lease.holder(), end, now()));
			}
			document.holder = null;
			document.releasedAt = now();
			document.fenceMark = mark;
			document.expiresAt = minHoldLeft.isZero() ? null : Long.valueOf(now() + minHoldLeft.toMillis());
			return true;
		});
	}

	boolean release(LeaseKey lease, Duration minHoldLeft, Duration timeout) {
		return release(lease, minHoldLeft, FenceMark.KEEP, null, timeout);
	}

	@Override
	public Optional<LockInfo> find(String name) {
		return find(name, Duration.ZERO);
	}

	@Override
	public Optional<LockInfo> find(String name, Duration timeout) {
		return serve(Kind.FIND, List.of(new LeaseKey(name, "")), timeout, () -> look(name));
	}

	private Optional<LockInfo> look(String name) {
		Document document = this.documents.get(name);
		if (document == null) {
			return Optional.empty();
		}
		if (document.foreign) {
			throw new ForeignDocumentException(name, "memory");
		}
		return Optional.of(document.info(name, now()));
	}

	@Override
	public LockPage findAll(ListRequest request) {
		return serve(Kind.LIST, request.prefix(), () -> {
			List<LockInfo> found = this.documents.entrySet()
				.stream()
				.filter((entry) -> entry.getKey().startsWith(request.prefix()) && !entry.getValue().foreign)
				.filter((entry) -> entry.getKey().compareTo(request.after()) > 0)
				.map((entry) -> entry.getValue().info(entry.getKey(), now()))
				.filter((lock) -> request.released() || !lock.remaining().isZero())
				.limit(request.limit() + 1L)
				.toList();
			int size = Math.min(found.size(), request.limit());
			return new LockPage(found.subList(0, size), found.size() > size);
		});
	}

	@Override
	public boolean forceRelease(String name) {
		return serve(Kind.FORCE, name, () -> {
			Document document = this.documents.get(name);
			if (document == null || document.holder == null) {
				return false;
			}
			document.endRunByForce(now());
			document.holder = null;
			return true;
		});
	}

	@Override
	public boolean forceReleaseNow(String name) {
		return serve(Kind.FORCE, name, () -> {
			Document document = this.documents.get(name);
			if (document == null || (document.holder == null && !document.isTaken(now()))) {
				return false;
			}
			document.endRunByForce(now());
			document.holder = null;
			document.expiresAt = null;
			document.releasedAt = now();
			return true;
		});
	}

	@Override
	public @Nullable TransactionFence fenceFor(PlatformTransactionManager manager) {
		return this.fences.apply(manager);
	}

	@Override
	public @Nullable TransactionFence fenceFor(TransactionContext transaction) {
		return this.reactiveFence;
	}

	/**
	 * Fence reactive transactions.
	 */
	void fenceReactive(TransactionFence fence) {
		this.reactiveFence = fence;
	}

	/**
	 * Fence the transactions of some managers.
	 */
	void fence(Function<PlatformTransactionManager, @Nullable TransactionFence> fences) {
		this.fences = fences;
	}

	/**
	 * Returns the mark for the fence of the last release of a lock.
	 */
	@Nullable FenceMark fenceMark(String name) {
		synchronized (this.documents) {
			return this.documents.get(name).fenceMark;
		}
	}

	@Override
	public ReleaseFeed releases() {
		return this.feed;
	}

	/**
	 * Notify engines that are created from now on of releases.
	 */
	void notifyBy(ReleaseFeed feed) {
		this.feed = feed;
	}

	/**
	 * The state of a lock, looked at without a request.
	 */
	LockInfo peek(String name) {
		synchronized (this.documents) {
			return look(name).orElseThrow(() -> new AssertionError("There is no document of " + name));
		}
	}

	boolean isHeld(String name) {
		synchronized (this.documents) {
			return look(name).filter(LockInfo::held).isPresent();
		}
	}

	void putForeign(String name) {
		synchronized (this.documents) {
			Document document = new Document();
			document.foreign = true;
			this.documents.put(name, document);
		}
	}

	void delete(String name) {
		synchronized (this.documents) {
			this.documents.remove(name);
		}
	}

	private long now() {
		return this.serverMillis.getAsLong();
	}

	private static @Nullable Instant instant(@Nullable Long millis) {
		return (millis != null) ? Instant.ofEpochMilli(millis) : null;
	}

	private record Rule(Predicate<Request> which, Fault fault) {
	}

	private static final class Document {

		private boolean foreign;

		private @Nullable String holder;

		private @Nullable String acquirer;

		private @Nullable String thread;

		private @Nullable String why;

		private long token;

		private @Nullable Long acquiredAt;

		private @Nullable Long updatedAt;

		private @Nullable Long expiresAt;

		private @Nullable Long releasedAt;

		private long leaseMillis;

		private @Nullable FenceMark fenceMark;

		private int permits;

		private int earlierPermits;

		private final Map<String, StoredJob> jobs = new HashMap<>();

		StoredJob job(String id) {
			return this.jobs.getOrDefault(id, StoredJob.EMPTY);
		}

		void endRunByForce(long now) {
			String by = this.holder;
			if (by != null) {
				this.jobs.replaceAll((id, job) -> job.ended(by, null, now));
			}
		}

		ClaimRecord.LockState state(long now) {
			return new ClaimRecord.LockState(this.holder, isTaken(now), this.token,
					(this.expiresAt != null) ? this.expiresAt : 0, (this.acquiredAt != null) ? this.acquiredAt : 0);
		}

		@Nullable String heldBy(long now) {
			return (isTaken(now) && this.holder != null) ? this.acquirer : null;
		}

		boolean isTaken(long now) {
			return this.expiresAt != null && this.expiresAt > now;
		}

		void grant(AcquireRequest request, long now) {
			this.holder = request.key().holder();
			this.acquirer = request.acquirer();
			this.thread = request.thread();
			this.why = request.why();
			this.token = Math.max(this.token + 1, now * TOKENS_PER_MILLI) + request.tokens() - 1;
			this.acquiredAt = now;
			this.updatedAt = now;
			this.leaseMillis = request.lease().toMillis();
			this.expiresAt = endOf(this.leaseMillis, now);
			this.releasedAt = null;
			if (request.key().permits() > 0) {
				this.earlierPermits = this.permits;
				this.permits = request.key().permits();
			}
		}

		boolean prolong(LeaseKey lease, long millis, long now) {
			if (!lease.holder().equals(this.holder) || !isTaken(now)) {
				return false;
			}
			long known = (this.expiresAt != null) ? this.expiresAt : now;
			this.expiresAt = Math.max(known, endOf(millis, now));
			this.updatedAt = now;
			return true;
		}

		boolean endExactly(LeaseKey lease, long millis, long now) {
			boolean held = prolong(lease, millis, now);
			if (held) {
				this.expiresAt = endOf(millis, now);
			}
			return held;
		}

		private static long endOf(long leaseMillis, long now) {
			return now + leaseMillis + ALLOWANCE_MILLIS + leaseMillis / DRIFT;
		}

		LockInfo info(String name, long now) {
			long left = (this.expiresAt != null) ? Math.max(0, this.expiresAt - now) : 0;
			return new LockInfo(name, this.holder != null && left > 0, this.holder, this.acquirer, this.thread,
					this.why, this.token, instant(this.acquiredAt), instant(this.updatedAt), instant(this.expiresAt),
					instant(this.releasedAt), Duration.ofMillis(left), this.permits);
		}

	}

}
