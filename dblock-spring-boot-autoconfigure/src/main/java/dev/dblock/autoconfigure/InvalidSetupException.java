package dev.dblock.autoconfigure;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when the application cannot acquire locks as it is set up: the database of the
 * locks cannot be determined, a customizer fails, or the check at start-up does.
 */
final class InvalidSetupException extends IllegalArgumentException {

	private static final long serialVersionUID = 1L;

	private final String description;

	private final String action;

	InvalidSetupException(String description, String action, @Nullable Throwable cause) {
		super(description + ". " + action, cause);
		this.description = description;
		this.action = action;
	}

	String description() {
		return this.description;
	}

	String action() {
		return this.action;
	}

}
