package dev.dblock;

/**
 * Root of the exceptions that dblock itself throws about a lock. Store failures are not
 * among them: those are reported as Spring's {@code DataAccessException}.
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
	 * Return the full name of the lock, including the prefix.
	 * @return the name
	 */
	public String name() {
		return this.name;
	}

}
