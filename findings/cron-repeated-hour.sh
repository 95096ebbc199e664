#!/usr/bin/env bash
#
# The same cron expression on the days on which the clocks change, in six libraries for Java.
#
# Europe/Berlin goes from 03:00 back to 02:00 on 25 October 2026, so 02:00 to 03:00 happens twice, and
# from 02:00 to 03:00 on 28 March 2027, so that hour does not happen. Two expressions are planned over
# these days: a daily one at 02:30, and one every 15 minutes.
#
# What one would expect: a daily time once a day, and an interval that keeps its length. Seen: no two of
# Spring, Quartz, db-scheduler and JobRunr agree, and Quartz and JobRunr plan nothing for 75 minutes for
# "every 15 minutes".
#
# Needs Maven and a JDK (17 or later). Fails if a library behaves differently from what is recorded below.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
	<modelVersion>4.0.0</modelVersion>
	<groupId>finding</groupId>
	<artifactId>finding</artifactId>
	<version>1</version>
	<dependencies>
		<dependency>
			<groupId>org.springframework</groupId>
			<artifactId>spring-context</artifactId>
			<version>7.0.9</version>
		</dependency>
		<dependency>
			<groupId>org.quartz-scheduler</groupId>
			<artifactId>quartz</artifactId>
			<version>2.5.2</version>
		</dependency>
		<dependency>
			<groupId>com.github.kagkarlsson</groupId>
			<artifactId>db-scheduler</artifactId>
			<version>16.12.0</version>
		</dependency>
		<dependency>
			<groupId>org.jobrunr</groupId>
			<artifactId>jobrunr</artifactId>
			<version>8.3.1</version>
		</dependency>
		<dependency>
			<groupId>com.cronutils</groupId>
			<artifactId>cron-utils</artifactId>
			<version>9.2.1</version>
		</dependency>
		<dependency>
			<groupId>io.micronaut</groupId>
			<artifactId>micronaut-context</artifactId>
			<version>4.10.9</version>
		</dependency>
	</dependencies>
</project>
POM

cat >"$work/CronDays.java" <<'JAVA'
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TimeZone;

import com.cronutils.model.CronType;
import com.cronutils.model.definition.CronDefinitionBuilder;
import com.cronutils.model.time.ExecutionTime;
import com.cronutils.parser.CronParser;
import com.github.kagkarlsson.scheduler.task.ExecutionComplete;
import com.github.kagkarlsson.scheduler.task.schedule.Schedules;

public class CronDays {

	static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

	interface Planner {

		Instant after(Instant time);

	}

	static Map<String, Planner> planners(String minute, String hour) throws Exception {
		String withSeconds = "0 %s %s * * *".formatted(minute, hour);
		Map<String, Planner> planners = new LinkedHashMap<>();
		var spring = org.springframework.scheduling.support.CronExpression.parse(withSeconds);
		planners.put("Spring 7.0.9", (time) -> spring.next(time.atZone(BERLIN)).toInstant());
		var quartz = new org.quartz.CronExpression("0 %s %s * * ?".formatted(minute, hour));
		quartz.setTimeZone(TimeZone.getTimeZone(BERLIN));
		planners.put("Quartz 2.5.2", (time) -> quartz.getNextValidTimeAfter(Date.from(time)).toInstant());
		var dbScheduler = Schedules.cron(withSeconds, BERLIN);
		planners.put("db-scheduler 16.12.0",
				(time) -> dbScheduler.getNextExecutionTime(ExecutionComplete.simulatedSuccess(time)));
		var jobRunr = new org.jobrunr.scheduling.cron.CronExpression("%s %s * * *".formatted(minute, hour));
		planners.put("JobRunr 8.3.1", (time) -> jobRunr.next(time, time, BERLIN));
		var cronUtils = ExecutionTime.forCron(
				new CronParser(CronDefinitionBuilder.instanceDefinitionFor(CronType.SPRING53)).parse(withSeconds));
		planners.put("cron-utils 9.2.1", (time) -> cronUtils.nextExecution(time.atZone(BERLIN)).get().toInstant());
		var micronaut = io.micronaut.scheduling.cron.CronExpression.create(withSeconds);
		planners.put("Micronaut 4.10.9", (time) -> micronaut.nextTimeAfter(time.atZone(BERLIN)).toInstant());
		return planners;
	}

	static String plannedOn(LocalDate day, Planner planner) {
		StringBuilder planned = new StringBuilder();
		Instant end = day.plusDays(1).atStartOfDay(BERLIN).toInstant();
		Instant time = planner.after(day.atStartOfDay(BERLIN).toInstant());
		for (; time.isBefore(end); time = planner.after(time)) {
			ZonedDateTime local = time.atZone(BERLIN);
			planned.append(planned.isEmpty() ? "" : ", ").append(local.toLocalTime()).append(local.getOffset());
		}
		return planned.isEmpty() ? "never" : planned.toString();
	}

	static long longestPause(LocalDate day, Planner planner) {
		Duration longest = Duration.ZERO;
		Instant end = day.plusDays(1).atStartOfDay(BERLIN).toInstant();
		Instant before = day.atStartOfDay(BERLIN).toInstant();
		for (Instant time = planner.after(before); time.isBefore(end); time = planner.after(time)) {
			Duration pause = Duration.between(before, time);
			longest = (pause.compareTo(longest) > 0) ? pause : longest;
			before = time;
		}
		return longest.toMinutes();
	}

	public static void main(String[] args) throws Exception {
		LocalDate repeated = LocalDate.of(2026, 10, 25);
		LocalDate gap = LocalDate.of(2027, 3, 28);
		System.out.println("daily at 02:30, on the day that repeats it");
		for (var planner : planners("30", "2").entrySet()) {
			System.out.println("  " + planner.getKey() + ": " + plannedOn(repeated, planner.getValue()));
		}
		System.out.println("daily at 02:30, on the day that does not have it");
		for (var planner : planners("30", "2").entrySet()) {
			System.out.println("  " + planner.getKey() + ": " + plannedOn(gap, planner.getValue()));
		}
		System.out.println("every 15 minutes, longest pause in minutes on the day that repeats an hour");
		for (var planner : planners("0/15", "*").entrySet()) {
			System.out.println("  " + planner.getKey() + ": " + longestPause(repeated, planner.getValue()));
		}
	}

}
JAVA

cat >"$work/expected" <<'SEEN'
daily at 02:30, on the day that repeats it
  Spring 7.0.9: 02:30+02:00, 02:30+01:00
  Quartz 2.5.2: 02:30+01:00
  db-scheduler 16.12.0: 02:30+02:00
  JobRunr 8.3.1: 02:30+02:00
  cron-utils 9.2.1: 02:30+02:00
  Micronaut 4.10.9: 02:30+02:00, 02:30+01:00
daily at 02:30, on the day that does not have it
  Spring 7.0.9: never
  Quartz 2.5.2: never
  db-scheduler 16.12.0: never
  JobRunr 8.3.1: 03:30+02:00
  cron-utils 9.2.1: never
  Micronaut 4.10.9: never
every 15 minutes, longest pause in minutes on the day that repeats an hour
  Spring 7.0.9: 15
  Quartz 2.5.2: 75
  db-scheduler 16.12.0: 15
  JobRunr 8.3.1: 75
  cron-utils 9.2.1: 15
  Micronaut 4.10.9: 15
SEEN

cd "$work"
mvn -q -B dependency:copy-dependencies -DoutputDirectory="$work/lib" </dev/null
java -cp "$work/lib/*" CronDays.java 2>"$work/errors" >"$work/seen" || { cat "$work/errors" >&2; exit 1; }
cat "$work/seen"
diff "$work/expected" "$work/seen" || { echo "The behavior has changed." >&2; exit 1; }
