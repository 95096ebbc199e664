#!/usr/bin/env bash
#
# Spring's CronExpression.next (7.0.10, and 6.2.19) can return a time that is not later than the one it was given.
#
# In zones whose clocks go back by less than an hour, or not at a full hour (Australia/Lord_Howe,
# Pacific/Chatham), "every hour" has no later time in the last minutes before that: next(t) returns the
# hour before t. A caller that plans from one time to the next, as a scheduler does, does not get on for so
# long. In all other zones of the JDK, the time is later in 2026 to 2030.
#
# What one would expect: a time that is later, in each zone.
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
			<version>${spring}</version>
		</dependency>
	</dependencies>
</project>
POM

cat >"$work/NotLater.java" <<'JAVA'
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.zone.ZoneOffsetTransition;
import java.util.TreeMap;

import org.springframework.scheduling.support.CronExpression;

public class NotLater {

	public static void main(String[] args) {
		CronExpression hourly = CronExpression.parse("0 0 * * * *");
		TreeMap<String, Integer> minutes = new TreeMap<>();
		for (String id : ZoneId.getAvailableZoneIds()) {
			ZoneId zone = ZoneId.of(id);
			ZoneOffsetTransition change = zone.getRules().nextTransition(Instant.parse("2026-01-01T00:00:00Z"));
			while (change != null && change.getInstant().isBefore(Instant.parse("2031-01-01T00:00:00Z"))) {
				Instant from = change.getInstant().minus(Duration.ofHours(3));
				for (int minute = 0; minute < 360; minute++) {
					Instant given = from.plus(Duration.ofMinutes(minute));
					ZonedDateTime next = hourly.next(given.atZone(zone));
					if (!next.toInstant().isAfter(given)) {
						minutes.merge(id, 1, Integer::sum);
					}
				}
				change = zone.getRules().nextTransition(change.getInstant());
			}
		}
		minutes.forEach((id, count) -> System.out.printf("%s: not later in %d minutes of five years%n", id, count));
		ZonedDateTime given = Instant.parse("2026-04-04T14:10:00Z").atZone(ZoneId.of("Australia/Lord_Howe"));
		System.out.printf("after %s comes %s%n", given, hourly.next(given));
	}

}
JAVA

seen() {
	mvn -q -f "$work/pom.xml" -Dspring="$1" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath \
		-Dmdep.outputFile="$work/classpath" >&2
	java -cp "$(cat "$work/classpath")" "$work/NotLater.java"
}

expected='Australia/LHI: not later in 150 minutes of five years
Australia/Lord_Howe: not later in 150 minutes of five years
NZ-CHAT: not later in 75 minutes of five years
Pacific/Chatham: not later in 75 minutes of five years
after 2026-04-05T01:10+11:00[Australia/Lord_Howe] comes 2026-04-05T01:00+11:00[Australia/Lord_Howe]'

for version in 6.2.19 7.0.10; do
	output=$(seen "$version")
	printf 'Spring %s:\n%s\n' "$version" "$output"
	diff <(printf '%s\n' "$expected") <(printf '%s\n' "$output") || { echo "The behavior has changed." >&2; exit 1; }
done
