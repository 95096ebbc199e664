package dev.dblock.simulation.server;

/**
 * An error that a server reports, by its code.
 */
final class ServerException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final int code;

	ServerException(int code, String message) {
		super(message);
		this.code = code;
	}

	int code() {
		return this.code;
	}

}
