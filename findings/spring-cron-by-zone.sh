#!/usr/bin/env bash
#
# How often Spring's CronExpression (7.0.9) plans a daily time that the clocks repeat depends on the zone.
#
# On the day on which the clocks go back, a local time happens twice. For a daily expression in the middle
# of the repeated time, Spring plans both in Europe/Berlin, only the second in America/Havana and
# Atlantic/Azores, whose repeated time begins at midnight, and only the first in Australia/Lord_Howe, which
# goes back by half an hour. There, "every 15 minutes" also has a pause of 45 minutes.
#
# What one would expect: one rule for all zones, whichever it is.
#
# Needs Maven and a JDK (17 or later). Fails if Spring behaves differently from what is recorded below.

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
	</dependencies>
</project>
POM

cat >"$work/Zones.java" <<'JAVA'
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.zone.ZoneOffsetTransition;
import java.util.stream.Stream;

import org.springframework.scheduling.support.CronExpression;

public class Zones {

	static ZoneOffsetTransition nextRepetition(ZoneId zone) {
		Instant from = Instant.parse("2026-09-01T00:00:00Z");
		ZoneOffsetTransition next = zone.getRules().nextTransition(from);
		return next.isOverlap() ? next : zone.getRules().nextTransition(next.getInstant());
	}

	static String plannedAround(ZoneOffsetTransition change, ZoneId zone, CronExpression cron) {
		StringBuilder planned = new StringBuilder();
		ZonedDateTime end = change.getInstant().plus(Duration.ofHours(6)).atZone(zone);
		ZonedDateTime time = cron.next(change.getInstant().minus(Duration.ofHours(6)).atZone(zone));
		for (; time.isBefore(end); time = cron.next(time)) {
			planned.append(' ').append(time.toLocalTime()).append(time.getOffset());
		}
		return planned.toString();
	}

	static long longestPause(ZoneOffsetTransition change, ZoneId zone, CronExpression cron) {
		long longest = 0;
		ZonedDateTime before = cron.next(change.getInstant().minus(Duration.ofHours(6)).atZone(zone));
		ZonedDateTime end = before.plusHours(12);
		for (ZonedDateTime time = cron.next(before); time.isBefore(end); time = cron.next(time)) {
			longest = Math.max(longest, Duration.between(before, time).toMinutes());
			before = time;
		}
		return longest;
	}

	public static void main(String[] args) {
		Stream.of("Europe/Berlin", "America/New_York", "America/Havana", "Atlantic/Azores", "Australia/Lord_Howe")
			.forEach((id) -> {
				ZoneId zone = ZoneId.of(id);
				ZoneOffsetTransition change = nextRepetition(zone);
				LocalTime middle = change.getDateTimeBefore().toLocalTime().plusSeconds(change.getDuration().toSeconds() / 2);
				CronExpression daily = CronExpression.parse("0 %d %d * * *".formatted(middle.getMinute(), middle.getHour()));
				System.out.printf("%s, daily at %s:%s; every 15 minutes, longest pause %d%n", id, middle,
						plannedAround(change, zone, daily),
						longestPause(change, zone, CronExpression.parse("0 0/15 * * * *")));
			});
	}

}
JAVA

cat >"$work/expected" <<'SEEN'
Europe/Berlin, daily at 02:30: 02:30+02:00 02:30+01:00; every 15 minutes, longest pause 15
America/New_York, daily at 01:30: 01:30-04:00 01:30-05:00; every 15 minutes, longest pause 15
America/Havana, daily at 00:30: 00:30-05:00; every 15 minutes, longest pause 15
Atlantic/Azores, daily at 00:30: 00:30-01:00; every 15 minutes, longest pause 15
Australia/Lord_Howe, daily at 01:45: 01:45+11:00; every 15 minutes, longest pause 45
SEEN

cd "$work"
mvn -q -B dependency:copy-dependencies -DoutputDirectory="$work/lib" </dev/null
java -cp "$work/lib/*" Zones.java 2>"$work/errors" >"$work/seen" || { cat "$work/errors" >&2; exit 1; }
cat "$work/seen"
diff "$work/expected" "$work/seen" || { echo "The behavior has changed." >&2; exit 1; }
