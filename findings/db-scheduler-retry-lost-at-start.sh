#!/usr/bin/env bash
#
# db-scheduler 16.12.0 with H2 2.3.232: when an instance starts, the retry of a daily task that failed is moved to the
# next day.
#
# A task that runs once a day fails, and its failure handler plans a retry 20 s later. Then another instance starts with
# the same task and the same schedule, as in a rolling restart. Seen: the execution is moved to the next day, so that
# the retry does not take place, and the failure is no longer counted. If no instance starts, the retry takes place. In
# the same way, an execution that `reschedule` has postponed by three days is brought back to the next day. At its
# start, an instance moves an execution that is due in more than ten seconds to the next time of the schedule.
#
# What one would expect: the start of an instance moves an execution if the schedule has changed, as the README says,
# and neither a retry nor an execution that was postponed.
#
# Needs JDK 17 or later and Maven. Fails if db-scheduler behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import com.github.kagkarlsson.scheduler.ScheduledExecution;
import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.task.FailureHandler;
import com.github.kagkarlsson.scheduler.task.helper.RecurringTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.github.kagkarlsson.scheduler.task.schedule.Schedule;
import com.github.kagkarlsson.scheduler.task.schedule.Schedules;
import org.h2.jdbcx.JdbcConnectionPool;

public class Probe {

	private static final Schedule daily = Schedules.daily(ZoneOffset.UTC, LocalTime.now(ZoneOffset.UTC).plusSeconds(6));

	static class Instance {

		final CountDownLatch failed = new CountDownLatch(1);

		final RecurringTask<Void> report;

		final Scheduler scheduler;

		Instance(JdbcConnectionPool dataSource, AtomicInteger attempts) {
			FailureHandler<Void> retry = FailureHandler.<Void>maxRetries(3)
				.retryEvery(Duration.ofSeconds(20))
				.then(new FailureHandler.OnFailureReschedule<>(daily));
			this.report = Tasks.recurring("report", daily).onFailure((complete, operations) -> {
				retry.onFailure(complete, operations);
				this.failed.countDown();
			}).execute((instance, context) -> {
				if (attempts.incrementAndGet() == 1) {
					throw new IllegalStateException("fails once");
				}
			});
			this.scheduler = Scheduler.create(dataSource)
				.startTasks(this.report)
				.threads(1)
				.pollingInterval(Duration.ofMillis(500))
				.build();
		}

		String next() {
			ScheduledExecution<Object> execution = this.scheduler
				.getScheduledExecution(this.report.instance(RecurringTask.INSTANCE))
				.orElseThrow();
			Duration left = Duration.between(Instant.now(), execution.getExecutionTime());
			String next = (left.toHours() > 30) ? "in three days"
					: (left.toHours() > 20) ? "in a day" : "in some seconds";
			return next + ", failures: " + execution.getConsecutiveFailures();
		}

	}

	static class Database implements AutoCloseable {

		final JdbcConnectionPool dataSource;

		final Connection keepOpen;

		Database(String name) throws Exception {
			this.dataSource = JdbcConnectionPool.create("jdbc:h2:mem:" + name, "sa", "");
			this.keepOpen = this.dataSource.getConnection();
			try (Statement statement = this.keepOpen.createStatement()) {
				statement.execute("create table scheduled_tasks (task_name varchar(100), task_instance varchar(100),"
						+ " task_data blob, execution_time timestamp with time zone, picked boolean,"
						+ " picked_by varchar(50), last_success timestamp with time zone,"
						+ " last_failure timestamp with time zone, consecutive_failures int,"
						+ " last_heartbeat timestamp with time zone, version bigint,"
						+ " primary key (task_name, task_instance))");
			}
		}

		@Override
		public void close() throws Exception {
			this.keepOpen.close();
			this.dataSource.dispose();
		}

	}

	public static void main(String[] args) throws Exception {
		try (Database alone = new Database("alone"); Database restart = new Database("restart")) {
			AtomicInteger attemptsAlone = new AtomicInteger();
			Instance only = new Instance(alone.dataSource, attemptsAlone);
			AtomicInteger attempts = new AtomicInteger();
			Instance first = new Instance(restart.dataSource, attempts);
			only.scheduler.start();
			first.scheduler.start();
			if (!only.failed.await(30, TimeUnit.SECONDS) || !first.failed.await(30, TimeUnit.SECONDS)) {
				throw new IllegalStateException("Not run");
			}
			System.out.printf("after the failure, the next attempt is %s%n", first.next());
			Instance second = new Instance(restart.dataSource, attempts);
			second.scheduler.start();
			System.out.printf("after the start of another instance, it is %s%n", first.next());
			Thread.sleep(23_000);
			System.out.printf("after 23 s, %s attempts without a start, %s with one%n", attemptsAlone.get(),
					attempts.get());
			first.scheduler.reschedule(first.report.instance(RecurringTask.INSTANCE),
					Instant.now().plus(Duration.ofDays(3)));
			System.out.printf("postponed, it is %s%n", first.next());
			Instance third = new Instance(restart.dataSource, attempts);
			third.scheduler.start();
			System.out.printf("after the start of another instance, it is %s%n", first.next());
			for (Instance instance : new Instance[] { only, first, second, third }) {
				instance.scheduler.stop();
			}
		}
		System.exit(0);
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>db-scheduler-retry-lost-at-start</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>com.github.kagkarlsson</groupId>
      <artifactId>db-scheduler</artifactId>
      <version>16.12.0</version>
    </dependency>
    <dependency>
      <groupId>com.h2database</groupId>
      <artifactId>h2</artifactId>
      <version>2.3.232</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
echo "db-scheduler 16.12.0"
seen=$(java -cp "$work/lib/*" "$work/Probe.java" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "after the failure, the next attempt is in some seconds, failures: 1
after the start of another instance, it is in a day, failures: 0
after 23 s, 2 attempts without a start, 1 with one
postponed, it is in three days, failures: 0
after the start of another instance, it is in a day, failures: 0" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
