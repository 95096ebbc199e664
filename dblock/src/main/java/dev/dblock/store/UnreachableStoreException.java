package dev.dblock.store;

import org.springframework.dao.DataAccessResourceFailureException;

/**
 * A request found no server to go to, and nothing of it was sent. So it has changed
 * nothing, and it is of no use to send another at once. Where a part of a request was
 * sent before, the exception is a plain {@link DataAccessResourceFailureException}.
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
