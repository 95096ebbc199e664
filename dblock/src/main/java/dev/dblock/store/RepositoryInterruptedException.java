package dev.dblock.store;

import org.springframework.dao.NonTransientDataAccessResourceException;

/**
 * A request to the store was given up because its thread was interrupted. Whether the
 * store applied it is not known. The thread's interrupt status is set.
 */
public class RepositoryInterruptedException extends NonTransientDataAccessResourceException {

	private static final long serialVersionUID = 1L;

	public RepositoryInterruptedException(Throwable cause) {
		super("The thread was interrupted while it spoke to the lock store", cause);
	}

}
