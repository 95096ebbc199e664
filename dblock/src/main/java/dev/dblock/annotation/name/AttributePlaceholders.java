package dev.dblock.annotation.name;

import org.jspecify.annotations.Nullable;

import org.springframework.util.StringValueResolver;

/**
 * Resolves the placeholders in the attributes of annotations.
 */
public final class AttributePlaceholders {

	private AttributePlaceholders() {
	}

	/**
	 * Resolve the placeholders in a text.
	 * @param resolver what resolves them
	 * @param attribute the attribute with its text, as the message names it
	 * @param text the text
	 * @throws IllegalArgumentException when one of them cannot be resolved
	 */
	public static @Nullable String resolve(StringValueResolver resolver, String attribute, String text) {
		String resolved;
		try {
			resolved = resolver.resolveStringValue(text);
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException(unresolved(attribute, String.valueOf(ex.getMessage())), ex);
		}
		// Without a configurer of placeholders Spring leaves those that it does not know
		// as they are
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
