package dev.dblock;

import org.jspecify.annotations.Nullable;

/**
 * The lock is held by another acquisition and did not become free within the wait. The
 * work that it protects was not started.
 */
public class LockUnavailableException extends LockException {

	private static final long serialVersionUID = 1L;

	private final transient @Nullable LockInfo holder;

	public LockUnavailableException(LockRefusal refusal) {
		super(refusal.name(), refusal.describe());
		this.holder = refusal.holder();
	}

	/**
	 * Who held the lock when it was last asked for, or {@code null} when that is not
	 * known.
	 * @return the state of the lock
	 */
	public @Nullable LockInfo holder() {
		return this.holder;
	}

}
