package dev.dblock.autoconfigure;

/**
 * A customizer has left settings that cannot be.
 */
final class InvalidCustomizationException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	InvalidCustomizationException(Object customizer, IllegalArgumentException cause) {
		super("The customizer %s leaves settings that cannot be: %s".formatted(customizer.getClass().getName(),
				cause.getMessage()), cause);
	}

}
