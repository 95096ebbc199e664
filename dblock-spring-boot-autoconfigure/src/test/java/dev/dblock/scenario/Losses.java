package dev.dblock.scenario;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.dblock.LockHandle;
import dev.dblock.LossReason;
import dev.dblock.event.LockListener;

/**
 * Records which locks were lost, and when a listener was notified. Keeps no handle.
 */
final class Losses implements LockListener {

	private final List<Loss> losses = new CopyOnWriteArrayList<>();

	@Override
	public void onLost(LockHandle handle, LossReason reason) {
		this.losses.add(new Loss(handle.name(), reason, System.nanoTime()));
	}

	List<Loss> all() {
		return this.losses;
	}

	Optional<Loss> of(String name) {
		return this.losses.stream().filter((loss) -> loss.name().equals(name)).findFirst();
	}

	/**
	 * A lost lock.
	 *
	 * @param name its name
	 * @param reason why it was lost
	 * @param noticedNanos when the listener was notified, by the monotonic clock
	 */
	record Loss(String name, LossReason reason, long noticedNanos) {
	}

}
