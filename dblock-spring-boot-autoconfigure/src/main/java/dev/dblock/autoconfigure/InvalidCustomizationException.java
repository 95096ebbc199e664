package dev.dblock.autoconfigure;

import org.jspecify.annotations.Nullable;

/**
 * A customizer has failed, or has left no settings or some that cannot be.
 */
final class InvalidCustomizationException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	InvalidCustomizationException(String message, @Nullable RuntimeException cause) {
		super(message, cause);
	}

}
