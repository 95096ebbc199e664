package dev.dblock.faults;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.mongodb.autoconfigure.MongoClientSettingsBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.MongoTransactionManager;

/**
 * Configuration of the application that each worker runs.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableConfigurationProperties(Mix.class)
@Import(OwnRoute.class)
class FaultWorkerConfiguration {

	@Bean
	MongoClientSettingsBuilderCustomizer listenToTransactions(TransactionMoments moments) {
		return (settings) -> settings.addCommandListener(moments);
	}

	@Bean
	TransactionMoments transactionMoments() {
		return new TransactionMoments();
	}

	@Bean
	MongoTransactionManager transactionManager(MongoDatabaseFactory factory) {
		return new MongoTransactionManager(factory);
	}

	@Bean
	AnnotatedSections annotatedSections() {
		return new AnnotatedSections();
	}

}
