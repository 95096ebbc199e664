package dev.dblock.sample;

import java.util.Map;

import org.springframework.boot.EnvironmentPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.context.config.ConfigDataEnvironmentPostProcessor;
import org.springframework.core.Ordered;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

/**
 * Selects the embedded MongoDB if no other is configured, and disables the health check,
 * whose {@code hello} it cannot answer.
 */
class EmbeddedMongoEnvironment implements EnvironmentPostProcessor, Ordered {

	static final String ENABLED = "sample.embedded-mongodb.enabled";

	@Override
	public void postProcessEnvironment(ConfigurableEnvironment environment, SpringApplication application) {
		if (environment.containsProperty("spring.mongodb.uri") || environment.containsProperty("spring.mongodb.host")
				|| environment.getProperty("spring.docker.compose.enabled", Boolean.class, false)) {
			return;
		}
		String port = environment.getRequiredProperty("sample.embedded-mongodb.port");
		environment.getPropertySources()
			.addLast(new MapPropertySource("embedded MongoDB", Map.of(ENABLED, true, "spring.mongodb.uri",
					"mongodb://127.0.0.1:" + port + "/sample", "management.health.mongodb.enabled", false)));
	}

	@Override
	public int getOrder() {
		return ConfigDataEnvironmentPostProcessor.ORDER + 1;
	}

}
