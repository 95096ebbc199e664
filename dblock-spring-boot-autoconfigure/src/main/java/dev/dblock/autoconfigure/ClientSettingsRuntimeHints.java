package dev.dblock.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * What {@link ClientSettingsCustomizers} finds by name, where it is.
 */
final class ClientSettingsRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		for (String type : ClientSettingsCustomizers.TYPES) {
			hints.reflection()
				.registerTypeIfPresent(classLoader, type,
						(hint) -> hint.withMembers(MemberCategory.INVOKE_PUBLIC_METHODS));
		}
	}

}
