#!/usr/bin/env bash
#
# SmallRye Fault Tolerance 6.11.2: a rate limit of one with a rolling window permits one call in its whole life.
#
# A Guard has a rate limit of one call in a second, and is called four times with pauses of 3 s. Seen with
# RateLimitType.ROLLING: the first call is permitted, and all others are rejected, with a time after which they may be
# repeated that is negative, about -2000 ms. With FIXED and SMOOTH, and with ROLLING and a limit of two, all are permitted.
# The ring that keeps the times of the calls has one place, and is taken for full once it has been used.
#
# What one would expect: all are permitted.
#
# Needs JDK 17 or later and Maven. Fails if SmallRye Fault Tolerance behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.time.temporal.ChronoUnit;

import io.smallrye.faulttolerance.api.Guard;
import io.smallrye.faulttolerance.api.RateLimitException;
import io.smallrye.faulttolerance.api.RateLimitType;

public class Probe {

	public static void main(String[] args) throws Exception {
		for (int limit : new int[] { 1, 2 }) {
			for (RateLimitType type : RateLimitType.values()) {
				probe(limit, type);
			}
		}
		System.exit(0);
	}

	private static void probe(int limit, RateLimitType type) throws Exception {
		Guard guard = Guard.create()
			.withRateLimit()
			.limit(limit)
			.window(1, ChronoUnit.SECONDS)
			.type(type)
			.done()
			.build();
		StringBuilder results = new StringBuilder();
		for (int i = 0; i < 4; i++) {
			if (i > 0) {
				Thread.sleep(3000);
			}
			try {
				guard.call(() -> null, Object.class);
				results.append(" permitted");
			}
			catch (RateLimitException ex) {
				System.err.printf("%s: retry after %d ms%n", type, ex.getRetryAfterMillis());
				results.append((ex.getRetryAfterMillis() < 0) ? " rejected(-)" : " rejected");
			}
		}
		System.out.printf("%d a second, %s:%s%n", limit, type, results);
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>smallrye-rolling-limit-of-one</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>io.smallrye</groupId>
      <artifactId>smallrye-fault-tolerance-standalone</artifactId>
      <version>6.11.2</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
echo "SmallRye Fault Tolerance 6.11.2"
seen=$(timeout 80 java -cp "$work/lib/*" "$work/Probe.java" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "1 a second, FIXED: permitted permitted permitted permitted
1 a second, ROLLING: permitted rejected(-) rejected(-) rejected(-)
1 a second, SMOOTH: permitted permitted permitted permitted
2 a second, FIXED: permitted permitted permitted permitted
2 a second, ROLLING: permitted permitted permitted permitted
2 a second, SMOOTH: permitted permitted permitted permitted" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
