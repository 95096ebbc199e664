package dev.dblock.core.queue;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;
import java.util.function.Predicate;
import java.util.stream.Stream;

import dev.dblock.LockInfo;
import dev.dblock.core.lease.Lease;
import dev.dblock.settings.EngineSettings;
import dev.dblock.store.Permits;
import org.jspecify.annotations.Nullable;

/**
 * The queues of the locks that this process waits for or holds, and of no others. Pauses
 * use the clock for pauses, not that of the leases.
 */
public final class LocalQueues {

	private final Map<String, LocalQueue> byName = new ConcurrentHashMap<>();

	private final EngineSettings.HandOff handOff;

	private final long longestReleaseNanos;

	private final LongUnaryOperator pollNanos;

	private final LongSupplier nanos;

	/**
	 * Create an empty set of queues.
	 * @param handOff the limits of handing a lock over
	 * @param pollNanos how long other processes may take to see that a lock is free
	 * because they poll, by the time for which it was held; zero if its release is
	 * reported to them
	 * @param nanos the monotonic clock for pauses
	 */
	public LocalQueues(EngineSettings.HandOff handOff, LongUnaryOperator pollNanos, LongSupplier nanos) {
		this(handOff, LocalQueue.LONGEST_RELEASE_NANOS, pollNanos, nanos);
	}

	public LocalQueues(EngineSettings.HandOff handOff, long longestReleaseNanos, LongUnaryOperator pollNanos,
			LongSupplier nanos) {
		this.handOff = handOff;
		this.longestReleaseNanos = longestReleaseNanos;
		this.pollNanos = pollNanos;
		this.nanos = nanos;
	}

	public @Nullable LocalQueue find(String name) {
		return this.byName.get(name);
	}

	/**
	 * Return the queue of a name, which is kept until the caller leaves it.
	 */
	public LocalQueue enter(String name) {
		return admit(name, LocalQueue::enter);
	}

	/**
	 * Take the last place in the queue of a name.
	 * @return the queue, which is kept until the waiter leaves it
	 */
	public LocalQueue join(String name, Waiter waiter) {
		return admit(name, (queue) -> queue.join(waiter));
	}

	/**
	 * Record that a lock of this process is about to be released to the store.
	 * @return its queue, which is kept until it is notified of the release
	 */
	public LocalQueue releasing(String name) {
		return admit(name, LocalQueue::releasing);
	}

	private LocalQueue admit(String name, Predicate<LocalQueue> admission) {
		while (true) {
			LocalQueue queue = this.byName.get(name);
			if (queue == null) {
				queue = this.byName.computeIfAbsent(name, (key) -> new LocalQueue(key, this.handOff,
						this.longestReleaseNanos, this.pollNanos, this.nanos, this::remove));
			}
			if (admission.test(queue)) {
				return queue;
			}
		}
	}

	private boolean remove(LocalQueue queue) {
		return this.byName.remove(queue.name(), queue);
	}

	public void ended(Lease lease) {
		LocalQueue queue = find(lease.key().name());
		if (queue != null) {
			queue.ended(lease);
		}
	}

	/**
	 * Return the stored state of a lock, with its present owner if this process holds it.
	 */
	public LockInfo withOwner(LockInfo stored) {
		return named(stored.name()).flatMap((queue) -> queue.holders().stream())
			.filter((mine) -> mine.key().holder().equals(stored.holder()))
			.findFirst()
			.map((mine) -> mine.describe(stored))
			.orElse(stored);
	}

	/**
	 * Signal that a lock, or a permit of one, may be free.
	 * @param id the name under which it is stored
	 * @return whether a thread waits for it
	 */
	public boolean signal(String id) {
		return named(id).filter(LocalQueue::signal).count() > 0;
	}

	/**
	 * Return the queue of the name under which something is stored, and if it can be a
	 * permit, also that of its lock.
	 */
	private Stream<LocalQueue> named(String id) {
		return Stream.of(id, Permits.lockOf(id)).distinct().map(this.byName::get).filter(Objects::nonNull);
	}

	public void signalAll() {
		this.byName.values().forEach(LocalQueue::signal);
	}

	public void wakeAll() {
		this.byName.values().forEach(LocalQueue::wakeAll);
	}

	public int waiters() {
		return this.byName.values().stream().mapToInt(LocalQueue::waiters).sum();
	}

	public int size() {
		return this.byName.size();
	}

}
