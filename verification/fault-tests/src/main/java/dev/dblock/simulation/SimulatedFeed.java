package dev.dblock.simulation;

import java.time.Duration;

import dev.dblock.simulation.scheduler.SimulatedProcess;
import dev.dblock.store.ReleaseFeed;
import org.jspecify.annotations.Nullable;

/**
 * Reports releases to one engine, through the network. A message that is lost, like a
 * connection that breaks, is reported later.
 */
final class SimulatedFeed implements ReleaseFeed {

	private static final long RECONNECTED_NANOS = 1_500_000_000;

	private final SimulatedProcess process;

	private final Network network;

	private @Nullable Listener listener;

	SimulatedFeed(SimulatedProcess process, Network network) {
		this.process = process;
		this.network = network;
	}

	@Override
	public void open(Listener opened) {
		if (this.listener == null) {
			this.listener = opened;
			this.network.report(this.process, () -> listening(opened));
		}
	}

	private void listening(Listener opened) {
		if (this.listener == opened) {
			opened.listening();
		}
	}

	@Override
	public void close(Duration atMost) {
		this.listener = null;
	}

	/**
	 * Called in the server when a lock was released.
	 */
	void released(String name) {
		Listener open = this.listener;
		if (open != null) {
			this.network.report(this.process, () -> {
				if (this.listener == open) {
					open.released(name);
				}
			});
		}
	}

	/**
	 * Interrupt the feed for a while.
	 */
	void disturb() {
		Listener open = this.listener;
		if (open != null) {
			this.network.report(this.process, () -> {
				open.interrupted("simulated");
				this.network.reportAfter(RECONNECTED_NANOS, this.process, () -> listening(open));
			});
		}
	}

}
