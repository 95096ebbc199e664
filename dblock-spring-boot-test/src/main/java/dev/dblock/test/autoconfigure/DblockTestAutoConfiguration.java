package dev.dblock.test.autoconfigure;

import dev.dblock.autoconfigure.DblockAutoConfiguration;
import dev.dblock.autoconfigure.DblockProperties;
import dev.dblock.engine.LockEngine;
import dev.dblock.job.schedule.ScheduledJobs;
import dev.dblock.local.LocalLockStore;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration for {@link AutoConfigureDblock @AutoConfigureDblock}.
 */
@AutoConfiguration(after = DblockAutoConfiguration.class)
final class DblockTestAutoConfiguration {

	static final String RECORDER = "dblockTestLockRecorder";

	static final String LOCKS = "dblockTestLocks";

	// Ordered last, so that all other listeners have at least been called before it
	@Bean(RECORDER)
	@Order(Ordered.LOWEST_PRECEDENCE)
	LockRecorder dblockTestLockRecorder() {
		return new LockRecorder();
	}

	// Not lazy, since it has to come before the scheduler begins
	@Bean
	@Lazy(false)
	SmartInitializingSingleton dblockTestSchedules(ObjectProvider<ScheduledJobs> jobs, Environment environment) {
		// No condition on the property, which would know no other word than false
		return () -> {
			if (!environment.getProperty("dblock.test.run-schedules", Boolean.class, false)) {
				jobs.ifAvailable(ScheduledJobs::fireOnlyOnRequest);
			}
		};
	}

	@Bean(LOCKS)
	@Lazy
	TestLocks dblockTestLocks(LockEngine engine, LocalLockStore store, LockRecorder recorder,
			DblockProperties properties, ObjectProvider<ScheduledJobs> jobs) {
		if (properties.mode() != DblockProperties.Mode.LOCAL) {
			throw new IllegalStateException(("TestLocks works on locks in memory, but dblock.mode is %s. Leave it to"
					+ " @AutoConfigureDblock, or do not use TestLocks")
				.formatted(properties.mode()));
		}
		return new TestLocks(engine, store, recorder, jobs.getIfAvailable());
	}

}
