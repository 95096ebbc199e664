#!/usr/bin/env bash
#
# Spring 6.2.19 and 7.0.10: one tick that a SimpleAsyncTaskScheduler refuses ends the schedule of a fixed rate for good.
#
# The scheduler has a concurrency limit of 1 and rejectTasksWhenLimitReached (since 6.2.6). One run of a @Scheduled
# method is longer than its period, so that the next tick is refused. Seen: with fixedRate, the method never runs
# again after that run, and nothing is logged: the exception of the refusal goes to the JDK's executor, which gives up
# a periodic task that fails. With a cron expression, the refused ticks are logged, and the next ones run.
#
# What one would expect: the refused ticks are skipped and logged, with both.
#
# Needs JDK 17 or later and Maven. Fails if Spring behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.SpringVersion;
import org.springframework.core.task.TaskRejectedException;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;

public class Probe {

	static abstract class Job {

		final AtomicInteger runs = new AtomicInteger();

		final CountDownLatch longRun = new CountDownLatch(1);

		void run() {
			if (this.runs.incrementAndGet() == 1) {
				try {
					this.longRun.await();
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
			}
		}

	}

	public static class Rate extends Job {

		@Scheduled(fixedRate = 1000)
		public void tick() {
			run();
		}

	}

	public static class Cron extends Job {

		@Scheduled(cron = "* * * * * *")
		public void tick() {
			run();
		}

	}

	static class Refusals extends Handler {

		final AtomicInteger count = new AtomicInteger();

		@Override
		public void publish(LogRecord record) {
			if (record.getThrown() instanceof TaskRejectedException) {
				this.count.incrementAndGet();
			}
		}

		@Override
		public void flush() {
		}

		@Override
		public void close() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class Config {

		@Bean
		SimpleAsyncTaskScheduler taskScheduler() {
			SimpleAsyncTaskScheduler scheduler = new SimpleAsyncTaskScheduler();
			scheduler.setConcurrencyLimit(1);
			scheduler.setRejectTasksWhenLimitReached(true);
			return scheduler;
		}

	}

	public static void main(String[] args) throws Exception {
		System.out.println("Spring " + SpringVersion.getVersion());
		probe("fixedRate", Rate.class);
		probe("cron", Cron.class);
	}

	private static void probe(String name, Class<? extends Job> type) throws Exception {
		Logger root = Logger.getLogger("");
		for (Handler handler : root.getHandlers()) {
			root.removeHandler(handler);
		}
		Refusals refusals = new Refusals();
		root.addHandler(refusals);
		root.setLevel(Level.ALL);
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(Config.class, type)) {
			Job job = context.getBean(type);
			while (job.runs.get() < 1) {
				Thread.sleep(10);
			}
			Thread.sleep(3000);
			job.longRun.countDown();
			Thread.sleep(5000);
			System.out.printf("%s: %s after the long run, refused ticks were %slogged%n", name,
					(job.runs.get() > 1) ? "goes on" : "never runs again", (refusals.count.get() > 0) ? "" : "not ");
		}
		finally {
			root.removeHandler(refusals);
		}
	}

}
JAVA

failed=0
for version in 6.2.19 7.0.10; do
    cat >"$work/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>spring-refused-tick-ends-schedule</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.springframework</groupId>
      <artifactId>spring-context</artifactId>
      <version>$version</version>
    </dependency>
  </dependencies>
</project>
POM
    mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib-$version" \
        </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    seen=$(java -cp "$work/lib-$version/*" "$work/Probe.java" 2>"$work/errors") || cat "$work/errors"
    printf '%s\n' "$seen"
    [[ $seen == "Spring $version
fixedRate: never runs again after the long run, refused ticks were not logged
cron: goes on after the long run, refused ticks were logged" ]] || failed=1
done

if ((failed != 0)); then
    echo "The behavior has changed."
    exit 1
fi
