package dev.dblock.faults;

import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;

import com.mongodb.WriteConcern;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.mongodb.autoconfigure.MongoClientSettingsBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.MongoTransactionManager;

/**
 * The application that each worker is.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableConfigurationProperties(Mix.class)
class FaultWorkerConfiguration {

	/**
	 * The replica set tells all clients the same addresses. Each worker reaches them at
	 * an address of the loopback network that is its own, where its own proxies are.
	 */
	@Bean
	MongoClientSettingsBuilderCustomizer routeThroughOwnProxies(@Value("${faults.route}") String route,
			@Value("${faults.connect-seconds:2}") int connectSeconds, TransactionMoments moments) {
		return (settings) -> settings.inetAddressResolver((host) -> List.of(InetAddress.getByName(route)))
			.writeConcern(WriteConcern.MAJORITY)
			.addCommandListener(moments)
			.applyToClusterSettings((cluster) -> cluster.serverSelectionTimeout(5, TimeUnit.SECONDS))
			.applyToSocketSettings((socket) -> socket.connectTimeout(connectSeconds, TimeUnit.SECONDS)
				.readTimeout(8, TimeUnit.SECONDS));
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
