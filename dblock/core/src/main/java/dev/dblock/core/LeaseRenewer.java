package dev.dblock.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

import dev.dblock.LockInfo;
import dev.dblock.LossReason;
import dev.dblock.core.lease.Lease;
import dev.dblock.core.lease.LeaseDeadline;
import dev.dblock.core.lease.LeasedLock;
import dev.dblock.core.lease.LockClock;
import dev.dblock.core.queue.LocalQueue;
import dev.dblock.core.queue.LocalQueues;
import dev.dblock.observation.LockObservations;
import dev.dblock.observation.LockObserver;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository;
import dev.dblock.support.Durations;
import dev.dblock.support.LockMdc;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.QueryTimeoutException;

/**
 * Renews many leases with few requests. A failed request leaves its leases to a later
 * attempt. A request that times out is followed by smaller ones.
 */
final class LeaseRenewer {

	/**
	 * Names of the greatest length result in a request of 5 MB, well below the limit of a
	 * server.
	 */
	static final int MAX_BATCH = 5000;

	private static final int FAILURES_TO_GIVE_UP = 2;

	private static final Duration LONGEST_TIMEOUT = Duration.ofSeconds(30);

	private static final Duration LONGEST_RETRY = Duration.ofSeconds(1);

	private static final Logger logger = LoggerFactory.getLogger(LeaseRenewer.class);

	private final LockRepository repository;

	private final LeaseRegistry registry;

	private final LocalQueues queues;

	private final LeaseLosses losses;

	private final LockObservations observations;

	private final LockClock clock;

	private int limit = MAX_BATCH;

	LeaseRenewer(LockRepository repository, LeaseRegistry registry, LocalQueues queues, LeaseLosses losses,
			LockObservations observations, LockClock clock) {
		this.repository = repository;
		this.registry = registry;
		this.queues = queues;
		this.losses = losses;
		this.observations = observations;
		this.clock = clock;
	}

	/**
	 * Renew the leases in the order in which they end. Must not be called by two threads
	 * at the same time.
	 * @param due the leases
	 */
	void renew(List<Lease> due) {
		List<Lease> waiting = soonestFirst(due);
		int failures = 0;
		while (!waiting.isEmpty() && failures < FAILURES_TO_GIVE_UP) {
			List<Lease> batch = waiting.subList(0, Math.min(this.limit, waiting.size()));
			failures = attempt(List.copyOf(batch)) ? 0 : failures + 1;
			batch.clear();
		}
		retryLater(stillHeld(waiting));
	}

	/**
	 * Sort the leases by their remaining time. It changes during the sort, so it is read
	 * once.
	 */
	private static List<Lease> soonestFirst(List<Lease> leases) {
		Map<Lease, Long> remaining = new IdentityHashMap<>();
		leases.forEach((lease) -> remaining.put(lease, lease.remainingNanos()));
		List<Lease> sorted = new ArrayList<>(leases);
		sorted.sort(Comparator.comparing(remaining::get));
		return sorted;
	}

	private boolean attempt(List<Lease> batch) {
		try {
			renewBatch(batch);
			this.limit = Math.min(MAX_BATCH, this.limit * 2);
			return true;
		}
		catch (QueryTimeoutException ex) {
			this.limit = Math.max(1, batch.size() / 2);
			failed(batch, ex);
		}
		catch (RuntimeException | Error ex) {
			failed(batch, ex);
		}
		return false;
	}

	private void failed(List<Lease> batch, Throwable ex) {
		List<Lease> held = stillHeld(batch);
		if (held.isEmpty()) {
			return;
		}
		retryLater(held);
		this.losses.statistics().notRenewed().add(held.size());
		Lease first = held.get(0);
		Runnable line = () -> logger.warn(
				"{} of this process's locks could not be renewed. The renewal is retried until their leases end, the"
						+ " first ('{}') in {}: {}",
				held.size(), first.key().name(), Durations.readable(Duration.ofNanos(first.remainingNanos())),
				ex.toString());
		if (held.size() == 1) {
			LockMdc.log(first.key().name(), first.token(), line);
		}
		else {
			line.run();
		}
		logger.debug("The renewal failed", ex);
	}

	/**
	 * Return the present leases: some have ended, others were handed over.
	 */
	private List<Lease> stillHeld(List<Lease> leases) {
		return leases.stream().map((lease) -> this.registry.find(lease.key())).filter(Objects::nonNull).toList();
	}

	private void renewBatch(List<Lease> batch) {
		List<LeaseKey> keys = new ArrayList<>(batch.size());
		Duration timeout = LONGEST_TIMEOUT;
		for (Lease lease : batch) {
			Lease present = this.registry.find(lease.key());
			if (present != null && present.isRenewing()) {
				keys.add(lease.key());
				timeout = Durations.shorter(timeout, lease.terms().renewalTimeout());
			}
		}
		if (!keys.isEmpty()) {
			renewKeys(keys, timeout);
		}
	}

	/**
	 * Renew the given keys. A renewal is for an acquisition, whichever of its tokens is
	 * the present one: hand-overs leave the length of the lease as it is. The result
	 * applies to the present lease of each key when the answer arrives. A lease that was
	 * released in the meantime is missing at the store too, but it is not lost.
	 */
	private void renewKeys(List<LeaseKey> keys, Duration timeout) {
		LeaseDeadline sent = LeaseDeadline.from(this.clock, Duration.ZERO);
		Map<LeaseKey, Optional<LockInfo>> gone = this.observations.observe(LockObserver.Activity.RENEW,
				LockObserver.Subject.locks(keys.size()), () -> this.repository.renew(keys, timeout),
				(lost) -> lost.isEmpty() ? LockObserver.Outcome.RENEWED : LockObserver.Outcome.LOST);
		for (LeaseKey key : keys) {
			Optional<LockInfo> now = gone.get(key);
			if (now != null) {
				lose(key, now);
			}
			else {
				prove(key, sent);
			}
		}
	}

	private void prove(LeaseKey key, LeaseDeadline sent) {
		Lease lease = this.registry.find(key);
		if (lease == null) {
			return;
		}
		long leftNanos = lease.remainingNanos();
		lease.trusted().prove(sent.withLease(lease.terms().lease()));
		if (lease.isRenewing() && leftNanos < lease.terms().lease().toNanos() / 3) {
			this.losses.nearlyLost(lease, Duration.ofNanos(Math.max(0, leftNanos)));
		}
	}

	private void lose(LeaseKey key, Optional<LockInfo> now) {
		boolean mine = now.filter((lock) -> key.holder().equals(lock.holder())).isPresent();
		LossReason reason = mine ? LossReason.EXPIRED : LossReason.TAKEN_OVER;
		Ended ended = end(key, reason);
		if (ended != null) {
			this.losses.reportLoss(ended.lease(), ended.handle(), reason,
					now.map((lock) -> describe(lock, mine)).orElse("Its document no longer exists"));
		}
	}

	/**
	 * End the lease of its present owner. The lease cannot be handed over between the
	 * look-up of its owner and its end. Otherwise the successor would have a lost lock
	 * and would not be notified.
	 * @return the lease that this call has ended, and its handle, if there was one
	 */
	private @Nullable Ended end(LeaseKey key, LossReason reason) {
		LocalQueue queue = this.queues.find(key.name());
		if (queue == null) {
			return endOfHolder(key, reason);
		}
		synchronized (queue) {
			return endOfHolder(key, reason);
		}
	}

	private @Nullable Ended endOfHolder(LeaseKey key, LossReason reason) {
		Lease lease = this.registry.find(key);
		if (lease == null) {
			return null;
		}
		LeasedLock handle = lease.handle();
		return lease.state().endWith(reason) ? new Ended(lease, handle) : null;
	}

	private static String describe(LockInfo lock, boolean mine) {
		if (mine) {
			return "Its lease ended on the server at " + lock.expiresAt();
		}
		if (lock.holder() == null) {
			return "It was released by another client at " + lock.releasedAt();
		}
		return "It is held by %s (thread %s) since %s, for %s".formatted(lock.acquirer(), lock.thread(),
				lock.acquiredAt(), lock.why());
	}

	private void retryLater(List<Lease> leases) {
		for (Lease lease : leases) {
			lease.renewal().retryIn(Durations.shorter(LONGEST_RETRY, lease.terms().lease().dividedBy(12)).toNanos());
		}
	}

	/**
	 * Renew one lease now, at the request of its owner.
	 * @param lease the lease
	 * @param timeout how long the request may take
	 */
	void renewNow(Lease lease, Duration timeout) {
		renewKeys(List.of(lease.key()), timeout);
	}

	/** Keeps the handle reachable until the listeners are notified. */
	private record Ended(Lease lease, @Nullable LeasedLock handle) {
	}

}
