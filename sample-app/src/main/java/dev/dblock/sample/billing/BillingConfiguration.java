package dev.dblock.sample.billing;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.MongoTransactionManager;

/**
 * Configuration of MongoDB transactions, which Spring Boot leaves to the application.
 */
@Configuration(proxyBeanMethods = false)
class BillingConfiguration {

	@Bean
	MongoTransactionManager transactionManager(MongoDatabaseFactory factory) {
		return new MongoTransactionManager(factory);
	}

}
