package dev.dblock.autoconfigure;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when a customizer fails, or returns {@code null} or invalid settings.
 */
final class InvalidCustomizationException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	InvalidCustomizationException(String message, @Nullable RuntimeException cause) {
		super(message, cause);
	}

}
