#!/usr/bin/env bash
#
# Spring 6.2.19 and 7.0.10: the weekday nearest to the 31st (31W) is skipped if the 31st is a Sunday, and a month of
# 30 days may or may not have one, depending on the time from which the next one is computed.
#
# CronExpression.next() computes the times of "0 0 12 31W * *". Seen:
#
# - May 2026, whose 31st is a Sunday, has no time: neither Friday, 29 May, nor the Monday after, as Spring's
#   documentation has it. It is the same with 30W in November 2025, which has 30 days.
# - June 2028 has 30 days, and its last day is a Friday. Up to one second before it, the next time is on 31 July. From
#   that Friday on, it is on 30 June: an instance that is started on this morning runs the job at noon, while those that
#   were started before do not.
#
# What one would expect: what Quartz 2.5.2 does, which runs on 29 May 2026 and on 28 November 2025, but not in June
# 2028; and the same next time for all times before it.
#
# Needs JDK 17 or later and Maven. Fails if Spring or Quartz behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Date;
import java.util.StringJoiner;
import java.util.TimeZone;
import java.util.function.UnaryOperator;

import org.springframework.core.SpringVersion;
import org.springframework.scheduling.support.CronExpression;

public class Probe {

	public static void main(String[] args) throws Exception {
		TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
		System.out.println("Spring " + SpringVersion.getVersion());
		print("Spring", CronExpression.parse("0 0 12 31W * *")::next, CronExpression.parse("0 0 12 30W * *")::next);
		print("Quartz", quartz("0 0 12 31W * ?"), quartz("0 0 12 30W * ?"));
	}

	private static void print(String name, UnaryOperator<LocalDateTime> near31, UnaryOperator<LocalDateTime> near30) {
		LocalDateTime time = LocalDateTime.parse("2026-03-01T00:00");
		StringJoiner times = new StringJoiner(", ");
		for (int i = 0; i < 4; i++) {
			time = near31.apply(time);
			times.add(time.toLocalDate().toString());
		}
		System.out.printf("%s: 31W from March 2026 on %s%n", name, times);
		System.out.printf("%s: 30W from November 2025 on %s%n", name,
				near30.apply(LocalDateTime.parse("2025-11-01T00:00")).toLocalDate());
		System.out.printf("%s: 31W after 2028-06-29T23:59:59 on %s, after 2028-06-30T00:00 on %s%n", name,
				near31.apply(LocalDateTime.parse("2028-06-29T23:59:59")).toLocalDate(),
				near31.apply(LocalDateTime.parse("2028-06-30T00:00")).toLocalDate());
	}

	private static UnaryOperator<LocalDateTime> quartz(String text) throws Exception {
		org.quartz.CronExpression expression = new org.quartz.CronExpression(text);
		return (time) -> LocalDateTime.ofInstant(
				expression.getNextValidTimeAfter(Date.from(time.toInstant(ZoneOffset.UTC))).toInstant(), ZoneOffset.UTC);
	}

}
JAVA

failed=0
for version in 6.2.19 7.0.10; do
    cat >"$work/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>spring-cron-nearest-weekday</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.springframework</groupId>
      <artifactId>spring-context</artifactId>
      <version>$version</version>
    </dependency>
    <dependency>
      <groupId>org.quartz-scheduler</groupId>
      <artifactId>quartz</artifactId>
      <version>2.5.2</version>
    </dependency>
  </dependencies>
</project>
POM
    mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib-$version" \
        </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    seen=$(java -cp "$work/lib-$version/*" "$work/Probe.java" 2>"$work/errors") || cat "$work/errors"
    printf '%s\n' "$seen"
    [[ $seen == "Spring $version
Spring: 31W from March 2026 on 2026-03-31, 2026-07-31, 2026-08-31, 2026-10-30
Spring: 30W from November 2025 on 2025-12-30
Spring: 31W after 2028-06-29T23:59:59 on 2028-07-31, after 2028-06-30T00:00 on 2028-06-30
Quartz: 31W from March 2026 on 2026-03-31, 2026-05-29, 2026-07-31, 2026-08-31
Quartz: 30W from November 2025 on 2025-11-28
Quartz: 31W after 2028-06-29T23:59:59 on 2028-07-31, after 2028-06-30T00:00 on 2028-07-31" ]] || failed=1
done

if ((failed != 0)); then
    echo "The behavior has changed."
    exit 1
fi
