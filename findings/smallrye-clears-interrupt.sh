#!/usr/bin/env bash
#
# SmallRye Fault Tolerance 6.11.2: a Guard clears the interrupted status of the thread that calls it, and if it has a retry
# or a timeout, it throws an InterruptedException in the place of the result of a call that has succeeded.
#
# A thread is interrupted, as by shutdownNow() or by cancel(true) of its future, while it calls a Guard. The action of the
# call does not wait for anything, stores its result, and returns it. Seen: with a retry, or with a timeout of five
# seconds, the call throws an InterruptedException, although the action has returned, so its caller takes the work for not
# done. With a bulkhead, a circuit breaker or a rate limit, the call returns the result, but the interrupted status is no
# longer set, so a loop that runs until it is interrupted goes on after shutdownNow(). Without a Guard, it is set.
#
# What one would expect: the result is returned, and the status stays set for the code that looks for it. The Javadoc of
# Guard does not mention interrupts. A comment in the source refers to MicroProfile Fault Tolerance for the timeout,
# which speaks of the interrupt that a timeout itself sends.
#
# Needs JDK 17 or later and Maven. Fails if SmallRye Fault Tolerance behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.time.temporal.ChronoUnit;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.smallrye.faulttolerance.api.Guard;

public class Probe {

	public static void main(String[] args) throws Exception {
		probe("no guard", null);
		probe("bulkhead", Guard.create().withBulkhead().done().build());
		probe("circuit breaker", Guard.create().withCircuitBreaker().done().build());
		probe("rate limit", Guard.create().withRateLimit().done().build());
		probe("retry", Guard.create().withRetry().done().build());
		probe("timeout", Guard.create().withTimeout().duration(5, ChronoUnit.SECONDS).done().build());
		System.exit(0);
	}

	private static void probe(String name, Guard guard) throws Exception {
		AtomicInteger stored = new AtomicInteger();
		AtomicBoolean working = new AtomicBoolean();
		ExecutorService executor = Executors.newSingleThreadExecutor();
		executor.execute(() -> {
			String result;
			try {
				Callable<Integer> action = () -> {
					working.set(true);
					while (!Thread.currentThread().isInterrupted()) {
						Thread.onSpinWait();
					}
					return stored.incrementAndGet();
				};
				result = "returns " + ((guard != null) ? guard.call(action, Integer.class) : action.call());
			}
			catch (Exception ex) {
				result = "throws " + ex.getClass().getSimpleName();
			}
			System.out.printf("%s: the call %s, interrupted status: %s, results stored: %d%n", name, result,
					Thread.interrupted(), stored.get());
		});
		while (!working.get()) {
			Thread.sleep(10);
		}
		executor.shutdownNow();
		executor.awaitTermination(10, TimeUnit.SECONDS);
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>smallrye-clears-interrupt</artifactId>
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
seen=$(timeout 60 java -cp "$work/lib/*" "$work/Probe.java" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "no guard: the call returns 1, interrupted status: true, results stored: 1
bulkhead: the call returns 1, interrupted status: false, results stored: 1
circuit breaker: the call returns 1, interrupted status: false, results stored: 1
rate limit: the call returns 1, interrupted status: false, results stored: 1
retry: the call throws InterruptedException, interrupted status: false, results stored: 1
timeout: the call throws InterruptedException, interrupted status: false, results stored: 1" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
