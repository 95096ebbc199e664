package dev.dblock.interceptor;

import java.util.Objects;

import dev.dblock.LockEngine;
import dev.dblock.LockOptions;
import dev.dblock.job.JobPolicy;
import dev.dblock.job.WhenCrashed;
import dev.dblock.job.schedule.JobDeclaration;
import dev.dblock.job.schedule.ScheduledJobs;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.StringUtils;
import org.springframework.util.StringValueResolver;

/**
 * Reads what {@link JobPolicy @JobPolicy} and {@code dblock.jobs.<id>} declare for a
 * locked method.
 */
final class JobPolicies {

	private static final String SEVERAL_LOCKS = "a planned time needs a lock of its own, but the method has several;"
			+ " declare the others on a method that it calls";

	private final ScheduledJobs jobs;

	private final StringValueResolver placeholders;

	JobPolicies(ScheduledJobs jobs, StringValueResolver placeholders) {
		this.jobs = jobs;
		this.placeholders = placeholders;
	}

	/**
	 * What is declared for a method that is a job.
	 * @throws IllegalArgumentException if its id has a placeholder that is not known
	 */
	JobDeclaration declaration(LockOperation operation) {
		JobPolicy policy = MergedAnnotations.from(operation.method().method(), SearchStrategy.TYPE_HIERARCHY)
			.get(JobPolicy.class)
			.synthesize(MergedAnnotation::isPresent)
			.orElse(null);
		String id = (policy != null) ? this.placeholders.resolveStringValue(policy.id()) : null;
		if (!StringUtils.hasText(id)) {
			id = null;
		}
		MethodLock lock = operation.locks().get(0);
		WhenCrashed whenCrashed = this.jobs.whenCrashed((id != null) ? id : lock.name().template());
		if (whenCrashed == null) {
			whenCrashed = (policy != null) ? policy.whenCrashed() : WhenCrashed.SKIP;
		}
		String name = (lock.name() instanceof LockName.Constant constant) ? constant.text() : null;
		LockEngine engine = Objects.requireNonNull(operation.engine());
		// The mock of a test returns null
		LockOptions options = Objects.requireNonNullElse(
				engine.withSettings((name != null) ? name : lock.name().sample(), lock.options()), lock.options());
		return new JobDeclaration(id, (id == null && name != null) ? engine.fullName(name) : id,
				whenCrashed == WhenCrashed.RERUN, options.waitUpTo(), options.minHold(),
				(operation.locks().size() > 1) ? SEVERAL_LOCKS : null);
	}

}
