package dev.dblock.store;

import org.springframework.dao.TransientDataAccessResourceException;

/**
 * Thrown if the store could not serve a request of a lock, but may serve it a little
 * later.
 */
public final class BusyStoreException extends TransientDataAccessResourceException {

	private static final long serialVersionUID = 1L;

	/**
	 * Create an exception for a request that may succeed later.
	 * @param message what happened
	 * @param cause the exception of the store's client
	 */
	public BusyStoreException(String message, Throwable cause) {
		super(message, cause);
	}

	/**
	 * Create an exception for a request that may succeed later.
	 * @param message what happened
	 */
	public BusyStoreException(String message) {
		super(message);
	}

}
