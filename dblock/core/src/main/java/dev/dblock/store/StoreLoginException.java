package dev.dblock.store;

import org.springframework.dao.PermissionDeniedDataAccessException;

/**
 * Thrown if the store did not accept the user or the password. Other denials concern the
 * privileges of an authenticated user.
 */
public final class StoreLoginException extends PermissionDeniedDataAccessException {

	private static final long serialVersionUID = 1L;

	/**
	 * Create an exception for a failed authentication.
	 * @param message what happened
	 * @param cause the exception of the store's client
	 */
	public StoreLoginException(String message, Throwable cause) {
		super(message, cause);
	}

}
