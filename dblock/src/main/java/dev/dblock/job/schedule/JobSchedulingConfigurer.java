package dev.dblock.job.schedule;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import dev.dblock.DistributedLock;
import dev.dblock.support.Durations;
import org.jspecify.annotations.Nullable;

import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ApplicationContextEvent;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.config.ScheduledTaskHolder;
import org.springframework.scheduling.config.ScheduledTaskRegistrar;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Wraps the scheduler of Spring's registrar with the {@link JobScheduler}, after every
 * other configurer. Makes the startup fail if a job was not scheduled through it or has a
 * contradictory declaration.
 */
public final class JobSchedulingConfigurer
		implements SchedulingConfigurer, Ordered, ApplicationListener<ApplicationContextEvent> {

	private static final String ONCE_PER_PLANNED_TIME = "dblock.jobs.once-per-planned-time";

	private static final String NOT_CAPTURED = "%s: its planned time cannot be captured, because %s; or %s";

	private static final String SWITCH_OFF = "set " + ONCE_PER_PLANNED_TIME
			+ "=false and give every job a minimum hold";

	private final ScheduledJobs jobs;

	private final ApplicationContext context;

	private @Nullable ScheduledTaskRegistrar registrar;

	private @Nullable TaskScheduler scheduler;

	/**
	 * Create the configurer.
	 * @param jobs the jobs of the context
	 * @param context the context
	 */
	public JobSchedulingConfigurer(ScheduledJobs jobs, ApplicationContext context) {
		this.jobs = jobs;
		this.context = context;
	}

	@Override
	public int getOrder() {
		return LOWEST_PRECEDENCE;
	}

	@Override
	public void configureTasks(ScheduledTaskRegistrar registrar) {
		TaskScheduler scheduler = registrar.getScheduler();
		if (scheduler != null) {
			this.scheduler = new JobScheduler(scheduler, this.jobs);
			this.registrar = registrar;
			registrar.setTaskScheduler(this.scheduler);
		}
	}

	/**
	 * Check the jobs, after Spring has scheduled them.
	 * @throws InvalidJobException if one of them cannot run once per planned time
	 */
	@Override
	public void onApplicationEvent(ApplicationContextEvent event) {
		ApplicationContext context = event.getApplicationContext();
		if (event instanceof ContextClosedEvent && context == this.context) {
			this.jobs.close();
		}
		else if (event instanceof ContextRefreshedEvent && (context == this.context || isDescendant(context))) {
			check(context);
		}
	}

	/**
	 * Whether a context relies on this one for its jobs.
	 */
	private static boolean isDescendant(ApplicationContext context) {
		return context.getBeansOfType(JobSchedulingConfigurer.class, false, false).isEmpty()
				&& context.getEnvironment().getProperty(ONCE_PER_PLANNED_TIME, Boolean.class, true);
	}

	private void check(ApplicationContext context) {
		Set<String> findings = new TreeSet<>();
		context.getBeansOfType(ScheduledTaskHolder.class, false, false)
			.values()
			.stream()
			.flatMap((holder) -> holder.getScheduledTasks().stream())
			.map((task) -> task.getTask().getRunnable())
			.filter((task) -> !this.jobs.isCaptured(task))
			.forEach((task) -> refuse(task, findings));
		Map<String, Set<String>> places = new TreeMap<>();
		for (ScheduledJobs.Task task : this.jobs.captured()) {
			Collection<JobMethod> methods = this.jobs.of(task.runnable());
			for (JobMethod method : methods) {
				String id = check(method, task, methods.size() > 1, findings);
				if (id != null) {
					places.computeIfAbsent(id, (key) -> new TreeSet<>()).add(method.place());
				}
			}
		}
		places.forEach((id, methods) -> checkId(id, methods, findings));
		if (!findings.isEmpty()) {
			throw new InvalidJobException(List.copyOf(findings));
		}
		this.jobs.checked();
	}

	private void refuse(Runnable task, Set<String> findings) {
		Collection<JobMethod> methods = this.jobs.of(task);
		if (methods.isEmpty()) {
			if (isLocked(task.toString())) {
				findings.add(NOT_CAPTURED.formatted(task,
						"its bean has no proxy that can capture it: the existing proxy is frozen, opaque or hidden by"
								+ " a wrapper, or the bean belongs to a context without the auto-configuration of"
								+ " dblock",
						SWITCH_OFF));
			}
			return;
		}
		TaskScheduler present = (this.registrar != null) ? this.registrar.getScheduler() : null;
		String reason = (present != null && present != this.scheduler)
				? ("the scheduler of the ScheduledTaskRegistrar was replaced by %s after all configurers; declare the"
						+ " SchedulingConfigurer that sets it as an ordinary bean, or declare the scheduler as a"
						+ " TaskScheduler bean and set none")
					.formatted(present.getClass().getName())
				: "it was not scheduled by the ScheduledTaskRegistrar of @EnableScheduling; use @Scheduled, or add it in a"
						+ " SchedulingConfigurer";
		methods.forEach((method) -> findings.add(NOT_CAPTURED.formatted(method.place(), reason, SWITCH_OFF)));
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
			Class<?> type = ClassUtils.forName(task.substring(0, dot), this.context.getClassLoader());
			Method method = ReflectionUtils.findMethod(ClassUtils.getUserClass(type), task.substring(dot + 1));
			return method != null
					&& MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).isPresent(DistributedLock.class);
		}
		catch (ClassNotFoundException | LinkageError ex) {
			// A task that is not a method
			return false;
		}
	}

	private static @Nullable String check(JobMethod method, ScheduledJobs.Task task, boolean oneOfSeveral,
			Set<String> findings) {
		Duration period = task.period();
		JobDeclaration declaration;
		try {
			declaration = method.declaration();
		}
		catch (IllegalArgumentException ex) {
			findings.add(method.place() + ": " + ex.getMessage());
			return null;
		}
		if (declaration.obstacle() != null) {
			findings.add(method.place() + ": " + declaration.obstacle());
		}
		else if (oneOfSeveral && declaration.runMissed()) {
			findings
				.add(("%s: whenMissed = RUN needs the run record at startup, but the scheduler calls several beans as"
						+ " %s; give each a method of its own, or proxies of its class")
					.formatted(method.place(), task.runnable()));
		}
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
		return declaration.storedId();
	}

	private static void checkId(String id, Set<String> methods, Set<String> findings) {
		if (methods.size() > 1) {
			findings.add(("%s are different jobs with the same id '%s', so each planned time would run only one of"
					+ " them; give each its own id with @JobPolicy(id = …)")
				.formatted(String.join(" and ", methods), id));
		}
	}

}
