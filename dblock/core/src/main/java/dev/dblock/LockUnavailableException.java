package dev.dblock;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if the lock is held by another acquisition and did not become available within
 * the wait. The work that it protects was not started.
 */
public class LockUnavailableException extends LockException {

	private static final long serialVersionUID = 1L;

	private final transient @Nullable LockInfo holder;

	public LockUnavailableException(LockRefusal refusal) {
		super(refusal.name(), refusal.describe());
		this.holder = refusal.holder();
	}

	/**
	 * Return the state of the lock at the last request, with its holder, or {@code null}
	 * if that is not known.
	 * @return the state of the lock
	 */
	public @Nullable LockInfo holder() {
		return this.holder;
	}

}
