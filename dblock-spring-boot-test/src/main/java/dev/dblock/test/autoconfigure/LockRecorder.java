package dev.dblock.test.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import dev.dblock.LockHandle;
import dev.dblock.LockRefusal;
import dev.dblock.LossReason;
import dev.dblock.event.LockListener;
import dev.dblock.store.Permits;

/**
 * Records the events of the application's locks since the test began, and the locks that
 * it holds.
 */
final class LockRecorder implements LockListener {

	private final List<Event> events = new ArrayList<>();

	private final Map<String, LockHandle> held = new ConcurrentHashMap<>();

	@Override
	public void onAcquired(LockHandle handle) {
		this.held.put(id(handle), handle);
		add(Kind.ACQUIRED, handle.name());
	}

	@Override
	public void onUnavailable(LockRefusal refusal) {
		add(Kind.REFUSED, refusal.name());
	}

	@Override
	public void onLost(LockHandle handle, LossReason reason) {
		add(Kind.LOST, handle.name());
		ended(handle);
	}

	@Override
	public void onReleased(LockHandle handle) {
		add(Kind.RELEASED, handle.name());
		ended(handle);
	}

	private synchronized void add(Kind kind, String name) {
		this.events.add(new Event(kind, name));
		notifyAll();
	}

	// After a hand-over, the notification of the next holder may have arrived first
	private void ended(LockHandle handle) {
		this.held.computeIfPresent(id(handle), (id, known) -> (known != handle) ? known : null);
	}

	private static String id(LockHandle handle) {
		return Permits.id(handle.name(), handle.permit());
	}

	/**
	 * Return the lock, or the first of its permits, as the application holds it, until
	 * the recorder is notified of its end.
	 */
	Optional<LockHandle> held(String name) {
		return this.held.values()
			.stream()
			.filter((handle) -> handle.name().equals(name))
			.min(Comparator.comparing(LockHandle::permit));
	}

	boolean hasEnded(LockHandle handle) {
		return this.held.get(id(handle)) != handle;
	}

	/**
	 * Wait until an event has occurred. An interrupt, which may be that of a loss, is
	 * restored afterwards.
	 */
	synchronized boolean await(Kind kind, String name, Duration limit) {
		long end = System.nanoTime() + limit.toNanos();
		boolean interrupted = false;
		while (count(kind, name) == 0 && end - System.nanoTime() > 0) {
			try {
				TimeUnit.NANOSECONDS.timedWait(this, end - System.nanoTime());
			}
			catch (InterruptedException ex) {
				interrupted = true;
			}
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
		return count(kind, name) > 0;
	}

	synchronized long count(Kind kind, String name) {
		Event wanted = new Event(kind, name);
		return this.events.stream().filter(wanted::equals).count();
	}

	synchronized List<Event> events() {
		return List.copyOf(this.events);
	}

	synchronized void clear() {
		this.events.clear();
	}

	enum Kind {

		ACQUIRED, REFUSED, LOST, RELEASED

	}

	record Event(Kind kind, String name) {

		@Override
		public String toString() {
			return "'%s' %s".formatted(this.name, this.kind.name().toLowerCase(Locale.ROOT));
		}

	}

}
