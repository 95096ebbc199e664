#!/usr/bin/env bash
#
# db-scheduler 16.12.0 with H2 2.3.232: during a rolling upgrade, an instance of the previous version deletes all
# executions of a new task, also those of next month, if one of them has an execution time of more than 14 days ago.
#
# The new version has a task "invoice". Each order gets an execution whose time is that of the order, so that the oldest
# are done first, and four get one for next month. An instance of the previous version, which does not know the task,
# still runs. Seen: if the orders are 15 days old, it deletes all executions of the task at its next check for dead
# executions, 1 s here and up to ten minutes by default. Most orders get no invoice. If they are 13 days old, nothing is
# lost. With 16.4.1, nothing is lost in either case.
#
# What one would expect: the executions stay for the 14 days of `deleteUnresolvedAfter`, which are there so that
# a missing task or a rolling upgrade removes nothing. Since 16.6.0, they are counted from the execution time of the
# execution that was found first, not from when it was found, and they apply to all executions with that task name.
#
# Needs JDK 17 or later and Maven. Fails if db-scheduler behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.RecurringTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.github.kagkarlsson.scheduler.task.schedule.FixedDelay;
import org.h2.jdbcx.JdbcConnectionPool;

public class Probe {

	private static final int ORDERS = 8;

	private static final int LATER = 4;

	public static void main(String[] args) throws Exception {
		for (int days : new int[] { 13, 15 }) {
			probe(days);
		}
		System.exit(0);
	}

	private static void probe(int days) throws Exception {
		JdbcConnectionPool dataSource = JdbcConnectionPool.create("jdbc:h2:mem:days" + days, "sa", "");
		try (Connection keepOpen = dataSource.getConnection()) {
			try (Statement statement = keepOpen.createStatement()) {
				statement.execute("create table scheduled_tasks (task_name varchar(100), task_instance varchar(100),"
						+ " task_data blob, execution_time timestamp with time zone, picked boolean,"
						+ " picked_by varchar(50), last_success timestamp with time zone,"
						+ " last_failure timestamp with time zone, consecutive_failures int,"
						+ " last_heartbeat timestamp with time zone, version bigint,"
						+ " primary key (task_name, task_instance))");
			}
			Set<String> invoices = ConcurrentHashMap.newKeySet();
			RecurringTask<Void> cleanup = Tasks.recurring("cleanup", FixedDelay.ofHours(1))
				.execute((instance, context) -> {
				});
			OneTimeTask<Void> invoice = Tasks.oneTime("invoice").execute((instance, context) -> {
				try {
					Thread.sleep(500);
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
				invoices.add(instance.getId());
			});
			Scheduler previousVersion = Scheduler.create(dataSource)
				.startTasks(cleanup)
				.threads(1)
				.pollingInterval(Duration.ofMillis(200))
				.heartbeatInterval(Duration.ofMillis(500))
				.build();
			Scheduler newVersion = Scheduler.create(dataSource, invoice)
				.startTasks(cleanup)
				.threads(1)
				.pollingInterval(Duration.ofMillis(200))
				.heartbeatInterval(Duration.ofMillis(500))
				.build();
			previousVersion.start();
			newVersion.start();
			Instant now = Instant.now();
			for (int i = 0; i < ORDERS; i++) {
				newVersion.schedule(invoice.instance("order-" + i),
						now.minus(Duration.ofDays(days)).plus(Duration.ofMinutes(i)));
			}
			for (int i = 0; i < LATER; i++) {
				newVersion.schedule(invoice.instance("later-" + i), now.plus(Duration.ofDays(30)));
			}
			Thread.sleep(8000);
			newVersion.stop();
			previousVersion.stop();
			try (Statement statement = keepOpen.createStatement();
					ResultSet rows = statement
						.executeQuery("select count(*) from scheduled_tasks where task_name = 'invoice'")) {
				rows.next();
				System.out.printf("orders of %s days ago: %s of %s have an invoice, %s of %s executions remain%n", days,
						invoices.size(), ORDERS, rows.getInt(1), LATER);
			}
		}
		dataSource.dispose();
	}

}
JAVA

failed=0
for version in 16.4.1 16.12.0; do
    cat >"$work/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>db-scheduler-overdue-unresolved</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>com.github.kagkarlsson</groupId>
      <artifactId>db-scheduler</artifactId>
      <version>$version</version>
    </dependency>
    <dependency>
      <groupId>com.h2database</groupId>
      <artifactId>h2</artifactId>
      <version>2.3.232</version>
    </dependency>
  </dependencies>
</project>
POM
    mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib-$version" \
        </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    echo "db-scheduler $version"
    seen=$(java -cp "$work/lib-$version/*" "$work/Probe.java" 2>"$work/errors") || cat "$work/errors"
    printf '%s\n' "$seen"
    pattern='^orders of 13 days ago: 8 of 8 have an invoice, 4 of 4 executions remain'
    if [[ $version == 16.4.1 ]]; then
        pattern+=$'\norders of 15 days ago: 8 of 8 have an invoice, 4 of 4 executions remain$'
    else
        pattern+=$'\norders of 15 days ago: [0-6] of 8 have an invoice, 0 of 4 executions remain$'
    fi
    [[ $seen =~ $pattern ]] || failed=1
done

if ((failed != 0)); then
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
fi
