package dev.dblock;

/**
 * Root of what dblock itself throws about a lock. Errors of the store are not among them:
 * those are Spring's {@code DataAccessException}s.
 */
public abstract class LockException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String name;

	protected LockException(String name, String message) {
		super(message);
		this.name = name;
	}

	protected LockException(String name, String message, Throwable cause) {
		super(message, cause);
		this.name = name;
	}

	/**
	 * The full name of the lock, prefix included.
	 * @return the name
	 */
	public String name() {
		return this.name;
	}

}
