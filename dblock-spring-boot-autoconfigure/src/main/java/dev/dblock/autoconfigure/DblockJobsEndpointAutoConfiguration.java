package dev.dblock.autoconfigure;

import dev.dblock.actuate.DblockJobsEndpoint;
import dev.dblock.actuate.DblockJobsEndpointWebExtension;
import dev.dblock.job.JobOperations;

import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration for the endpoint {@code dblockjobs}, if it is exposed. A child
 * context has its own endpoint, which also shows the jobs of its ancestors.
 */
@AutoConfiguration(after = DblockJobsAutoConfiguration.class)
@ConditionalOnClass({ Endpoint.class, ConditionalOnAvailableEndpoint.class })
@ConditionalOnSingleCandidate(value = JobOperations.class, search = SearchStrategy.CURRENT)
@ConditionalOnAvailableEndpoint(DblockJobsEndpoint.class)
public final class DblockJobsEndpointAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	DblockJobsEndpoint dblockJobsEndpoint(JobOperations jobs) {
		return new DblockJobsEndpoint(jobs);
	}

	@Bean
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	DblockJobsEndpointWebExtension dblockJobsEndpointWebExtension(DblockJobsEndpoint endpoint) {
		return new DblockJobsEndpointWebExtension(endpoint);
	}

}
