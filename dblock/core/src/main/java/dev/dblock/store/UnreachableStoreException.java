package dev.dblock.store;

/**
 * Thrown if no server was found for a request, and no part of it was sent. The request
 * has changed nothing, and sending another one immediately is of no use. If a part of a
 * request was sent before, the exception is a plain {@link StoreFailureException}.
 */
public final class UnreachableStoreException extends StoreFailureException {

	private static final long serialVersionUID = 1L;

	/**
	 * Create an exception for a request without a server.
	 * @param message what happened
	 * @param cause the exception of the store's client
	 */
	public UnreachableStoreException(String message, Throwable cause) {
		super(message, cause);
	}

}
