#!/usr/bin/env bash
#
# Micronaut 4.10.9: get() on the ScheduledFuture of a cron schedule ends the schedule, and so does a get() with a
# timeout that passes.
#
# Three tasks are scheduled by cron expression for every second, with the TaskScheduler of the application context.
# For one of them, the caller waits for the first run by get(), for another one by get(1, MILLISECONDS), which throws
# TimeoutException before the first run. Seen: both run once and never again, nothing is logged, and isCancelled()
# returns true, although cancel() was not called. The third one goes on. Both get() methods of the future mark the
# schedule as cancelled, so that the run does not schedule the next one.
#
# What one would expect: get() only waits, and a schedule goes on until cancel() is called. The Javadoc of
# TaskScheduler says that the future represents the pending completion of the task, and that get() returns upon
# completion.
#
# Needs JDK 17 or later and Maven. Fails if Micronaut behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

import io.micronaut.context.ApplicationContext;
import io.micronaut.inject.qualifiers.Qualifiers;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.TaskScheduler;

public class Probe {

	private static final String EVERY_SECOND = "* * * * * *";

	public static void main(String[] args) throws Exception {
		try (ApplicationContext context = ApplicationContext.run()) {
			TaskScheduler scheduler = context.getBean(TaskScheduler.class, Qualifiers.byName(TaskExecutors.SCHEDULED));
			AtomicInteger runs = new AtomicInteger();
			AtomicInteger runsOfWaiting = new AtomicInteger();
			AtomicInteger runsOfTimeout = new AtomicInteger();
			ScheduledFuture<?> future = scheduler.schedule(EVERY_SECOND, runs::incrementAndGet);
			while (System.currentTimeMillis() % 1000 < 200 || System.currentTimeMillis() % 1000 > 500) {
				Thread.sleep(10);
			}
			ScheduledFuture<?> timeout = scheduler.schedule(EVERY_SECOND, runsOfTimeout::incrementAndGet);
			try {
				timeout.get(1, TimeUnit.MILLISECONDS);
				System.out.println("No timeout");
			}
			catch (TimeoutException ex) {
				// as expected
			}
			ScheduledFuture<?> waiting = scheduler.schedule(EVERY_SECOND, runsOfWaiting::incrementAndGet);
			System.out.printf("get() returns the result of run %s%n", waiting.get());
			Thread.sleep(5000);
			System.out.printf("without get(): %s%n", state(future, runs));
			System.out.printf("get(): %s%n", state(waiting, runsOfWaiting));
			System.out.printf("get() with a timeout that passed: %s%n", state(timeout, runsOfTimeout));
		}
		System.exit(0);
	}

	private static String state(ScheduledFuture<?> future, AtomicInteger runs) {
		return ((runs.get() >= 4) ? "runs every second" : "runs: " + runs)
				+ (future.isCancelled() ? ", cancelled" : ", not cancelled");
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>micronaut-cron-ended-by-get</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>io.micronaut</groupId>
      <artifactId>micronaut-context</artifactId>
      <version>4.10.9</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
echo "Micronaut 4.10.9"
seen=$(java -cp "$work/lib/*" "$work/Probe.java" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "get() returns the result of run 1
without get(): runs every second, not cancelled
get(): runs: 1, cancelled
get() with a timeout that passed: runs: 1, cancelled" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
