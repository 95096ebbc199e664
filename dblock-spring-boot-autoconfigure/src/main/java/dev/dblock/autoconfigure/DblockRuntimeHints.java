package dev.dblock.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.boot.context.properties.bind.BindableRuntimeHintsRegistrar;

/**
 * Registers hints for the settings of jobs, which are not bound as part of a bean, and
 * for the names of all properties.
 */
final class DblockRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		BindableRuntimeHintsRegistrar.forTypes(DblockProperties.Job.class).registerHints(hints, classLoader);
		hints.resources().registerPattern(PropertyNameChecker.METADATA);
	}

}
