package dev.dblock.scenario;

import java.util.ArrayList;
import java.util.List;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.mongodb.autoconfigure.MongoClientFactory;
import org.springframework.boot.mongodb.autoconfigure.MongoClientSettingsBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

/**
 * A client that serves only locks, as in {@code docs/configuration.md}.
 */
@Configuration(proxyBeanMethods = false)
@Lazy
class LockClientConfiguration {

	@Bean(defaultCandidate = false)
	MongoClient lockClient(MongoClientSettings settings,
			ObjectProvider<MongoClientSettingsBuilderCustomizer> customizers) {
		List<MongoClientSettingsBuilderCustomizer> all = new ArrayList<>(customizers.orderedStream().toList());
		all.add((client) -> client.applyToConnectionPoolSettings((pool) -> pool.minSize(0).maxSize(43)));
		return new MongoClientFactory(all).createMongoClient(settings);
	}

	@Bean(defaultCandidate = false)
	MongoDatabaseFactory lockDatabaseFactory(@Qualifier("lockClient") MongoClient client,
			@Value("${spring.mongodb.uri}") ConnectionString uri) {
		return new SimpleMongoClientDatabaseFactory(client, uri.getDatabase());
	}

}
