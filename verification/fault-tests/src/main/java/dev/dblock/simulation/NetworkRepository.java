package dev.dblock.simulation;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

import dev.dblock.LockInfo;
import dev.dblock.LockPage;
import dev.dblock.claim.Claim;
import dev.dblock.claim.ClaimRecord;
import dev.dblock.claim.ClaimRecords;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.ListRequest;
import dev.dblock.store.LockRepository;
import dev.dblock.store.ReleaseFeed;
import dev.dblock.store.TransactionFence;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * Repository of one instance, whose requests pass the network to a store in memory. The
 * store keeps each lease for longer by the clock allowance, as a server does.
 */
final class NetworkRepository implements LockRepository {

	private static final Duration LONGEST = Duration.ofSeconds(10);

	/** The clock allowance that users have by default. */
	static final Duration KEPT = Duration.ofMillis(500);

	private final Instance instance;

	private final ReleaseFeed feed;

	private final LockRepository store;

	private final Network network;

	private final Judge judge;

	NetworkRepository(Instance instance, ReleaseFeed feed, LockRepository store, Network network, Judge judge) {
		this.instance = instance;
		this.feed = feed;
		this.store = store;
		this.network = network;
		this.judge = judge;
	}

	private <T> T send(Supplier<T> request, Duration limit) {
		return this.network.send(request, limit, (answer) -> {
		});
	}

	@Override
	public AcquireAnswer acquire(AcquireRequest request) {
		AcquireRequest longer = new AcquireRequest(request.key(), request.lease().plus(KEPT), request.acquirer(),
				request.thread(), request.why(), request.timeout(), request.tokens(), request.claim(),
				request.askable());
		Consumer<AcquireAnswer> applied = (answer) -> {
			if (answer instanceof AcquireAnswer.Granted grant) {
				this.judge.granted(this.instance, request.key().granted(grant.permit()), grant.token());
			}
		};
		try {
			return this.network.send(() -> this.store.acquire(longer), request.timeout(), applied);
		}
		catch (DataAccessException ex) {
			this.judge.failed(this.instance, request.key());
			throw ex;
		}
	}

	@Override
	public Map<LeaseKey, Optional<LockInfo>> renew(List<LeaseKey> leases, Duration timeout) {
		List<LeaseKey> sent = List.copyOf(leases);
		return send(() -> {
			List<Duration> before = sent.stream().map(this::left).toList();
			Map<LeaseKey, Optional<LockInfo>> gone = this.store.renew(sent, timeout);
			for (int i = 0; i < sent.size(); i++) {
				this.judge.prolonged(sent.get(i), before.get(i));
			}
			return gone;
		}, timeout);
	}

	@Override
	public boolean extend(LeaseKey lease, Duration atLeast, Duration timeout) {
		return send(() -> {
			Duration before = left(lease);
			boolean held = this.store.extend(lease, atLeast.plus(KEPT), timeout);
			this.judge.prolonged(lease, before);
			return held;
		}, timeout);
	}

	private Duration left(LeaseKey lease) {
		return this.store.find(lease.id()).map(LockInfo::remaining).orElse(Duration.ZERO);
	}

	/**
	 * The request has no effect if a renewal or an extension is applied before it.
	 */
	@Override
	public boolean extendExactly(LeaseKey lease, Duration duration, Duration timeout) {
		List<Optional<Instant>> before = this.network.atServer(() -> changes(lease));
		return this.network.send(
				() -> before.equals(changes(lease)) && this.store.extendExactly(lease, duration.plus(KEPT), timeout),
				timeout, (changed) -> this.judge.changed(lease.id()));
	}

	private List<Optional<Instant>> changes(LeaseKey lease) {
		Optional<LockInfo> lock = this.store.find(lease.id());
		return List.of(lock.map(LockInfo::updatedAt), lock.map(LockInfo::expiresAt));
	}

	@Override
	public boolean release(LeaseKey lease, Duration minHoldLeft, FenceMark mark, Claim.@Nullable End end,
			Duration timeout) {
		return send(() -> {
			List<LockInfo> before = lease.ids().stream().map(this.store::find).flatMap(Optional::stream).toList();
			boolean released = this.store.release(lease, minHoldLeft, mark, end, timeout);
			for (LockInfo lock : before) {
				String holder = lock.holder();
				if (lock.held() && holder != null && !isHolder(lock.name(), holder)) {
					this.judge.released(lease, holder);
				}
			}
			return released;
		}, timeout);
	}

	private boolean isHolder(String name, String holder) {
		return this.store.find(name).filter((lock) -> holder.equals(lock.holder())).isPresent();
	}

	@Override
	public AskAnswer ask(String name, String id, Duration timeout) {
		return send(() -> this.store.ask(name, id, timeout), timeout);
	}

	@Override
	public Optional<String> closeRequests(LeaseKey lease, @Nullable String seen, Duration timeout) {
		return send(() -> this.store.closeRequests(lease, seen, timeout), timeout);
	}

	@Override
	public Optional<ClaimRecords> claims() {
		return this.store.claims().map(Records::new);
	}

	@Override
	public Optional<LockInfo> find(String name) {
		return find(name, LONGEST);
	}

	@Override
	public Optional<LockInfo> find(String name, Duration timeout) {
		return send(() -> this.store.find(name), timeout);
	}

	@Override
	public LockPage findAll(ListRequest request) {
		return send(() -> this.store.findAll(request), LONGEST);
	}

	@Override
	public boolean forceRelease(String name) {
		return send(() -> this.store.forceRelease(name), LONGEST);
	}

	@Override
	public boolean forceReleaseNow(String name) {
		return send(() -> this.store.forceReleaseNow(name), LONGEST);
	}

	@Override
	public Optional<StoreTime> time(Duration timeout) {
		return send(() -> this.store.time(timeout), timeout);
	}

	@Override
	public @Nullable TransactionFence fenceFor(PlatformTransactionManager manager) {
		return null;
	}

	@Override
	public ReleaseFeed releases() {
		return this.feed;
	}

	@Override
	public String toString() {
		return "the simulated store";
	}

	/**
	 * The records of the store, over the same network.
	 */
	private final class Records implements ClaimRecords {

		private final ClaimRecords stored;

		Records(ClaimRecords stored) {
			this.stored = stored;
		}

		@Override
		public Optional<ClaimRecord.Status> find(String lock, Claim.Key key, @Nullable Duration limit) {
			return send(() -> this.stored.find(lock, key, limit), LONGEST);
		}

		@Override
		public Optional<ClaimRecord.Status> expire(String lock, ClaimRecord.Request request, @Nullable Duration limit) {
			return send(() -> this.stored.expire(lock, request, limit), LONGEST);
		}

		@Override
		public void pause(String lock, Claim.Key key, String by) {
			send(() -> {
				this.stored.pause(lock, key, by);
				return true;
			}, LONGEST);
		}

		@Override
		public boolean resume(String lock, Claim.Key key) {
			return send(() -> this.stored.resume(lock, key), LONGEST);
		}

	}

}
