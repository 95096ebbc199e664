#!/usr/bin/env bash
#
# Curator 5.9.0 with ZooKeeper 3.9.3: a client that acquires several leases of a semaphore gives up after its timeout,
# although enough leases were free, since another client has taken some of them for a request of several leases, too.
#
# A semaphore has four leases, and a client holds all of them. Two jobs, each a client of its own, want three. The first
# one calls `acquire(3, 5, SECONDS)`. Then the holder closes its leases, so that one job after the other could run.
# Seen: the first job gives up after 5 s, and the second one runs only then. `acquire` takes the leases one by one: for
# each of them, it locks the semaphore, creates a lease and unlocks it, so that the next client in the queue gets its
# first lease before this one gets its second. Each of the two jobs holds two leases then, and waits for its third. One
# after the other, without a queue, both jobs get their leases at once.
#
# What one would expect: as with `java.util.concurrent.Semaphore`, where a thread gets all three or none, both jobs get
# their leases, one after the other. The Javadoc says that `acquire` blocks until other clients close enough leases.
#
# Needs JDK 17 or later and Maven. Fails if Curator behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.util.Collection;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.test.TestingServer;

public class Probe {

	private static TestingServer server;

	static class Client {

		final CuratorFramework curator = CuratorFrameworkFactory.newClient(server.getConnectString(),
				new RetryOneTime(1000));

		final InterProcessSemaphoreV2 semaphore;

		Client(String path) {
			this.curator.start();
			this.semaphore = new InterProcessSemaphoreV2(this.curator, path, 4);
		}

		/** Acquires in another thread, and completes with how it ended after the job has closed its leases. */
		CompletableFuture<String> job(Callable<Collection<Lease>> acquire) {
			return CompletableFuture.supplyAsync(() -> {
				try {
					Collection<Lease> leases = acquire.call();
					if (leases == null) {
						return "gave up";
					}
					this.semaphore.returnAll(leases);
					return "ran";
				}
				catch (Exception ex) {
					return ex.toString();
				}
			}, command -> {
				Thread thread = new Thread(command);
				thread.setDaemon(true);
				thread.start();
			});
		}

		void awaitQueue(String path, int clients) throws Exception {
			while (this.curator.checkExists().forPath(path + "/locks") == null
					|| this.curator.getChildren().forPath(path + "/locks").size() != clients) {
				TimeUnit.MILLISECONDS.sleep(20);
			}
		}

	}

	private static String after(CompletableFuture<String> job, int seconds) throws Exception {
		try {
			return job.get(seconds, TimeUnit.SECONDS);
		}
		catch (TimeoutException ex) {
			return "waits";
		}
	}

	private static void alone() throws Exception {
		Client first = new Client("/alone");
		Client second = new Client("/alone");
		String one = after(first.job(() -> first.semaphore.acquire(3)), 10);
		String two = after(second.job(() -> second.semaphore.acquire(3)), 10);
		System.out.printf("one after the other: the first job %s, the second job %s%n", one, two);
	}

	private static void together() throws Exception {
		Client holder = new Client("/together");
		Client first = new Client("/together");
		Client second = new Client("/together");
		Collection<Lease> all = holder.semaphore.acquire(4);
		CompletableFuture<String> one = first.job(() -> first.semaphore.acquire(3, 5, TimeUnit.SECONDS));
		holder.awaitQueue("/together", 1);
		CompletableFuture<String> two = second.job(() -> second.semaphore.acquire(3, 20, TimeUnit.SECONDS));
		holder.awaitQueue("/together", 2);
		holder.semaphore.returnAll(all);
		System.out.printf("together: the first job %s, the second job %s%n", after(one, 30), after(two, 30));
	}

	private static void jdk() throws Exception {
		Semaphore semaphore = new Semaphore(4, true);
		semaphore.acquire(4);
		Thread[] jobs = new Thread[2];
		for (int i = 0; i < jobs.length; i++) {
			jobs[i] = new Thread(() -> {
				semaphore.acquireUninterruptibly(3);
				semaphore.release(3);
			});
			jobs[i].setDaemon(true);
			jobs[i].start();
		}
		while (semaphore.getQueueLength() != 2) {
			TimeUnit.MILLISECONDS.sleep(20);
		}
		semaphore.release(4);
		for (Thread job : jobs) {
			job.join(10_000);
		}
		System.out.printf("Semaphore of the JDK: the first job %s, the second job %s%n",
				jobs[0].isAlive() ? "waits" : "ran", jobs[1].isAlive() ? "waits" : "ran");
	}

	public static void main(String[] args) throws Exception {
		server = new TestingServer();
		alone();
		together();
		jdk();
		server.close();
		System.exit(0);
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>curator-semaphore-split-leases</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.curator</groupId>
      <artifactId>curator-recipes</artifactId>
      <version>5.9.0</version>
    </dependency>
    <dependency>
      <groupId>org.apache.curator</groupId>
      <artifactId>curator-test</artifactId>
      <version>5.9.0</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
echo "Curator 5.9.0"
seen=$(java -Djava.io.tmpdir="$work" -cp "$work/lib/*" "$work/Probe.java" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "one after the other: the first job ran, the second job ran
together: the first job gave up, the second job ran
Semaphore of the JDK: the first job ran, the second job ran" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
