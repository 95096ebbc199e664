package dev.dblock.store;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.QueryTimeoutException;

/**
 * Thrown if the time limit of a request of a lock expired. Timeouts of the application's
 * own requests have other types.
 */
public final class StoreTimeoutException extends QueryTimeoutException {

	private static final long serialVersionUID = 1L;

	/**
	 * Create an exception for a request that took too long.
	 * @param message what happened
	 * @param cause the exception of the store's client, if there is one
	 */
	public StoreTimeoutException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

	/**
	 * Create an exception for a request that took too long.
	 * @param message what happened
	 */
	public StoreTimeoutException(String message) {
		this(message, null);
	}

}
