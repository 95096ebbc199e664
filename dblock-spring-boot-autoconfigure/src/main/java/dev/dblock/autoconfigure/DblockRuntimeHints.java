package dev.dblock.autoconfigure;

import java.lang.reflect.Field;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.boot.context.properties.bind.BindableRuntimeHintsRegistrar;
import org.springframework.scheduling.support.CronTrigger;
import org.springframework.util.ReflectionUtils;

/**
 * Registers hints for the settings of jobs, which are not bound as part of a bean, for
 * the time zone of their triggers and the wrapper of their tasks, and for the names of
 * all properties.
 */
final class DblockRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		BindableRuntimeHintsRegistrar.forTypes(DblockProperties.Job.class).registerHints(hints, classLoader);
		// Read by the jobs
		Field zone = ReflectionUtils.findField(CronTrigger.class, "zoneId");
		if (zone != null) {
			hints.reflection().registerField(zone);
		}
		hints.reflection()
			.registerTypeIfPresent(classLoader, "org.springframework.scheduling.config.Task$OutcomeTrackingRunnable",
					(hint) -> hint.withField("runnable"));
		hints.resources().registerPattern(PropertyNameChecker.METADATA);
	}

}
