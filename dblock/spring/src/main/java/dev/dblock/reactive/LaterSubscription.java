package dev.dblock.reactive;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.publisher.Operators;

/**
 * Placeholder for a subscription that is not available yet. A source may emit forever
 * while its first elements are requested, so a cancellation has to reach it even then.
 */
final class LaterSubscription implements Subscription {

	private @Nullable Subscription source;

	private long requested;

	private boolean cancelled;

	void set(Subscription subscription) {
		long first;
		synchronized (this) {
			boolean wanted = !this.cancelled && this.source == null;
			first = wanted ? this.requested : -1;
			if (wanted) {
				this.source = subscription;
			}
		}
		if (first < 0) {
			subscription.cancel();
		}
		else if (first > 0) {
			subscription.request(first);
		}
	}

	@Override
	public void request(long n) {
		Subscription known;
		synchronized (this) {
			known = this.source;
			if (known == null) {
				this.requested = Operators.addCap(this.requested, n);
			}
		}
		if (known != null) {
			known.request(n);
		}
	}

	@Override
	public void cancel() {
		Subscription known;
		synchronized (this) {
			known = this.cancelled ? null : this.source;
			this.cancelled = true;
		}
		if (known != null) {
			known.cancel();
		}
	}

}
