package dev.dblock.store;

import org.springframework.dao.NonTransientDataAccessResourceException;

/**
 * Thrown if a request to the store was abandoned because its thread was interrupted. It
 * is unknown whether the store applied the request. The thread's interrupt status is set.
 */
public class RepositoryInterruptedException extends NonTransientDataAccessResourceException {

	private static final long serialVersionUID = 1L;

	public RepositoryInterruptedException(Throwable cause) {
		super("The thread was interrupted while it accessed the lock store", cause);
	}

}
