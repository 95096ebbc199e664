package dev.dblock.autoconfigure;

import dev.dblock.LockOperations;
import dev.dblock.LockTemplates;
import dev.dblock.actuate.DblockEndpoint;
import dev.dblock.actuate.DblockEndpointWebExtension;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.store.LockAdministration;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration for the endpoint {@code dblock}, if it is exposed.
 */
@AutoConfiguration(after = DblockAutoConfiguration.class)
@ConditionalOnClass({ Endpoint.class, ConditionalOnAvailableEndpoint.class })
@ConditionalOnSingleCandidate(LockOperations.class)
@ConditionalOnAvailableEndpoint(DblockEndpoint.class)
public final class DblockEndpointAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	DblockEndpoint dblockEndpoint(LockOperations operations, DblockProperties properties,
			ObjectProvider<LockTemplates> templates) {
		DefaultLockEngine usual = engine(operations);
		if (usual == null) {
			return new DblockEndpoint(operations, properties.namePrefix());
		}
		return new DblockEndpoint(
				(database) -> (database == null) ? usual.administration() : find(database, templates.getObject()),
				properties.namePrefix());
	}

	@Bean
	@ConditionalOnMissingBean
	DblockEndpointWebExtension dblockEndpointWebExtension(DblockEndpoint endpoint) {
		return new DblockEndpointWebExtension(endpoint);
	}

	private static @Nullable LockAdministration find(String database, LockTemplates templates) {
		if (templates instanceof DatabaseLockTemplates databases) {
			return databases.look(database);
		}
		DefaultLockEngine engine = engine(templates.on(database));
		return (engine != null) ? engine.administration() : null;
	}

	private static @Nullable DefaultLockEngine engine(LockOperations operations) {
		return (operations instanceof DefaultLockTemplate template
				&& template.engine() instanceof DefaultLockEngine engine) ? engine : null;
	}

}
