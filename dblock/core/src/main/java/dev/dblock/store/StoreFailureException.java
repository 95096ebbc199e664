package dev.dblock.store;

import org.springframework.dao.DataAccessResourceFailureException;

/**
 * Thrown if the store did not confirm a request of a lock, because a server or the
 * network failed. Failures of the application's own requests have other types.
 */
public class StoreFailureException extends DataAccessResourceFailureException {

	private static final long serialVersionUID = 1L;

	/**
	 * Create an exception for a request that was not confirmed.
	 * @param message what happened
	 * @param cause the exception of the store's client
	 */
	public StoreFailureException(String message, Throwable cause) {
		super(message, cause);
	}

}
