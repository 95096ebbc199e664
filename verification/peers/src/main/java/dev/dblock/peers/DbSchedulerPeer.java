package dev.dblock.peers;

import java.time.Duration;

import javax.sql.DataSource;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerBuilder;
import com.github.kagkarlsson.scheduler.SchedulerName;
import com.github.kagkarlsson.scheduler.task.helper.RecurringTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import org.jspecify.annotations.Nullable;

/**
 * db-scheduler, with its defaults and with frequent polling.
 */
final class DbSchedulerPeer {

	static final String TABLE = "scheduled_tasks";

	static final String TABLE_POLLING = "scheduled_tasks_polling";

	private DbSchedulerPeer() {
	}

	static void start(Recorder recorder, String instance, DataSource dataSource) {
		start(recorder, instance, dataSource, Peers.DB_SCHEDULER, TABLE, null);
		start(recorder, instance, dataSource, Peers.DB_SCHEDULER_POLLING, TABLE_POLLING, Duration.ofMillis(250));
	}

	private static void start(Recorder recorder, String instance, DataSource dataSource, String peer, String table,
			@Nullable Duration pollingInterval) {
		SchedulerBuilder builder = Scheduler.create(dataSource)
			.tableName(table)
			.startTasks(task(recorder, peer, Schedules.FIVE, Schedules.EVERY_FIVE_SECONDS),
					task(recorder, peer, Schedules.ONE, Schedules.EVERY_SECOND))
			.threads(5)
			.schedulerName(new SchedulerName.Fixed(instance));
		if (pollingInterval != null) {
			builder.pollingInterval(pollingInterval);
		}
		builder.build().start();
	}

	private static RecurringTask<Void> task(Recorder recorder, String peer, String job, String cron) {
		return Tasks.recurring(job, com.github.kagkarlsson.scheduler.task.schedule.Schedules.cron(cron))
			.execute((instance, context) -> recorder.run(peer, job,
					context.getExecution().executionTime.toEpochMilli()));
	}

}
