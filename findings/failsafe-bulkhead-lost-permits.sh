#!/usr/bin/env bash
#
# Failsafe 3.3.2: each call that a Bulkhead rejects takes one of its permits for good. After as many rejected calls as
# it has permits, it rejects every call, although none is in progress.
#
# A bulkhead of two permits has two calls in progress, and one or two more calls are rejected with
# BulkheadFullException, as they should be. Then the two calls end. Seen: one permit is lost for each rejected call.
# With two, the bulkhead has none left, and all later calls are rejected. This goes for run() and get() with the
# default configuration, which does not wait, and with a maximum wait time. A rejected call stays in the queue of
# those that wait, and gets the permit of the next call that ends. Calls by runAsync() leave the queue, and no permit
# is lost.
#
# What one would expect: all permits are free when no call is in progress.
#
# Needs JDK 17 or later and Maven. Fails if Failsafe behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import dev.failsafe.Bulkhead;
import dev.failsafe.BulkheadFullException;
import dev.failsafe.Failsafe;
import dev.failsafe.FailsafeExecutor;

public class Probe {

	interface Call {

		void run(FailsafeExecutor<Object> executor) throws Exception;

	}

	public static void main(String[] args) throws Exception {
		Call call = (executor) -> executor.run(() -> {
		});
		Call asyncCall = (executor) -> executor.runAsync(() -> {
		}).get();
		for (int rejections : new int[] { 0, 1, 2 }) {
			probe("run()", Bulkhead.of(2), call, rejections);
			probe("run() that waits",
					Bulkhead.<Object>builder(2).withMaxWaitTime(Duration.ofMillis(100)).build(), call, rejections);
			probe("runAsync()", Bulkhead.of(2), asyncCall, rejections);
		}
		System.exit(0);
	}

	private static void probe(String name, Bulkhead<Object> bulkhead, Call call, int rejections) throws Exception {
		FailsafeExecutor<Object> executor = Failsafe.with(bulkhead);
		ExecutorService threads = Executors.newCachedThreadPool();
		CountDownLatch begun = new CountDownLatch(2);
		CountDownLatch end = new CountDownLatch(1);
		List<Future<?>> calls = new ArrayList<>();
		for (int i = 0; i < 2; i++) {
			calls.add(threads.submit(() -> executor.run(() -> {
				begun.countDown();
				end.await();
			})));
		}
		begun.await();
		int rejected = 0;
		for (int i = 0; i < rejections; i++) {
			rejected += isRejected(call, executor) ? 1 : 0;
		}
		end.countDown();
		for (Future<?> future : calls) {
			future.get();
		}
		int permits = 0;
		while (bulkhead.tryAcquirePermit()) {
			permits++;
		}
		for (int i = 0; i < permits; i++) {
			bulkhead.releasePermit();
		}
		System.out.printf("%s, %d rejected: %d of 2 permits are left, the next call is %s%n", name, rejected, permits,
				isRejected(call, executor) ? "rejected" : "run");
		threads.shutdown();
	}

	private static boolean isRejected(Call call, FailsafeExecutor<Object> executor) throws Exception {
		try {
			call.run(executor);
			return false;
		}
		catch (BulkheadFullException ex) {
			return true;
		}
		catch (ExecutionException | CompletionException ex) {
			if (ex.getCause() instanceof BulkheadFullException) {
				return true;
			}
			throw ex;
		}
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>failsafe-bulkhead-lost-permits</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>dev.failsafe</groupId>
      <artifactId>failsafe</artifactId>
      <version>3.3.2</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
echo "Failsafe 3.3.2"
seen=$(java -cp "$work/lib/*" "$work/Probe.java" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "run(), 0 rejected: 2 of 2 permits are left, the next call is run
run() that waits, 0 rejected: 2 of 2 permits are left, the next call is run
runAsync(), 0 rejected: 2 of 2 permits are left, the next call is run
run(), 1 rejected: 1 of 2 permits are left, the next call is run
run() that waits, 1 rejected: 1 of 2 permits are left, the next call is run
runAsync(), 1 rejected: 2 of 2 permits are left, the next call is run
run(), 2 rejected: 0 of 2 permits are left, the next call is rejected
run() that waits, 2 rejected: 0 of 2 permits are left, the next call is rejected
runAsync(), 2 rejected: 2 of 2 permits are left, the next call is run" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
