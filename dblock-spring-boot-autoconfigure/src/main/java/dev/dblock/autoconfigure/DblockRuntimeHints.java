package dev.dblock.autoconfigure;

import dev.dblock.actuate.Boot3LockHealthIndicator;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.boot.context.properties.bind.BindableRuntimeHintsRegistrar;
import org.springframework.util.ClassUtils;

/**
 * Registers hints for the settings of jobs, which are not bound as part of a bean, for
 * the names of all properties, and for the types that {@link Boot3LockHealthIndicator}
 * finds by name, if they are present.
 */
final class DblockRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		BindableRuntimeHintsRegistrar.forTypes(DblockProperties.Job.class).registerHints(hints, classLoader);
		hints.resources().registerPattern(PropertyNameChecker.METADATA);
		if (ClassUtils.isPresent(Boot3LockHealthIndicator.TYPE, classLoader)) {
			hints.proxies().registerJdkProxy(TypeReference.of(Boot3LockHealthIndicator.TYPE));
			hints.reflection()
				.registerType(TypeReference.of(Boot3LockHealthIndicator.TYPE), MemberCategory.INVOKE_PUBLIC_METHODS)
				.registerType(TypeReference.of(Boot3LockHealthIndicator.BUILDER),
						MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS, MemberCategory.INVOKE_PUBLIC_METHODS);
		}
	}

}
