package dev.dblock.job.schedule;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ApplicationContextEvent;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.Ordered;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.config.ScheduledTaskHolder;
import org.springframework.scheduling.config.ScheduledTaskRegistrar;

/**
 * Wraps the scheduler of Spring's registrar with the {@link JobScheduler}, after every
 * other configurer. Makes the startup fail if a job was not scheduled through it or has a
 * contradictory declaration.
 */
final class JobSchedulingConfigurer
		implements SchedulingConfigurer, Ordered, ApplicationListener<ApplicationContextEvent> {

	private static final Logger logger = LoggerFactory.getLogger(JobSchedulingConfigurer.class);

	private static final String ONCE_PER_PLANNED_TIME = "dblock.once-per-planned-time";

	private final ScheduledJobs jobs;

	private final ApplicationContext context;

	private final JobChecks checks;

	private @Nullable ScheduledTaskRegistrar registrar;

	private @Nullable TaskScheduler scheduler;

	JobSchedulingConfigurer(ScheduledJobs jobs, ApplicationContext context) {
		this.jobs = jobs;
		this.context = context;
		this.checks = new JobChecks(jobs, context.getClassLoader());
	}

	@Override
	public int getOrder() {
		return LOWEST_PRECEDENCE;
	}

	@Override
	public void configureTasks(ScheduledTaskRegistrar registrar) {
		TaskScheduler scheduler = registrar.getScheduler();
		if (scheduler != null) {
			joinFamily();
			this.jobs.scheduling();
			this.scheduler = new JobScheduler(scheduler, this.jobs, this.checks);
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
		String reason = reasonNotCaptured();
		List<Runnable> others = context.getBeansOfType(ScheduledTaskHolder.class, false, false)
			.values()
			.stream()
			.flatMap((holder) -> holder.getScheduledTasks().stream())
			.map((task) -> task.getTask().getRunnable())
			.filter((task) -> !this.jobs.isCaptured(task))
			.toList();
		others.forEach((task) -> this.checks.checkUncaptured(task, reason, findings));
		this.jobs.captured().forEach((task) -> this.checks.check(task, findings));
		if (context == this.context) {
			this.jobs.checkDeclarations(findings);
			this.checks.checkUnlocked(others, findings);
		}
		if (!findings.isEmpty()) {
			throw new InvalidJobException(findings);
		}
		// A child context can be started before the jobs are scheduled
		if (context == this.context) {
			this.jobs.checked();
			warnOfUnusedSettings();
		}
	}

	private void warnOfUnusedSettings() {
		List<String> unused = this.jobs.isScheduling() ? this.jobs.unusedSettings() : List.of();
		if (!unused.isEmpty()) {
			logger
				.warn("dblock.jobs has settings for ids that no job of this application context has: {}. The id is that"
						+ " of @JobPolicy, or the name of the lock without any prefix. Jobs of beans that are created later"
						+ " are not known here; if these are not among them, correct them", String.join(", ", unused));
		}
	}

	private String reasonNotCaptured() {
		TaskScheduler present = (this.registrar != null) ? this.registrar.getScheduler() : null;
		return (present != null && present != this.scheduler)
				? ("the scheduler of the ScheduledTaskRegistrar was replaced by %s after all configurers; declare the"
						+ " SchedulingConfigurer that sets it as an ordinary bean, or declare the scheduler as a"
						+ " TaskScheduler bean and set none")
					.formatted(present.getClass().getName())
				: "it was not scheduled by the ScheduledTaskRegistrar of @EnableScheduling; use @Scheduled, or add it in a"
						+ " SchedulingConfigurer";
	}

	private void joinFamily() {
		for (ApplicationContext each = this.context.getParent(); each != null; each = each.getParent()) {
			each.getBeansOfType(ScheduledJobs.class, false, false).values().forEach(this.jobs::join);
		}
	}

}
