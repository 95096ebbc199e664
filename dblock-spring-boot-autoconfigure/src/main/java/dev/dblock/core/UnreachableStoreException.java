package dev.dblock.core;

import org.springframework.dao.DataAccessResourceFailureException;

/**
 * A request found no server to go to, so it is of no use to send another at once.
 */
public final class UnreachableStoreException extends DataAccessResourceFailureException {

	private static final long serialVersionUID = 1L;

	/**
	 * No server was found.
	 * @param message what happened
	 * @param cause what the store's client threw
	 */
	public UnreachableStoreException(String message, Throwable cause) {
		super(message, cause);
	}

}
