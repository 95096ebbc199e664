package dev.dblock.core.lease;

import java.lang.ref.WeakReference;

import dev.dblock.observation.LockObservations;
import dev.dblock.observation.LockObserver;
import org.jspecify.annotations.Nullable;

/**
 * The handle of a lease and the observation of its hold. The handle belongs to the
 * application: the engine must not keep an abandoned one alive, so it refers to it weakly
 * until it is kept until shutdown. The observation outlives the handle.
 */
final class HandleReference {

	private volatile WeakReference<LeasedLock> handle = new WeakReference<>(null);

	/** The handle of a lock that is kept until shutdown. */
	private volatile @Nullable LeasedLock kept;

	private volatile LockObservations.@Nullable Hold observed;

	void attach(LeasedLock handle) {
		this.handle = new WeakReference<>(handle);
	}

	@Nullable LeasedLock get() {
		return this.handle.get();
	}

	void keep(@Nullable LeasedLock handle) {
		this.kept = handle;
	}

	@Nullable LeasedLock kept() {
		return this.kept;
	}

	void observedBy(LockObservations.Hold observed) {
		this.observed = observed;
	}

	boolean isObserved() {
		return this.observed != null;
	}

	void observedEnd(LockObserver.Outcome outcome, @Nullable Throwable error) {
		LockObservations.Hold observed = this.observed;
		if (observed != null) {
			observed.end(outcome, error);
		}
	}

}
