package dev.dblock.core;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import dev.dblock.LockInfo;
import dev.dblock.LockPage;
import dev.dblock.claim.Claim;
import dev.dblock.claim.ClaimRecords;
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
 * One process's connection to a store that notifies all processes of releases.
 */
final class NotifyingRepository implements LockRepository, ReleaseFeed {

	private final LockRepository store;

	private final Set<ReleaseFeed.Listener> listeners;

	private volatile ReleaseFeed.Listener listener;

	NotifyingRepository(LockRepository store) {
		this(store, ConcurrentHashMap.newKeySet());
	}

	private NotifyingRepository(LockRepository store, Set<ReleaseFeed.Listener> listeners) {
		this.store = store;
		this.listeners = listeners;
	}

	NotifyingRepository ofAnotherProcess() {
		return new NotifyingRepository(this.store, this.listeners);
	}

	@Override
	public ReleaseFeed releases() {
		return this;
	}

	@Override
	public void open(ReleaseFeed.Listener listener) {
		this.listener = listener;
		this.listeners.add(listener);
		listener.listening();
	}

	@Override
	public void close(Duration atMost) {
		if (this.listener != null) {
			this.listeners.remove(this.listener);
		}
	}

	@Override
	public boolean release(LeaseKey lease, Duration minHoldLeft, FenceMark mark, Claim.@Nullable End end,
			Duration timeout) {
		boolean released = this.store.release(lease, minHoldLeft, mark, end, timeout);
		this.listeners.forEach((listener) -> listener.released(lease.name()));
		return released;
	}

	@Override
	public @Nullable TransactionFence fenceFor(PlatformTransactionManager manager) {
		return this.store.fenceFor(manager);
	}

	@Override
	public @Nullable TransactionFence fenceFor(TransactionContext transaction) {
		return this.store.fenceFor(transaction);
	}

	@Override
	public Optional<ClaimRecords> claims() {
		return this.store.claims();
	}

	@Override
	public AcquireAnswer acquire(AcquireRequest request) {
		return this.store.acquire(request);
	}

	@Override
	public Map<LeaseKey, Optional<LockInfo>> renew(List<LeaseKey> leases, Duration timeout) {
		return this.store.renew(leases, timeout);
	}

	@Override
	public boolean extendExactly(LeaseKey lease, Duration duration, Duration timeout) {
		return this.store.extendExactly(lease, duration, timeout);
	}

	@Override
	public boolean extend(LeaseKey lease, Duration atLeast, Duration timeout) {
		return this.store.extend(lease, atLeast, timeout);
	}

	@Override
	public Optional<LockInfo> find(String name) {
		return this.store.find(name);
	}

	@Override
	public Optional<LockInfo> find(String name, Duration timeout) {
		return this.store.find(name, timeout);
	}

	@Override
	public LockPage findAll(ListRequest request) {
		return this.store.findAll(request);
	}

	@Override
	public boolean forceRelease(String name) {
		return this.store.forceRelease(name);
	}

	@Override
	public boolean forceReleaseNow(String name) {
		return this.store.forceReleaseNow(name);
	}

}
