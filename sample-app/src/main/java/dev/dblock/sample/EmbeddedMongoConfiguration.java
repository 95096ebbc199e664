package dev.dblock.sample;

import java.util.concurrent.TimeUnit;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.mongodb.autoconfigure.MongoClientSettingsBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The embedded MongoDB, for those who have no other at hand.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty(EmbeddedMongoEnvironment.ENABLED)
class EmbeddedMongoConfiguration {

	@Bean
	EmbeddedMongo embeddedMongo(@Value("${sample.embedded-mongodb.port}") int port) {
		return EmbeddedMongo.hostOrFind(port);
	}

	/**
	 * Has the server there before the client, and the client notice soon when another
	 * instance has taken the server over.
	 */
	@Bean
	MongoClientSettingsBuilderCustomizer embeddedMongoFirst(EmbeddedMongo embeddedMongo) {
		return (settings) -> settings.applyToServerSettings((server) -> server.heartbeatFrequency(1, TimeUnit.SECONDS))
			.applyToClusterSettings((cluster) -> cluster.serverSelectionTimeout(3, TimeUnit.SECONDS));
	}

}
