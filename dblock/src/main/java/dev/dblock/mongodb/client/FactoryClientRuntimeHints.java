package dev.dblock.mongodb.client;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Registers hints for the methods that {@link FactoryClient} looks up by name, if they
 * are present.
 */
final class FactoryClientRuntimeHints implements RuntimeHintsRegistrar {

	private static final String SUPPORT = "org.springframework.data.mongodb.core.MongoDatabaseFactorySupport";

	private static final String CLIENT = "com.mongodb.client.internal.MongoClientImpl";

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		register(SUPPORT, FactoryClient.OLDER, hints, classLoader);
		register(CLIENT, FactoryClient.SETTINGS, hints, classLoader);
	}

	private static void register(String type, String name, RuntimeHints hints, @Nullable ClassLoader classLoader) {
		if (ClassUtils.isPresent(type, classLoader)) {
			Method method = ReflectionUtils.findMethod(ClassUtils.resolveClassName(type, classLoader), name);
			if (method != null) {
				hints.reflection().registerMethod(method, ExecutableMode.INVOKE);
			}
		}
	}

}
