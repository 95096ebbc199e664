package dev.dblock.store;

import org.springframework.dao.PermissionDeniedDataAccessException;

/**
 * The store did not accept the user or the password. Other denials are about the rights
 * of a user that it knows.
 */
public final class StoreLoginException extends PermissionDeniedDataAccessException {

	private static final long serialVersionUID = 1L;

	/**
	 * The login failed.
	 * @param message what happened
	 * @param cause what the store's client threw
	 */
	public StoreLoginException(String message, Throwable cause) {
		super(message, cause);
	}

}
