package dev.dblock.console;

import dev.dblock.autoconfigure.DblockAutoConfiguration;
import dev.dblock.autoconfigure.DblockJobsAutoConfiguration;
import dev.dblock.engine.LockEngine;
import dev.dblock.job.JobOperations;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.web.context.WebApplicationContext;

/**
 * Auto-configuration for the console, if its endpoint is exposed.
 */
@AutoConfiguration(after = { DblockAutoConfiguration.class, DblockJobsAutoConfiguration.class })
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnWebApplication
@ConditionalOnSingleCandidate(LockEngine.class)
@ConditionalOnAvailableEndpoint(ConsoleEndpoint.class)
@ImportRuntimeHints(DblockConsoleAutoConfiguration.Files.class)
@RegisterReflectionForBinding(ConsoleState.class)
public final class DblockConsoleAutoConfiguration {

	@Bean
	RecentEvents dblockConsoleEvents() {
		return new RecentEvents();
	}

	@Bean
	WaitingThreads dblockConsoleWaitingThreads() {
		return new WaitingThreads();
	}

	@Bean
	EndpointPaths dblockConsolePaths(ObjectProvider<PathMappedEndpoints> endpoints) {
		return new EndpointPaths(endpoints::getObject);
	}

	@Bean
	ConsoleEndpoint dblockConsoleEndpoint(ObjectProvider<LockEngine> engine, ObjectProvider<JobOperations> jobs,
			RecentEvents events, WaitingThreads waiting, EndpointPaths paths, ApplicationContext context) {
		ConsoleReader reader = new ConsoleReader(engine::getObject, jobs::getIfUnique, events, waiting);
		return new ConsoleEndpoint(reader, paths,
				(context instanceof WebApplicationContext) ? SecurityHeaders::set : () -> {
				});
	}

	/**
	 * Keeps the files of the page in a native image.
	 */
	static final class Files implements RuntimeHintsRegistrar {

		@Override
		public void registerHints(RuntimeHints hints, @org.jspecify.annotations.Nullable ClassLoader classLoader) {
			hints.resources().registerPattern("dev/dblock/console/*");
		}

	}

}
