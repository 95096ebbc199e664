package dev.dblock.annotation.name;

import org.jspecify.annotations.Nullable;

import org.springframework.util.StringValueResolver;

/**
 * Resolves the placeholders in annotation attributes.
 */
public final class AttributePlaceholders {

	private AttributePlaceholders() {
	}

	/**
	 * Resolve the placeholders in a text.
	 * @param resolver the resolver
	 * @param attribute the attribute with its text, as the exception message cites it
	 * @param text the text
	 * @return the resolved text
	 * @throws IllegalArgumentException if a placeholder cannot be resolved
	 */
	public static @Nullable String resolve(StringValueResolver resolver, String attribute, String text) {
		String resolved;
		try {
			resolved = resolver.resolveStringValue(text);
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException(unresolved(attribute, String.valueOf(ex.getMessage())), ex);
		}
		// Without a placeholder configurer, Spring leaves unknown placeholders in the
		// text
		if (resolved != null && resolved.contains("${")) {
			throw new IllegalArgumentException(unresolved(attribute, "'" + resolved + "'"));
		}
		return resolved;
	}

	private static String unresolved(String attribute, String reason) {
		return ("%s has a placeholder that cannot be resolved: %s; set the property, or give it a default as in"
				+ " ${key:default}")
			.formatted(attribute, reason);
	}

}
