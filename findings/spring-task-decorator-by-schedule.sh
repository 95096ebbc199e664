#!/usr/bin/env bash
#
# Spring 7.0.10: how often a TaskDecorator is called for a @Scheduled method depends on the scheduler and on the kind of
# schedule. With SimpleAsyncTaskScheduler, it is never called for fixedDelay.
#
# The decorator begins a new trace, of which the method sees the number, as a decorator for logging or tracing would do.
# Each of three methods runs four times. Seen: with ThreadPoolTaskScheduler, each run of a cron schedule has a trace of
# its own, but all runs by fixedRate or fixedDelay share one, as the task is decorated when it is scheduled. With
# SimpleAsyncTaskScheduler, which Spring Boot uses if virtual threads are enabled, each run of a cron schedule and by
# fixedRate has a trace of its own, and runs by fixedDelay have none: these tasks are not decorated.
#
# What one would expect: each run has a trace of its own. Both schedulers document the decorator as one for each task
# that is about to be executed.
#
# Needs JDK 17 or later and Maven. Fails if Spring behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.TaskDecorator;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

public class Probe {

	private static final int RUNS = 4;

	private static final AtomicInteger traces = new AtomicInteger();

	private static final ThreadLocal<Integer> current = new ThreadLocal<>();

	private static final TaskDecorator decorator = (task) -> {
		int trace = traces.incrementAndGet();
		return () -> {
			current.set(trace);
			try {
				task.run();
			}
			finally {
				current.remove();
			}
		};
	};

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	public static class Application {

		final List<Object> cron = new CopyOnWriteArrayList<>();

		final List<Object> fixedRate = new CopyOnWriteArrayList<>();

		final List<Object> fixedDelay = new CopyOnWriteArrayList<>();

		final CountDownLatch missing = new CountDownLatch(3 * RUNS);

		@Scheduled(cron = "* * * * * *")
		void cron() {
			run(this.cron);
		}

		@Scheduled(fixedRate = 500)
		void fixedRate() {
			run(this.fixedRate);
		}

		@Scheduled(fixedDelay = 500)
		void fixedDelay() {
			run(this.fixedDelay);
		}

		private void run(List<Object> seen) {
			if (seen.size() < RUNS) {
				Integer trace = current.get();
				seen.add((trace != null) ? trace : "none");
				this.missing.countDown();
			}
		}

	}

	public static void main(String[] args) throws Exception {
		probe(() -> {
			ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
			scheduler.setPoolSize(3);
			scheduler.setTaskDecorator(decorator);
			return scheduler;
		}, ThreadPoolTaskScheduler.class);
		probe(() -> {
			SimpleAsyncTaskScheduler scheduler = new SimpleAsyncTaskScheduler();
			scheduler.setTaskDecorator(decorator);
			return scheduler;
		}, SimpleAsyncTaskScheduler.class);
	}

	private static <T extends TaskScheduler> void probe(Supplier<T> scheduler, Class<T> type) throws Exception {
		try (var context = new AnnotationConfigApplicationContext()) {
			context.registerBean("taskScheduler", type, scheduler);
			context.register(Application.class);
			context.refresh();
			Application application = context.getBean(Application.class);
			if (!application.missing.await(30, TimeUnit.SECONDS)) {
				System.out.println("The methods have not run.");
			}
			System.out.printf("%s: %d runs by cron have %s, by fixedRate %s, by fixedDelay %s%n", type.getSimpleName(),
					RUNS, traces(application.cron), traces(application.fixedRate), traces(application.fixedDelay));
		}
	}

	private static String traces(List<Object> seen) {
		long number = seen.stream().filter((trace) -> !trace.equals("none")).distinct().count();
		return (number == 0) ? "none" : number + ((number == 1) ? " trace" : " traces");
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>spring-task-decorator-by-schedule</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.springframework</groupId>
      <artifactId>spring-context</artifactId>
      <version>7.0.10</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
javac -proc:none -cp "$work/lib/*" -d "$work/classes" "$work/Probe.java"
echo "Spring 7.0.10"
seen=$(java -cp "$work/classes:$work/lib/*" Probe 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "ThreadPoolTaskScheduler: 4 runs by cron have 4 traces, by fixedRate 1 trace, by fixedDelay 1 trace
SimpleAsyncTaskScheduler: 4 runs by cron have 4 traces, by fixedRate 4 traces, by fixedDelay none" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
