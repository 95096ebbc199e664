package dev.dblock.job.method;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;

import dev.dblock.LockOptions;
import dev.dblock.annotation.invocation.LockedOperation;
import dev.dblock.annotation.name.AttributeValues;
import dev.dblock.annotation.name.LockName;
import dev.dblock.engine.LockEngine;
import dev.dblock.job.JobPolicy;
import dev.dblock.job.JobPolicy.WhenClockChanges;
import dev.dblock.job.JobPolicy.WhenCrashed;
import dev.dblock.job.JobPolicy.WhenMissed;
import dev.dblock.job.ShardNames;
import dev.dblock.job.schedule.JobMethod;
import dev.dblock.job.schedule.ScheduledJobs;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.StringUtils;
import org.springframework.util.StringValueResolver;

/**
 * Reads the declarations of {@link JobPolicy @JobPolicy} and {@code dblock.jobs.<id>} for
 * a locked method.
 */
final class JobPolicies {

	private static final String SEVERAL_LOCKS = "a planned time needs a lock of its own, but the method has several;"
			+ " declare the others on a method that it calls";

	private static final String RUNS_AGAIN = "a run for a planned time is not repeated on request, but whenUnavailable ="
			+ " RUN_AGAIN is set; declare it on a method that this one calls";

	private static final String PERMITS = "a planned time runs once, but the lock has permits, by its declaration or"
			+ " dblock.locks; remove them, or declare them on a method that this one calls";

	private static final String UNKNOWN_LOCK = "whenMissed = RUN needs the run record at startup, but the name of the"
			+ " lock is known only when the method is called; give the lock a name without expressions";

	private static final String NO_SHARDS = "shards need a blocking method with @DistributedLock, whose lock has a name"
			+ " without expressions and no condition; remove @Async and the condition, return the result itself, or remove"
			+ " the shards";

	private static final int MOST_SHARDS = 1000;

	private static final Duration START_WITHIN = Duration.ofHours(1);

	private final ScheduledJobs jobs;

	private final String bean;

	private final StringValueResolver placeholders;

	/**
	 * Create the policies of a method.
	 * @param bean the name of its bean
	 */
	JobPolicies(ScheduledJobs jobs, String bean, StringValueResolver placeholders) {
		this.jobs = jobs;
		this.bean = bean;
		this.placeholders = placeholders;
	}

	/**
	 * Return the declaration of a method that is a job.
	 * @throws IllegalArgumentException if an attribute is invalid or has a placeholder
	 * that cannot be resolved
	 */
	JobMethod.Declaration declaration(LockedOperation operation) {
		LockName lock = operation.names().get(0);
		String name = (lock instanceof LockName.Constant constant) ? constant.text() : null;
		LockEngine engine = Objects.requireNonNull(operation.engine());
		LockOptions options = engine.setting((name != null) ? name : lock.sample())
			.map((setting) -> setting.options().orElse(operation.options()))
			.orElse(operation.options());
		return declaration(operation.method().method(), null, name, lock.template(), engine, options,
				operation.isConditional(),
				(operation.names().size() > 1) ? SEVERAL_LOCKS : operation.runsAgain() ? RUNS_AGAIN : null);
	}

	JobMethod.Declaration declaration(Method method, JobMethods.LockOfJob lock) {
		LockOptions permits = lock.engine()
			.setting(lock.name())
			.map((setting) -> new LockOptions(null, null, null, null, null, null, null, null, null,
					setting.options().permits()))
			.orElse(LockOptions.defaults());
		return declaration(method, lock.defaultId(), lock.name(), lock.name(), lock.engine(), permits, true, null);
	}

	/**
	 * Return the declaration of a method that is a job.
	 * @param defaultId the id if none is declared; {@code null} for the name of the lock
	 * @param name the name of its lock; {@code null} if only a call determines it
	 * @param template the name of its lock as it is declared
	 * @param options the options of its lock
	 * @param indivisible whether the lock cannot have shards, since another advisor locks
	 * the method, or the lock has a condition
	 * @param obstacle why the method cannot run once per planned time; {@code null} if it
	 * can
	 * @throws IllegalArgumentException if an attribute is invalid or has a placeholder
	 * that cannot be resolved
	 */
	private JobMethod.Declaration declaration(Method method, @Nullable String defaultId, @Nullable String name,
			String template, LockEngine engine, LockOptions options, boolean indivisible, @Nullable String obstacle) {
		JobPolicy policy = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY)
			.get(JobPolicy.class)
			.synthesize(MergedAnnotation::isPresent)
			.orElse(null);
		String id = (policy != null) ? this.placeholders.resolveStringValue(policy.id()) : null;
		if (!StringUtils.hasText(id)) {
			id = defaultId;
		}
		ScheduledJobs.Settings settings = this.jobs.settings((id != null) ? id : template);
		WhenCrashed whenCrashed = settings.whenCrashed();
		if (whenCrashed == null) {
			whenCrashed = (policy != null) ? policy.whenCrashed() : WhenCrashed.SKIP;
		}
		WhenMissed whenMissed = settings.whenMissed();
		if (whenMissed == null) {
			whenMissed = (policy != null) ? policy.whenMissed() : WhenMissed.SKIP;
		}
		Integer shards = (policy != null) ? number("shards", policy.shards(), policy.shardsString(),
				"write into how many parts the work is divided, or remove it") : null;
		Integer concurrency = (policy != null) ? number("concurrency", policy.concurrency(), "",
				"write how many shards an instance works on at the same time, or remove it for one") : null;
		if (shards == null && policy != null && !policy.shardsString().isEmpty()) {
			throw new IllegalArgumentException(
					("shardsString = \"%s\" gives no number; write into how many parts the work is"
							+ " divided, or remove it")
						.formatted(policy.shardsString()));
		}
		if (shards != null && name != null) {
			// The planned time begins under the lock of the job, with the defaults
			engine.check(name, LockOptions.defaults());
			engine.check(ShardNames.of(name, shards), LockOptions.defaults());
		}
		if (shards == null && concurrency != null) {
			throw new IllegalArgumentException(
					"it has a concurrency, but no shards: set shards, or remove the concurrency");
		}
		String other = (options.permits() != null) ? PERMITS
				: (whenMissed == WhenMissed.RUN && name == null) ? UNKNOWN_LOCK
						: (shards != null && (name == null || indivisible || !isBlocking(method))) ? NO_SHARDS : null;
		return new JobMethod.Declaration(id, (name != null) ? engine.fullName(name) : null, template, engine,
				whenCrashed == WhenCrashed.RERUN, whenMissed == WhenMissed.RUN, startWithin(policy, settings),
				options.waitUpTo(), options.minHold(), (obstacle != null) ? obstacle : other,
				whenClockChanges(policy, settings), method(method, policy), (shards != null) ? shards : 0,
				(concurrency != null) ? concurrency : 1);
	}

	private @Nullable Integer number(String attribute, long number, String text, String remedy) {
		return new AttributeValues(this.placeholders).number(attribute, number, text, MOST_SHARDS, remedy);
	}

	/**
	 * Whether the work of a method has ended when it returns.
	 */
	private static boolean isBlocking(Method method) {
		Class<?> type = method.getReturnType();
		return !Future.class.isAssignableFrom(type) && !CompletionStage.class.isAssignableFrom(type)
				&& !KotlinDetector.isSuspendingFunction(method)
				&& ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) == null && !isAsync(method)
				&& !isAsync(method.getDeclaringClass());
	}

	private static boolean isAsync(AnnotatedElement element) {
		return MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).isPresent(Async.class);
	}

	/**
	 * Return the method by which other ids of a job are known. Within an application, a
	 * literal id is another one only in another version. One that is evaluated can differ
	 * between instances because each of them is to run the planned times. The names of
	 * inner beans differ from start to start.
	 */
	private @Nullable String method(Method method, @Nullable JobPolicy policy) {
		String application = this.placeholders.resolveStringValue("${spring.application.name:}");
		boolean evaluated = policy != null && (policy.id().contains("${") || policy.id().contains("#{"));
		if (evaluated || !StringUtils.hasText(application)
				|| this.bean.contains(BeanFactoryUtils.GENERATED_BEAN_NAME_SEPARATOR)) {
			return null;
		}
		return application + "/" + this.bean + "#" + method.getName();
	}

	private static @Nullable WhenClockChanges whenClockChanges(@Nullable JobPolicy policy,
			ScheduledJobs.Settings settings) {
		boolean once = policy != null && policy.whenClockChanges() == WhenClockChanges.ONCE;
		return (settings.whenClockChanges() == null && once) ? WhenClockChanges.ONCE : settings.whenClockChanges();
	}

	private Duration startWithin(@Nullable JobPolicy policy, ScheduledJobs.Settings settings) {
		Duration startWithin = settings.startWithin();
		if (startWithin == null && policy != null) {
			startWithin = new AttributeValues(this.placeholders).duration("startWithin", policy.startWithinSeconds(),
					policy.startWithinString());
		}
		if (startWithin == null) {
			return START_WITHIN;
		}
		if (startWithin.compareTo(Duration.ofMillis(1)) < 0
				|| startWithin.compareTo(Duration.ofNanos(Long.MAX_VALUE)) > 0) {
			throw new IllegalArgumentException(("its startWithin is %s, but must be between one millisecond and 292"
					+ " years; omit it for one hour")
				.formatted(startWithin));
		}
		return startWithin;
	}

}
