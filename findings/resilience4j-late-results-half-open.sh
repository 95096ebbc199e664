#!/usr/bin/env bash
#
# Resilience4j 2.4.0: a circuit breaker that is half open counts the results of calls that began before it opened. They
# close it, or open it again, before one of its trial calls has ended.
#
# Two slow calls begin while the circuit breaker is closed. Then fast calls fail, and it opens. When its wait time is
# over, a trial call begins, of the two that are permitted. While this one is running, the two slow calls end. Seen: if
# they succeed, the circuit breaker is closed, so that all calls go to the backend, and the failure of the trial call is
# only one in the new window. If they fail, it is open again, and the success of the trial call has no effect. Without
# slow calls, the trial calls decide.
#
# What one would expect: the state is decided by the calls that were permitted in it, as that is what it is for.
#
# Needs JDK 17 or later and Maven. Fails if Resilience4j behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;

public class Probe {

	private static final ExecutorService threads = Executors.newCachedThreadPool();

	public static void main(String[] args) throws Exception {
		probe("no slow calls, the trial calls fail", 0, false, false);
		probe("no slow calls, the trial calls succeed", 0, false, true);
		probe("two slow calls succeed, the trial calls fail", 2, true, false);
		probe("two slow calls fail, the trial calls succeed", 2, false, true);
		System.exit(0);
	}

	private static void probe(String name, int slow, boolean slowSucceed, boolean trialsSucceed) throws Exception {
		CircuitBreaker breaker = CircuitBreaker.of("backend",
				CircuitBreakerConfig.custom()
					.slidingWindowSize(4)
					.minimumNumberOfCalls(4)
					.failureRateThreshold(50)
					.waitDurationInOpenState(Duration.ofSeconds(1))
					.permittedNumberOfCallsInHalfOpenState(2)
					.build());
		CompletableFuture<Void> endSlow = new CompletableFuture<>();
		List<CompletableFuture<?>> slowCalls = new ArrayList<>();
		for (int i = 0; i < slow; i++) {
			slowCalls.add(call(breaker, endSlow, slowSucceed));
		}
		for (int i = 0; i < 4; i++) {
			call(breaker, CompletableFuture.completedFuture(null), false).get(10, TimeUnit.SECONDS);
		}
		String opened = breaker.getState().toString();
		Thread.sleep(1200);
		CompletableFuture<Void> endTrial = new CompletableFuture<>();
		CompletableFuture<?> trial = call(breaker, endTrial, trialsSucceed);
		String trying = breaker.getState().toString();
		endSlow.complete(null);
		for (CompletableFuture<?> call : slowCalls) {
			call.get(10, TimeUnit.SECONDS);
		}
		String meanwhile = breaker.getState().toString();
		endTrial.complete(null);
		trial.get(10, TimeUnit.SECONDS);
		call(breaker, CompletableFuture.completedFuture(null), trialsSucceed).get(10, TimeUnit.SECONDS);
		System.out.printf("%s: %s, %s, during the trial call %s, after two of them %s%n", name, opened, trying, meanwhile,
				breaker.getState());
	}

	/** Returns when the call has begun. */
	private static CompletableFuture<?> call(CircuitBreaker breaker, CompletableFuture<Void> end, boolean success)
			throws Exception {
		CompletableFuture<Void> begun = new CompletableFuture<>();
		CompletableFuture<?> call = CompletableFuture.runAsync(() -> {
			try {
				breaker.executeCallable(() -> {
					begun.complete(null);
					end.get(30, TimeUnit.SECONDS);
					if (!success) {
						throw new IllegalStateException("failed");
					}
					return null;
				});
			}
			catch (CallNotPermittedException ex) {
				begun.complete(null);
			}
			catch (Exception ex) {
				// As intended
			}
		}, threads);
		begun.get(10, TimeUnit.SECONDS);
		return call;
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>resilience4j-late-results-half-open</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>io.github.resilience4j</groupId>
      <artifactId>resilience4j-circuitbreaker</artifactId>
      <version>2.4.0</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
echo "Resilience4j 2.4.0"
seen=$(java -cp "$work/lib/*" "$work/Probe.java" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "no slow calls, the trial calls fail: OPEN, HALF_OPEN, during the trial call HALF_OPEN, after two of them OPEN
no slow calls, the trial calls succeed: OPEN, HALF_OPEN, during the trial call HALF_OPEN, after two of them CLOSED
two slow calls succeed, the trial calls fail: OPEN, HALF_OPEN, during the trial call CLOSED, after two of them CLOSED
two slow calls fail, the trial calls succeed: OPEN, HALF_OPEN, during the trial call OPEN, after two of them OPEN" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
