package dev.dblock.autoconfigure;

import dev.dblock.LockTemplates;
import dev.dblock.actuate.DblockEndpoint;
import dev.dblock.actuate.DblockEndpointWebExtension;
import dev.dblock.engine.LockEngine;
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
@ConditionalOnSingleCandidate(LockEngine.class)
@ConditionalOnAvailableEndpoint(DblockEndpoint.class)
public final class DblockEndpointAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	DblockEndpoint dblockEndpoint(ObjectProvider<LockEngine> engine, DblockProperties properties,
			ObjectProvider<LockTemplates> templates) {
		return new DblockEndpoint((database) -> (database == null) ? engine.getObject().administration()
				: find(database, templates.getObject()), properties.namePrefix());
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
		return (templates.on(database) instanceof DefaultLockTemplate template) ? template.engine().administration()
				: null;
	}

}
