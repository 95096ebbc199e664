package dev.dblock.job.schedule;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

import dev.dblock.DistributedLock;
import dev.dblock.job.schedule.JobMethod.Declaration;
import dev.dblock.job.schedule.ScheduledJobs.WhenUnlocked;
import dev.dblock.support.Durations;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds what keeps the jobs of a context from running once per planned time, at startup
 * and when a bean is created later.
 */
final class JobChecks {

	private static final String NOT_CAPTURED = "%s: its planned time cannot be captured, because %s; or set"
			+ " dblock.once-per-planned-time=false and give every job a minimum hold";

	private static final String WITHOUT_PROXY = "%s: would run without its lock, because its bean was requested while it"
			+ " was being created, as in a circular reference, and Spring passes such a bean to the scheduler without"
			+ " its proxy; remove the circular reference, for example by @Lazy at one of its injection points";

	private static final Logger logger = LoggerFactory.getLogger(JobChecks.class);

	private final ScheduledJobs jobs;

	private final @Nullable ClassLoader classLoader;

	JobChecks(ScheduledJobs jobs, @Nullable ClassLoader classLoader) {
		this.jobs = jobs;
		this.classLoader = classLoader;
	}

	/**
	 * Refuse a task that is not captured if it calls a locked method.
	 * @param reason why the tasks of known jobs are not captured
	 */
	void checkUncaptured(Runnable task, String reason, Set<String> findings) {
		Collection<JobMethod> methods = this.jobs.of(task);
		methods.forEach((method) -> findings.add(NOT_CAPTURED.formatted(method.place(), reason)));
		if (methods.isEmpty() && isLocked(task.toString())) {
			findings.add(this.jobs.isWithoutProxy(task) ? WITHOUT_PROXY.formatted(task) : NOT_CAPTURED.formatted(task,
					"its bean has no proxy that can capture it: the existing proxy is frozen, opaque or hidden by"
							+ " a wrapper, or the bean belongs to a context without the auto-configuration of"
							+ " dblock"));
		}
	}

	/**
	 * Whether the method after which a task is named has a lock of its own.
	 */
	private boolean isLocked(String task) {
		int dot = task.lastIndexOf('.');
		if (dot < 0) {
			return false;
		}
		try {
			Class<?> type = ClassUtils.forName(task.substring(0, dot), this.classLoader);
			Method method = ReflectionUtils.findMethod(ClassUtils.getUserClass(type), task.substring(dot + 1));
			return method != null
					&& MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).isPresent(DistributedLock.class);
		}
		catch (ClassNotFoundException | LinkageError ex) {
			// A task that is not a method
			return false;
		}
	}

	/**
	 * Report the scheduled methods without a lock among the tasks that are not captured.
	 * Those of a bean that is created after the startup are only logged, since it can be
	 * created by a request.
	 */
	void checkUnlocked(Collection<Runnable> tasks, Set<String> findings) {
		boolean fail = this.jobs.whenUnlocked() == WhenUnlocked.FAIL;
		Set<String> methods = new TreeSet<>();
		tasks.forEach((task) -> methods.addAll(this.jobs.takeUnlocked(task)));
		if (fail && !this.jobs.isChecked()) {
			methods.forEach((method) -> findings.add(method + ": is @Scheduled without a lock, so every instance runs"
					+ " it, which dblock.jobs.unlocked=fail forbids; add @DistributedLock, or @RunsOnEveryInstance if"
					+ " that is intended"));
		}
		else if (!methods.isEmpty() && (fail || hasJobs())) {
			logger.info(
					"Without @DistributedLock, every instance runs {}. Add it to run each planned time once, or add"
							+ " @RunsOnEveryInstance if that is intended; dblock.jobs.unlocked=ignore omits this line",
					String.join(", ", methods));
		}
	}

	private boolean hasJobs() {
		return this.jobs.family().stream().anyMatch((context) -> !context.jobs().isEmpty());
	}

	/**
	 * Check the jobs that a captured task calls.
	 */
	void check(ScheduledJobs.Task task, Set<String> findings) {
		Collection<JobMethod> methods = this.jobs.of(task.runnable());
		for (JobMethod method : methods) {
			try {
				check(method, method.declaration(), task, methods.size() > 1, findings);
				checkId(method, findings);
				checkLock(method, findings);
			}
			catch (IllegalArgumentException ex) {
				findings.add(method.place() + ": " + ex.getMessage());
			}
		}
	}

	private static void check(JobMethod method, Declaration declaration, ScheduledJobs.Task task, boolean oneOfSeveral,
			Set<String> findings) {
		if (declaration.obstacle() != null) {
			findings.add(method.place() + ": " + declaration.obstacle());
		}
		else if (oneOfSeveral && declaration.runMissed()) {
			findings
				.add(("%s: whenMissed = RUN needs the run record at startup, but the scheduler calls several beans as"
						+ " %s; give each a method of its own, or proxies of its class")
					.formatted(method.place(), task.runnable()));
		}
		Duration period = task.period();
		Duration minHold = declaration.minHold();
		if (period != null && minHold != null && minHold.compareTo(period) > 0) {
			findings.add(("%s: its minimum hold of %s is longer than the %s between two planned times, so it would"
					+ " skip some; a job needs no minimum hold, so remove it")
				.formatted(method.place(), Durations.written(minHold), Durations.written(period)));
		}
		Duration wait = declaration.waitUpTo();
		if (period != null && wait != null && wait.compareTo(period) > 0) {
			findings.add(("%s: it waits up to %s for its lock, which is longer than the %s between two planned times;"
					+ " wait for a shorter time, or not at all")
				.formatted(method.place(), Durations.written(wait), Durations.written(period)));
		}
	}

	/**
	 * Compare the id of a job with those of its context, and of the jobs in related
	 * contexts that have the same engine.
	 */
	private void checkId(JobMethod method, Set<String> findings) {
		String id = method.declaration().storedId();
		String places = places(method, (other) -> id != null && id.equals(other.storedId()));
		if (!places.isEmpty()) {
			findings.add(("%s are different jobs with the same id '%s', so each planned time would run only one of"
					+ " them; give each its own id with @JobPolicy(id = …)")
				.formatted(places, id));
		}
	}

	/**
	 * Compare the lock of a job with those of jobs with other ids, if one of them has
	 * shards.
	 */
	private void checkLock(JobMethod method, Set<String> findings) {
		String lock = method.declaration().lock();
		String id = method.storedId();
		String places = places(method,
				(other) -> lock != null && other.storedId() != null && lock.equals(other.declaration().lock())
						&& other.declaration().engine() == method.declaration().engine() && !other.storedId().equals(id)
						&& (method.isSharded() || other.isSharded()));
		if (!places.isEmpty()) {
			findings.add(("%s have the same lock '%s', and a job with shards has it only while a planned time begins,"
					+ " so they would overlap; give each its own lock")
				.formatted(places, lock));
		}
	}

	/**
	 * Return where a job and other ones are.
	 * @param condition selects the others
	 * @return their places; an empty text if there are no others
	 */
	private String places(JobMethod method, Predicate<JobMethod> condition) {
		Set<String> places = new TreeSet<>();
		for (ScheduledJobs context : this.jobs.family()) {
			boolean own = context == this.jobs;
			for (JobMethod other : context.scheduled()) {
				if (other != method && condition.test(other)
						&& (own || other.declaration().engine() == method.declaration().engine())) {
					places.add(own ? other.place() : other.place() + " of another application context");
				}
			}
		}
		if (!places.isEmpty()) {
			places.add(method.place());
		}
		return String.join(" and ", places);
	}

}
