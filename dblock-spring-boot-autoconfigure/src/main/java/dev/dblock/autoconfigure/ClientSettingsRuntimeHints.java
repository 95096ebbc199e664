package dev.dblock.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * Registers hints for the types that {@link ClientSettingsCustomizers} finds by name, if
 * they are present.
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
