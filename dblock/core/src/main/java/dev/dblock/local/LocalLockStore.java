package dev.dblock.local;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;
import java.util.function.LongSupplier;

import dev.dblock.LockInfo;
import dev.dblock.LockPage;
import dev.dblock.claim.Claim;
import dev.dblock.claim.ClaimRecord;
import dev.dblock.claim.ClaimRecords;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.ListRequest;
import dev.dblock.store.LockRepository.AcquireAnswer;
import dev.dblock.store.ReleaseFeed;
import org.jspecify.annotations.Nullable;

/**
 * Lock store in memory. The locks exclude only callers that share this store. Each engine
 * needs a {@link LocalLockRepository} of its own for it.
 * <p>
 * Its clock is the monotonic one of the process, started at the wall clock's time. So
 * neither the clock nor the tokens ever go back. Names that are no longer used are
 * removed when there are more than a thousand of them.
 */
public final class LocalLockStore implements ClaimRecords {

	private static final int ROOM = 1000;

	private final LongSupplier clock;

	private final NavigableMap<String, LocalLock> locks = new TreeMap<>();

	private final List<ReleaseFeed.Listener> listeners = new CopyOnWriteArrayList<>();

	private int roomForNames = ROOM;

	/**
	 * Create a store without any locks.
	 */
	public LocalLockStore() {
		this(monotonicMillis());
	}

	LocalLockStore(LongSupplier clock) {
		this.clock = clock;
	}

	private static LongSupplier monotonicMillis() {
		long wallMillis = System.currentTimeMillis();
		long start = System.nanoTime();
		return () -> wallMillis + (System.nanoTime() - start) / 1_000_000;
	}

	/**
	 * Expire the lease or the minimum hold that makes a lock unavailable, as if its time
	 * were over. The holder is not notified. It detects the loss when it renews, like a
	 * holder that was paused for too long.
	 * @param name the full name of the lock
	 * @return whether the lock was unavailable
	 */
	public boolean expire(String name) {
		return endIn(name, Duration.ZERO);
	}

	/**
	 * Grant a lock even if it is unavailable, as if the lease or the minimum hold had
	 * just ended. The holder is not notified. It detects the loss when it renews, like a
	 * holder that was paused for too long.
	 * @param request the request
	 * @return the grant
	 */
	public AcquireAnswer takeOver(AcquireRequest request) {
		synchronized (this.locks) {
			change(request.key().id(), (lock, now) -> lock.endIn(Duration.ZERO, now));
			return acquire(request);
		}
	}

	boolean endIn(String name, Duration left) {
		return free(name, (lock, now) -> lock.endIn(left, now));
	}

	long now() {
		return this.clock.getAsLong();
	}

	AcquireAnswer acquire(AcquireRequest request) {
		synchronized (this.locks) {
			if (this.locks.size() >= this.roomForNames) {
				forgetUnused();
				this.roomForNames = Math.max(ROOM, 2 * this.locks.size());
			}
			return (request.key().permit() == 0) ? acquireAny(request) : acquireOne(request);
		}
	}

	private AcquireAnswer acquireOne(AcquireRequest request) {
		return this.locks.computeIfAbsent(request.key().id(), (id) -> new LocalLock()).acquire(request, now());
	}

	private AcquireAnswer acquireAny(AcquireRequest request) {
		List<LockInfo> held = new ArrayList<>();
		for (int permit = 1; permit <= request.key().permits(); permit++) {
			AcquireAnswer answer = acquireOne(request.forPermit(permit));
			if (!(answer instanceof AcquireAnswer.Refused refused)) {
				return answer;
			}
			held.add(refused.lock());
		}
		return new AcquireAnswer.Refused(held);
	}

	void forgetUnused() {
		synchronized (this.locks) {
			long now = now();
			this.locks.values().removeIf((lock) -> lock.isForgettable(now));
		}
	}

	Map<LeaseKey, Optional<LockInfo>> renew(List<LeaseKey> leases) {
		Map<LeaseKey, Optional<LockInfo>> gone = new HashMap<>();
		synchronized (this.locks) {
			long now = now();
			for (LeaseKey lease : leases) {
				LocalLock lock = this.locks.get(lease.id());
				if (lock == null || !lock.renew(lease.holder(), now)) {
					gone.put(lease, Optional.ofNullable(lock).map((found) -> found.info(lease.id(), now)));
				}
			}
		}
		return gone;
	}

	@Override
	public Optional<ClaimRecord.Status> find(String name, Claim.Key key, @Nullable Duration limit) {
		return read(name, (lock, now) -> lock.status(key, now));
	}

	@Override
	public Optional<ClaimRecord.Status> expire(String name, ClaimRecord.Request request, @Nullable Duration limit) {
		synchronized (this.locks) {
			LocalLock lock = this.locks.computeIfAbsent(name, (missing) -> new LocalLock());
			return Optional.ofNullable(lock.expire(request, now()));
		}
	}

	@Override
	public void pause(String name, Claim.Key key, String by) {
		synchronized (this.locks) {
			this.locks.computeIfAbsent(name, (missing) -> new LocalLock()).pause(key, by, now());
		}
	}

	@Override
	public boolean resume(String name, Claim.Key key) {
		return change(name, (lock, now) -> lock.resume(key, now));
	}

	/**
	 * Remove all run records, including the pauses of jobs.
	 */
	public void forgetJobs() {
		synchronized (this.locks) {
			this.locks.values().forEach(LocalLock::forgetRecords);
		}
	}

	boolean change(String name, BiPredicate<LocalLock, Long> change) {
		return read(name, change::test).orElse(false);
	}

	/**
	 * Change a lock in a way that can make it free.
	 */
	boolean free(String name, BiPredicate<LocalLock, Long> change) {
		boolean changed = change(name, change);
		if (changed) {
			// Not under the monitor, since the listeners acquire monitors of their own
			this.listeners.forEach((listener) -> listener.released(name));
		}
		return changed;
	}

	<T> Optional<T> read(String name, BiFunction<LocalLock, Long, T> reading) {
		synchronized (this.locks) {
			return Optional.ofNullable(this.locks.get(name)).map((lock) -> reading.apply(lock, now()));
		}
	}

	LockPage findAll(ListRequest request) {
		List<LockInfo> found = new ArrayList<>();
		synchronized (this.locks) {
			long now = now();
			boolean first = request.after().compareTo(request.prefix()) < 0;
			for (Map.Entry<String, LocalLock> lock : this.locks
				.tailMap(first ? request.prefix() : request.after(), first)
				.entrySet()) {
				if (!lock.getKey().startsWith(request.prefix())) {
					break;
				}
				LockInfo info = lock.getValue().info(lock.getKey(), now);
				if (request.released() || !info.remaining().isZero()) {
					if (found.size() == request.limit()) {
						return new LockPage(found, true);
					}
					found.add(info);
				}
			}
		}
		return new LockPage(found, false);
	}

	void addListener(ReleaseFeed.Listener listener) {
		this.listeners.add(listener);
	}

	void removeListener(ReleaseFeed.Listener listener) {
		this.listeners.remove(listener);
	}

}
