package dev.dblock.sample;

import java.util.concurrent.TimeUnit;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.mongodb.autoconfigure.MongoClientSettingsBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Configuration of the embedded MongoDB, for users without another MongoDB.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty(EmbeddedMongoEnvironment.ENABLED)
class EmbeddedMongoConfiguration {

	@Bean
	EmbeddedMongo embeddedMongo(@Value("${sample.embedded-mongodb.port}") int port) {
		return EmbeddedMongo.hostOrFind(port);
	}

	/**
	 * Start the server before the client, and make the client notice soon when another
	 * instance has taken over the server.
	 */
	@Bean
	MongoClientSettingsBuilderCustomizer embeddedMongoFirst(EmbeddedMongo embeddedMongo) {
		return (settings) -> settings.applyToServerSettings((server) -> server.heartbeatFrequency(1, TimeUnit.SECONDS))
			.applyToClusterSettings((cluster) -> cluster.serverSelectionTimeout(3, TimeUnit.SECONDS));
	}

}
