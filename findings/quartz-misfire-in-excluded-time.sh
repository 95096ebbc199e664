#!/usr/bin/env bash
#
# Quartz 2.5.2: a trigger that has misfired fires at once in a time that its calendar excludes, by default.
#
# Five triggers with one run each second have a calendar that excludes a time of the day, as for maintenance. A
# scheduler is in standby from before that time, and starts again in it, as after a restart. Seen: the triggers by
# cron expression, calendar interval and daily interval, which have the default misfire policy, fire once in the
# excluded time. A simple trigger that repeats forever does not, and neither does a cron trigger that does nothing
# after a misfire. If the scheduler is not in standby, none fires in that time. The calendar is not consulted when a
# trigger is to fire at once.
#
# What one would expect: no trigger fires in a time that its calendar excludes, or all of them do after a misfire.
#
# A trigger misfires here if it is a second late, and with the configuration file of Quartz if it is a minute late.
#
# Needs JDK 17 or later and Maven. Fails if Quartz behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.SimpleTimeZone;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

import org.quartz.CalendarIntervalScheduleBuilder;
import org.quartz.CronScheduleBuilder;
import org.quartz.DailyTimeIntervalScheduleBuilder;
import org.quartz.DateBuilder.IntervalUnit;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.JobExecutionException;
import org.quartz.ScheduleBuilder;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.SimpleScheduleBuilder;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;
import org.quartz.impl.calendar.DailyCalendar;

public class Probe {

	private static final Map<String, List<Instant>> runs = new ConcurrentHashMap<>();

	public static class Run implements Job {

		@Override
		public void execute(JobExecutionContext context) throws JobExecutionException {
			try {
				String name = context.getScheduler().getSchedulerName() + context.getTrigger().getKey().getName();
				runs.computeIfAbsent(name, (key) -> new CopyOnWriteArrayList<>())
					.add(context.getScheduledFireTime().toInstant());
			}
			catch (SchedulerException ex) {
				throw new JobExecutionException(ex);
			}
		}

	}

	public static void main(String[] args) throws Exception {
		Instant start = Instant.now().truncatedTo(ChronoUnit.SECONDS).plusMillis(500);
		Instant noonOfCalendar = start.plusSeconds(6);
		Scheduler running = scheduler("running", noonOfCalendar);
		Scheduler restarted = scheduler("restarted", noonOfCalendar);
		running.start();
		restarted.start();
		sleepUntil(start.plusSeconds(3));
		restarted.standby();
		sleepUntil(start.plusSeconds(8));
		restarted.start();
		sleepUntil(start.plusSeconds(12));
		for (String name : List.of("cron", "calendar interval", "daily interval", "simple", "cron, do nothing")) {
			System.out.printf("%s: %s in the excluded time, %s after standby%n", name,
					seen("running" + name, noonOfCalendar), seen("restarted" + name, noonOfCalendar));
		}
		running.shutdown();
		restarted.shutdown();
	}

	private static String seen(String name, Instant excludedFrom) {
		List<Instant> all = runs.getOrDefault(name, List.of());
		if (all.isEmpty() || !all.get(0).isBefore(excludedFrom)) {
			return "not run before";
		}
		return "" + all.stream().filter((run) -> !run.isBefore(excludedFrom)).count();
	}

	private static Scheduler scheduler(String name, Instant noonOfCalendar) throws Exception {
		Properties properties = new Properties();
		properties.setProperty("org.quartz.scheduler.instanceName", name);
		properties.setProperty("org.quartz.threadPool.threadCount", "5");
		properties.setProperty("org.quartz.jobStore.misfireThreshold", "1000");
		Scheduler scheduler = new StdSchedulerFactory(properties).getScheduler();
		DailyCalendar calendar = new DailyCalendar("12:00:00", "12:10:00");
		int millisOfDay = (int) (noonOfCalendar.toEpochMilli() % Duration.ofDays(1).toMillis());
		calendar.setTimeZone(new SimpleTimeZone((int) Duration.ofHours(12).toMillis() - millisOfDay, "probe"));
		scheduler.addCalendar("maintenance", calendar, false, false);
		schedule(scheduler, "cron", CronScheduleBuilder.cronSchedule("* * * * * ?"));
		schedule(scheduler, "calendar interval",
				CalendarIntervalScheduleBuilder.calendarIntervalSchedule().withIntervalInSeconds(1));
		schedule(scheduler, "daily interval",
				DailyTimeIntervalScheduleBuilder.dailyTimeIntervalSchedule().withInterval(1, IntervalUnit.SECOND));
		schedule(scheduler, "simple", SimpleScheduleBuilder.repeatSecondlyForever());
		schedule(scheduler, "cron, do nothing",
				CronScheduleBuilder.cronSchedule("* * * * * ?").withMisfireHandlingInstructionDoNothing());
		return scheduler;
	}

	private static void schedule(Scheduler scheduler, String name, ScheduleBuilder<?> schedule)
			throws SchedulerException {
		JobDetail job = JobBuilder.newJob(Run.class).withIdentity(name).build();
		scheduler.scheduleJob(job, TriggerBuilder.newTrigger()
			.withIdentity(name)
			.withSchedule(schedule)
			.modifiedByCalendar("maintenance")
			.build());
	}

	private static void sleepUntil(Instant time) throws InterruptedException {
		Thread.sleep(Math.max(0, Duration.between(Instant.now(), time).toMillis()));
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>quartz-misfire-in-excluded-time</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.quartz-scheduler</groupId>
      <artifactId>quartz</artifactId>
      <version>2.5.2</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
javac -proc:none -cp "$work/lib/*" -d "$work/classes" "$work/Probe.java"
echo "Quartz 2.5.2"
seen=$(java -cp "$work/classes:$work/lib/*" Probe 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "cron: 0 in the excluded time, 1 after standby
calendar interval: 0 in the excluded time, 1 after standby
daily interval: 0 in the excluded time, 1 after standby
simple: 0 in the excluded time, 0 after standby
cron, do nothing: 0 in the excluded time, 0 after standby" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
