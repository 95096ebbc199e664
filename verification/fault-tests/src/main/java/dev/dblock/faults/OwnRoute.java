package dev.dblock.faults;

import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;

import com.mongodb.WriteConcern;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.mongodb.autoconfigure.MongoClientSettingsBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Network configuration of a worker. The replica set announces the same addresses to all
 * clients. Each worker resolves them to its own address of the loopback network, on which
 * its own proxies listen.
 */
@Configuration(proxyBeanMethods = false)
class OwnRoute {

	@Bean
	MongoClientSettingsBuilderCustomizer routeThroughOwnProxies(@Value("${faults.route}") String route,
			@Value("${faults.connect-seconds:2}") int connectSeconds) {
		return (settings) -> settings.inetAddressResolver((host) -> List.of(InetAddress.getByName(route)))
			.writeConcern(WriteConcern.MAJORITY)
			.applyToClusterSettings((cluster) -> cluster.serverSelectionTimeout(5, TimeUnit.SECONDS))
			.applyToSocketSettings((socket) -> socket.connectTimeout(connectSeconds, TimeUnit.SECONDS)
				.readTimeout(8, TimeUnit.SECONDS));
	}

}
