package dev.dblock.mongodb;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * What {@link FactoryClient} finds by name, where it is.
 */
final class FactoryClientRuntimeHints implements RuntimeHintsRegistrar {

	private static final String SUPPORT = "org.springframework.data.mongodb.core.MongoDatabaseFactorySupport";

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		if (ClassUtils.isPresent(SUPPORT, classLoader)) {
			Class<?> support = ClassUtils.resolveClassName(SUPPORT, classLoader);
			Method older = ReflectionUtils.findMethod(support, FactoryClient.OLDER);
			if (older != null) {
				hints.reflection().registerMethod(older, ExecutableMode.INVOKE);
			}
		}
	}

}
