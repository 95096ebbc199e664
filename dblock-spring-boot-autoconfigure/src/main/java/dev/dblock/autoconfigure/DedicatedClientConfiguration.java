package dev.dblock.autoconfigure;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoDriverInformation;
import dev.dblock.mongodb.client.DedicatedDatabaseFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/**
 * Configuration of the client that serves only locks. It is created from the same beans,
 * and in the same way, as the client that Spring Boot creates for the application.
 */
@Configuration(proxyBeanMethods = false)
final class DedicatedClientConfiguration {

	static final String CLIENT = "dblockDedicatedClient";

	// Lazy, because it is known only at run time whether the client is needed
	@Bean(CLIENT)
	@Lazy
	DedicatedClient dblockDedicatedClient(ObjectProvider<MongoClientSettings> settings,
			ConfigurableListableBeanFactory beanFactory) {
		return new DedicatedClient((application) -> {
			ClientSettingsCustomizers customizers = ClientSettingsCustomizers.of(beanFactory)
				.orElseThrow(() -> new IllegalArgumentException("that is not on the classpath"));
			MongoClientSettings known = settings.getIfUnique();
			if (known == null) {
				throw new IllegalArgumentException("there is no MongoClientSettings bean, or there are several");
			}
			return new DedicatedDatabaseFactory(application, customizers.customize(known),
					MongoDriverInformation.builder().driverName("spring-boot").build());
		});
	}

}
