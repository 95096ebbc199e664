package dev.dblock.interceptor;

import java.time.Duration;
import java.util.List;

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
	 * What a method is when a scheduler calls it.
	 * @throws IllegalArgumentException if its id has a placeholder that is not known
	 */
	JobTerms terms(LockedMethod method, List<MethodLock> locks, LockEngine engine, boolean skippedByDefault) {
		JobPolicy policy = MergedAnnotations.from(method.method(), SearchStrategy.TYPE_HIERARCHY)
			.get(JobPolicy.class)
			.synthesize(MergedAnnotation::isPresent)
			.orElse(null);
		String id = (policy != null) ? this.placeholders.resolveStringValue(policy.id()) : null;
		if (!StringUtils.hasText(id)) {
			id = null;
		}
		MethodLock lock = locks.get(0);
		WhenCrashed whenCrashed = this.jobs.whenCrashed((id != null) ? id : lock.name().template());
		if (whenCrashed == null) {
			whenCrashed = (policy != null) ? policy.whenCrashed() : WhenCrashed.SKIP;
		}
		return new JobTerms(id, whenCrashed == WhenCrashed.RERUN, skippedByDefault,
				declaration(id, lock, locks, engine));
	}

	private static JobDeclaration declaration(@Nullable String id, MethodLock lock, List<MethodLock> locks,
			LockEngine engine) {
		String name = (lock.name() instanceof LockName.Constant constant) ? constant.text() : null;
		LockOptions options = engine.complete((name != null) ? name : lock.name().sample(), lock.options());
		boolean several = locks.size() > 1 && locks.stream().anyMatch((each) -> each.condition() == null);
		return new JobDeclaration((id == null && name != null) ? engine.fullName(name) : id, orNone(options.waitUpTo()),
				orNone(options.minHold()), several ? SEVERAL_LOCKS : null);
	}

	private static Duration orNone(@Nullable Duration duration) {
		return (duration != null) ? duration : Duration.ZERO;
	}

}
