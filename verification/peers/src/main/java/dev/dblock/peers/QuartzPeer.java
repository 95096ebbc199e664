package dev.dblock.peers;

import java.util.Map;
import java.util.Objects;
import java.util.Properties;

import org.quartz.CronScheduleBuilder;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobExecutionContext;
import org.quartz.ObjectAlreadyExistsException;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;

/**
 * Quartz as a cluster, with its defaults and with {@code acquireTriggersWithinLock}.
 */
final class QuartzPeer {

	private static final String RECORDER = "recorder";

	private QuartzPeer() {
	}

	static void start(Recorder recorder, String instance, String postgresql) throws SchedulerException {
		start(recorder, instance, postgresql, Peers.QUARTZ, "default", false);
		start(recorder, instance, postgresql, Peers.QUARTZ_WITHIN_LOCK, "within-lock", true);
	}

	private static void start(Recorder recorder, String instance, String postgresql, String peer, String name,
			boolean withinLock) throws SchedulerException {
		Properties properties = new Properties();
		properties.putAll(Map.of("org.quartz.scheduler.instanceName", name, "org.quartz.scheduler.instanceId", instance,
				"org.quartz.threadPool.class", "org.quartz.simpl.SimpleThreadPool", "org.quartz.threadPool.threadCount",
				"5"));
		properties.putAll(Map.of("org.quartz.jobStore.class", "org.quartz.impl.jdbcjobstore.JobStoreTX",
				"org.quartz.jobStore.driverDelegateClass", "org.quartz.impl.jdbcjobstore.PostgreSQLDelegate",
				"org.quartz.jobStore.isClustered", "true", "org.quartz.jobStore.acquireTriggersWithinLock",
				Boolean.toString(withinLock), "org.quartz.jobStore.dataSource", name));
		String source = "org.quartz.dataSource." + name;
		properties.putAll(Map.of(source + ".provider", "hikaricp", source + ".driver", "org.postgresql.Driver",
				source + ".URL", postgresql, source + ".user", "postgres", source + ".maxConnections", "7"));
		Scheduler scheduler = new StdSchedulerFactory(properties).getScheduler();
		scheduler.getContext().put(RECORDER, recorder);
		schedule(scheduler, peer, Schedules.FIVE, "*/5 * * * * ?");
		schedule(scheduler, peer, Schedules.ONE, "* * * * * ?");
		scheduler.start();
	}

	private static void schedule(Scheduler scheduler, String peer, String job, String cron) throws SchedulerException {
		try {
			scheduler.scheduleJob(JobBuilder.newJob(RecordedJob.class).withIdentity(job, peer).build(),
					TriggerBuilder.newTrigger()
						.withIdentity(job)
						.withSchedule(CronScheduleBuilder.cronSchedule(cron))
						.build());
		}
		catch (ObjectAlreadyExistsException ex) {
			System.err.println(peer + ", " + job + ": another instance has scheduled it");
		}
	}

	/** Quartz creates it. */
	public static class RecordedJob implements Job {

		@Override
		public void execute(JobExecutionContext context) {
			try {
				Recorder recorder = (Recorder) Objects
					.requireNonNull(context.getScheduler().getContext().get(RECORDER));
				recorder.run(context.getJobDetail().getKey().getGroup(), context.getJobDetail().getKey().getName(),
						context.getScheduledFireTime().getTime());
			}
			catch (SchedulerException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
