package dev.dblock.job.schedule;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import dev.dblock.Durations;
import org.jspecify.annotations.Nullable;

import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ApplicationContextEvent;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.Ordered;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.config.ScheduledTask;
import org.springframework.scheduling.config.ScheduledTaskHolder;
import org.springframework.scheduling.config.ScheduledTaskRegistrar;

/**
 * Puts the {@link JobScheduler} in front of the scheduler of Spring's registrar, after
 * every other configurer, and stops the start if a job did not pass through it or
 * contradicts itself.
 */
public final class JobSchedulingConfigurer
		implements SchedulingConfigurer, Ordered, ApplicationListener<ApplicationContextEvent> {

	private static final String SWITCH_OFF = "set dblock.jobs.once-per-planned-time=false and give every job a minimum"
			+ " hold";

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
		if (event.getApplicationContext() != this.context) {
			return;
		}
		if (event instanceof ContextClosedEvent) {
			this.jobs.close();
		}
		if (!(event instanceof ContextRefreshedEvent)) {
			return;
		}
		Set<String> findings = new TreeSet<>();
		this.context.getBeanProvider(ScheduledTaskHolder.class)
			.stream()
			.flatMap((holder) -> holder.getScheduledTasks().stream())
			.forEach((task) -> checkCaptured(task, findings));
		Map<String, Set<String>> places = new TreeMap<>();
		for (ScheduledJobs.Task task : this.jobs.captured()) {
			for (JobMethod method : this.jobs.of(task.runnable())) {
				JobDeclaration declaration = method.declaration().get();
				check(method, declaration, task.period(), findings);
				if (declaration.id() != null) {
					places.computeIfAbsent(declaration.id(), (id) -> new TreeSet<>()).add(method.place());
				}
			}
		}
		places.forEach((id, methods) -> checkId(id, methods, findings));
		if (!findings.isEmpty()) {
			throw new InvalidJobException(List.copyOf(findings));
		}
		this.jobs.checked();
	}

	private void checkCaptured(ScheduledTask task, Set<String> findings) {
		Runnable runnable = task.getTask().getRunnable();
		Collection<JobMethod> methods = this.jobs.of(runnable);
		if (methods.isEmpty() || this.jobs.isCaptured(runnable)) {
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
		methods.forEach((method) -> findings.add("%s: its planned time cannot be captured, because %s; or %s"
			.formatted(method.place(), reason, SWITCH_OFF)));
	}

	private static void check(JobMethod method, JobDeclaration declaration, @Nullable Duration period,
			Set<String> findings) {
		List<String> contradictions = new ArrayList<>();
		if (declaration.obstacle() != null) {
			contradictions.add(declaration.obstacle());
		}
		if (period != null && declaration.minHold().compareTo(period) > 0) {
			contradictions
				.add(("its minimum hold of %s is longer than the %s between two planned times, so that it would"
						+ " skip some; a job needs no minimum hold, so leave it out")
					.formatted(Durations.written(declaration.minHold()), Durations.written(period)));
		}
		if (period != null && declaration.waitUpTo().compareTo(period) > 0) {
			contradictions.add(("it waits up to %s for its lock, which is longer than the %s between two planned times;"
					+ " wait for a shorter time, or not at all")
				.formatted(Durations.written(declaration.waitUpTo()), Durations.written(period)));
		}
		contradictions.forEach((contradiction) -> findings.add(method.place() + ": " + contradiction));
	}

	private static void checkId(String id, Set<String> methods, Set<String> findings) {
		if (methods.size() > 1) {
			findings.add(("%s are different jobs with the id '%s', of which each planned time would run only one; give"
					+ " them ids of their own with @JobPolicy(id = …)")
				.formatted(String.join(" and ", methods), id));
		}
	}

}
