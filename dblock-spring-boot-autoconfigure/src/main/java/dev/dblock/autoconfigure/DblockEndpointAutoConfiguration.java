package dev.dblock.autoconfigure;

import dev.dblock.LockOperations;
import dev.dblock.actuate.DblockEndpoint;

import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/**
 * The endpoint {@code dblock}, where it is exposed.
 */
@AutoConfiguration(after = DblockAutoConfiguration.class)
@ConditionalOnClass({ Endpoint.class, ConditionalOnAvailableEndpoint.class })
@ConditionalOnSingleCandidate(LockOperations.class)
@ConditionalOnAvailableEndpoint(DblockEndpoint.class)
public final class DblockEndpointAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	DblockEndpoint dblockEndpoint(LockOperations operations, DblockProperties properties) {
		return new DblockEndpoint(operations, properties.getNamePrefix());
	}

}
