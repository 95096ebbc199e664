package dev.dblock.autoconfigure;

import com.mongodb.MongoClientSettings;
import dev.dblock.mongodb.DedicatedDatabaseFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.mongodb.autoconfigure.MongoClientFactorySupport;
import org.springframework.boot.mongodb.autoconfigure.MongoClientSettingsBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.data.mongodb.MongoDatabaseFactory;

/**
 * How a client for the locks alone is made: just as Spring Boot makes the application's
 * own, from the same beans.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(MongoClientFactorySupport.class)
final class DedicatedClientConfiguration {

	static final String CLIENT = "dblockDedicatedClient";

	// Lazy, because only running can tell whether there is to be one
	@Bean(CLIENT)
	@Lazy
	DedicatedClient dblockDedicatedClient(ObjectProvider<MongoClientSettings> settings,
			ObjectProvider<MongoClientSettingsBuilderCustomizer> customizers) {
		return new DedicatedClient((application) -> {
			MongoClientSettings known = settings.getIfUnique();
			if (known == null) {
				throw new IllegalArgumentException("there is no MongoClientSettings bean, or there are several");
			}
			return new DedicatedFactoryMaker(customizers, application).createMongoClient(known);
		});
	}

	private static final class DedicatedFactoryMaker extends MongoClientFactorySupport<DedicatedDatabaseFactory> {

		DedicatedFactoryMaker(ObjectProvider<MongoClientSettingsBuilderCustomizer> customizers,
				MongoDatabaseFactory application) {
			super(customizers.orderedStream().toList(),
					(settings, driver) -> new DedicatedDatabaseFactory(application, settings, driver));
		}

	}

}
