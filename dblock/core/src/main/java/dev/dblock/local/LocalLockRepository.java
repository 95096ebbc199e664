package dev.dblock.local;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

import dev.dblock.LockInfo;
import dev.dblock.LockPage;
import dev.dblock.claim.ClaimRecords;
import dev.dblock.claim.Claim;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.ListRequest;
import dev.dblock.store.LockRepository;
import dev.dblock.store.LockRepository.AcquireAnswer;
import dev.dblock.store.LockRepository.AskAnswer;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.store.LockRepository.StoreTime;
import dev.dblock.store.ReleaseFeed;
import dev.dblock.store.TransactionFence;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.PlatformTransactionManager;

/**
 * Access of one engine to a {@link LocalLockStore}. It fulfills the same contract as the
 * repository on MongoDB, with three differences. No request fails or takes long, so time
 * limits have no effect. There is only one clock, so there is no clock allowance.
 * Transactions cannot be fenced, so a commit is refused based on what this process knows
 * of its lease.
 */
public final class LocalLockRepository implements LockRepository {

	private final LocalLockStore store;

	private final ReleaseFeed releases = new LocalReleaseFeed();

	/**
	 * Create a repository for an engine.
	 * @param store the store, which several engines can share
	 */
	public LocalLockRepository(LocalLockStore store) {
		this.store = store;
	}

	@Override
	public AcquireAnswer acquire(AcquireRequest request) {
		return this.store.acquire(request);
	}

	@Override
	public Map<LeaseKey, Optional<LockInfo>> renew(List<LeaseKey> leases, Duration timeout) {
		return this.store.renew(leases);
	}

	@Override
	public boolean extend(LeaseKey lease, Duration atLeast, Duration timeout) {
		return this.store.change(lease.id(), (lock, now) -> lock.extend(lease.holder(), atLeast, now));
	}

	@Override
	public boolean extendExactly(LeaseKey lease, Duration duration, Duration timeout) {
		return this.store.change(lease.id(), (lock, now) -> lock.extendExactly(lease.holder(), duration, now));
	}

	@Override
	public boolean release(LeaseKey lease, Duration minHoldLeft, FenceMark mark, Claim.@Nullable End end,
			Duration timeout) {
		boolean released = false;
		for (String id : lease.ids()) {
			released |= this.store.free(id, (lock, now) -> lock.release(lease.holder(), minHoldLeft, end, now));
		}
		return released;
	}

	@Override
	public AskAnswer ask(String name, String id, Duration timeout) {
		return this.store.read(name, (lock, now) -> lock.ask(id, now)).orElse(AskAnswer.NO_HOLDER);
	}

	@Override
	public Optional<String> closeRequests(LeaseKey lease, @Nullable String seen, Duration timeout) {
		return this.store.read(lease.id(), (lock, now) -> lock.closeRequests(lease.holder(), seen))
			.flatMap(Function.identity());
	}

	@Override
	public Optional<LockInfo> find(String name) {
		return this.store.read(name, (lock, now) -> lock.info(name, now));
	}

	@Override
	public Optional<LockInfo> find(String name, Duration timeout) {
		return find(name);
	}

	@Override
	public LockPage findAll(ListRequest request) {
		return this.store.findAll(request);
	}

	@Override
	public boolean forceRelease(String name) {
		return this.store.free(name, LocalLock::forceRelease);
	}

	@Override
	public boolean forceReleaseNow(String name) {
		return this.store.free(name, LocalLock::forceReleaseNow);
	}

	@Override
	public Optional<StoreTime> time(Duration timeout) {
		Instant now = Instant.ofEpochMilli(this.store.now());
		return Optional.of(new StoreTime(now, now));
	}

	@Override
	public @Nullable TransactionFence fenceFor(PlatformTransactionManager manager) {
		return null;
	}

	@Override
	public Optional<ClaimRecords> claims() {
		return Optional.of(this.store);
	}

	@Override
	public ReleaseFeed releases() {
		return this.releases;
	}

	@Override
	public String toString() {
		return "memory (only inside this application)";
	}

	/**
	 * Reports releases in the store to the engine, in the thread that releases the lock.
	 */
	private final class LocalReleaseFeed implements ReleaseFeed {

		private @Nullable Listener open;

		@Override
		public void open(Listener listener) {
			synchronized (this) {
				if (this.open != null) {
					return;
				}
				this.open = listener;
				LocalLockRepository.this.store.addListener(listener);
			}
			listener.listening();
		}

		@Override
		public synchronized void close(Duration atMost) {
			if (this.open != null) {
				LocalLockRepository.this.store.removeListener(this.open);
				this.open = null;
			}
		}

	}

}
