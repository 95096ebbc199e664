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
 * How a client for the locks alone is made: just as Spring Boot makes the application's
 * own, from the same beans.
 */
@Configuration(proxyBeanMethods = false)
final class DedicatedClientConfiguration {

	static final String CLIENT = "dblockDedicatedClient";

	// Lazy, because only running can tell whether there is to be one
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
