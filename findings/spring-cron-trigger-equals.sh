#!/usr/bin/env bash
#
# Spring's CronTrigger.equals ignores the time zone in 6.2.19, and compares it in 7.0.10.
#
# Two triggers with the same expression for Europe/Berlin and Asia/Tokyo are equal in 6.2.19, although they
# never plan the same time. Code that keeps triggers in a set or a map, or looks for a change of a
# schedule, takes them for one.
#
# What one would expect: triggers are equal if they plan the same times, in each version.
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

cat >"$work/Equal.java" <<'JAVA'
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.HashSet;
import java.util.List;

import org.springframework.scheduling.support.CronTrigger;
import org.springframework.scheduling.support.SimpleTriggerContext;

public class Equal {

	public static void main(String[] args) {
		CronTrigger berlin = new CronTrigger("0 0 2 * * *", ZoneId.of("Europe/Berlin"));
		CronTrigger tokyo = new CronTrigger("0 0 2 * * *", ZoneId.of("Asia/Tokyo"));
		SimpleTriggerContext context = new SimpleTriggerContext(
				Clock.fixed(Instant.parse("2026-06-01T12:00:00Z"), ZoneOffset.UTC));
		System.out.printf("planned %s and %s, equal: %s, in a set: %d%n", berlin.nextExecution(context),
				tokyo.nextExecution(context), berlin.equals(tokyo), new HashSet<>(List.of(berlin, tokyo)).size());
	}

}
JAVA

cd "$work"
for spring in 6.2.19 7.0.10; do
	rm -rf lib
	mvn -q -B -Dspring=$spring dependency:copy-dependencies -DoutputDirectory="$work/lib" </dev/null >&2
	printf '%s: ' "$spring"
	java -cp "$work/lib/*" Equal.java
done | tee "$work/seen"

cat >"$work/expected" <<'SEEN'
6.2.19: planned 2026-06-02T00:00:00Z and 2026-06-01T17:00:00Z, equal: true, in a set: 1
7.0.10: planned 2026-06-02T00:00:00Z and 2026-06-01T17:00:00Z, equal: false, in a set: 2
SEEN
diff "$work/expected" "$work/seen" || { echo "The behavior has changed." >&2; exit 1; }
