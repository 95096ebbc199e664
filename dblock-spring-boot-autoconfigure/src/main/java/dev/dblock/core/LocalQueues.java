package dev.dblock.core;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

/**
 * The queues of the names that this process waits for or holds, and of no others. Pauses
 * are taken in real time, whatever clock the leases are counted on.
 */
final class LocalQueues {

	private final Map<String, LocalQueue> byName = new ConcurrentHashMap<>();

	private final HandOffSettings handOff;

	LocalQueues(HandOffSettings handOff) {
		this.handOff = handOff;
	}

	@Nullable LocalQueue find(String name) {
		return this.byName.get(name);
	}

	/**
	 * The queue of a name, which stays until the caller leaves it again.
	 */
	LocalQueue enter(String name) {
		return this.byName.compute(name, (key, present) -> {
			LocalQueue queue = (present != null) ? present : new LocalQueue(key, this.handOff);
			queue.addUsers(1);
			return queue;
		});
	}

	void leave(LocalQueue queue) {
		this.byName.computeIfPresent(queue.name(), (key, present) -> (present.addUsers(-1) == 0) ? null : present);
	}

	/**
	 * A lease was granted to this process: its queue stays until the lease has ended.
	 */
	void granted(LocalQueue queue, Lease lease, @Nullable Waiter waiter) {
		if (queue.granted(lease, waiter)) {
			enter(queue.name());
		}
	}

	void ended(Lease lease) {
		LocalQueue queue = this.byName.get(lease.key().name());
		if (queue != null && queue.ended(lease)) {
			leave(queue);
		}
	}

	void signal(String name) {
		LocalQueue queue = this.byName.get(name);
		if (queue != null) {
			queue.signal();
		}
	}

	void signalAll() {
		this.byName.values().forEach(LocalQueue::signal);
	}

	void wakeAll() {
		this.byName.values().forEach(LocalQueue::wakeAll);
	}

	int size() {
		return this.byName.size();
	}

}
