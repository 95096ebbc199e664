package dev.dblock.autoconfigure;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Optional;

import com.mongodb.MongoClientSettings;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Customizers that the application applies to the settings of its MongoDB client, as
 * beans of a Spring Boot type. The type has one package in Spring Boot 4 and another in
 * Spring Boot 3, and is otherwise the same. It is therefore found by name.
 */
final class ClientSettingsCustomizers {

	static final List<String> TYPES = List.of(
			"org.springframework.boot.mongodb.autoconfigure.MongoClientSettingsBuilderCustomizer",
			"org.springframework.boot.autoconfigure.mongo.MongoClientSettingsBuilderCustomizer");

	private final ConfigurableListableBeanFactory beanFactory;

	private final Class<?> type;

	private final Method customize;

	private ClientSettingsCustomizers(ConfigurableListableBeanFactory beanFactory, Class<?> type) {
		this.beanFactory = beanFactory;
		this.type = type;
		this.customize = ClassUtils.getMethod(type, "customize", MongoClientSettings.Builder.class);
	}

	/**
	 * Return the customizers of a context, or empty without Spring Boot's support for
	 * MongoDB.
	 */
	static Optional<ClientSettingsCustomizers> of(ConfigurableListableBeanFactory beanFactory) {
		ClassLoader classLoader = beanFactory.getBeanClassLoader();
		return TYPES.stream()
			.filter((name) -> ClassUtils.isPresent(name, classLoader))
			.findFirst()
			.map((name) -> new ClientSettingsCustomizers(beanFactory, ClassUtils.resolveClassName(name, classLoader)));
	}

	MongoClientSettings customize(MongoClientSettings settings) {
		MongoClientSettings.Builder builder = MongoClientSettings.builder(settings);
		this.beanFactory.getBeanProvider(this.type)
			.orderedStream()
			.forEach((customizer) -> ReflectionUtils.invokeMethod(this.customize, customizer, builder));
		return builder.build();
	}

}
