package dev.dblock.actuate;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Health indicator of the locks for Spring Boot 3. The health types of Spring Boot 3 are
 * in other packages than those of Spring Boot 4, which this class is compiled against.
 * They are therefore found by name, and the indicator is a proxy. With Spring Boot 4,
 * {@link LockHealthIndicator} is used, which the compiler can check.
 */
final class Boot3LockHealthIndicator implements FactoryBean<Object> {

	static final String TYPE = "org.springframework.boot.actuate.health.HealthIndicator";

	private static final String BUILDER = "org.springframework.boot.actuate.health.Health$Builder";

	private final Supplier<LockHealth> health;

	private final Class<?> type;

	private final Class<?> builder;

	/**
	 * Create an indicator.
	 * @param health determines the health
	 * @param classLoader the class loader of the Spring Boot 3 types
	 */
	Boot3LockHealthIndicator(Supplier<LockHealth> health, @Nullable ClassLoader classLoader) {
		this.health = health;
		this.type = ClassUtils.resolveClassName(TYPE, classLoader);
		this.builder = ClassUtils.resolveClassName(BUILDER, classLoader);
	}

	@Override
	public Class<?> getObjectType() {
		return this.type;
	}

	@Override
	public Object getObject() {
		return Proxy.newProxyInstance(this.type.getClassLoader(), new Class<?>[] { this.type }, this::answer);
	}

	private @Nullable Object answer(Object proxy, Method method, @Nullable Object @Nullable [] arguments)
			throws Throwable {
		if (method.isDefault()) {
			return InvocationHandler.invokeDefault(proxy, method, arguments);
		}
		return switch (method.getName()) {
			case "health" -> health();
			case "equals" -> arguments != null && proxy == arguments[0];
			case "hashCode" -> System.identityHashCode(proxy);
			default -> toString();
		};
	}

	private @Nullable Object health() {
		LockHealth health = this.health.get();
		Object built = ReflectionUtils.invokeMethod(method("status", String.class),
				BeanUtils.instantiateClass(this.builder), health.status());
		built = ReflectionUtils.invokeMethod(method("withDetails", Map.class), built, health.details());
		if (health.error() != null) {
			built = ReflectionUtils.invokeMethod(method("withException", Throwable.class), built, health.error());
		}
		return ReflectionUtils.invokeMethod(method("build"), built);
	}

	private Method method(String name, Class<?>... parameters) {
		return ClassUtils.getMethod(this.builder, name, parameters);
	}

	/**
	 * Registers hints for the types that are found by name, if they are present.
	 */
	static final class Hints implements RuntimeHintsRegistrar {

		@Override
		public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
			if (ClassUtils.isPresent(TYPE, classLoader)) {
				hints.proxies().registerJdkProxy(TypeReference.of(TYPE));
				hints.reflection()
					.registerType(TypeReference.of(TYPE), MemberCategory.INVOKE_PUBLIC_METHODS)
					.registerType(TypeReference.of(BUILDER), MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS,
							MemberCategory.INVOKE_PUBLIC_METHODS);
			}
		}

	}

}
