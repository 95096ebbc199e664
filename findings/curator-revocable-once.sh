#!/usr/bin/env bash
#
# Curator 5.9.0 with ZooKeeper 3.9.3: a lock that was made revocable is so until its next release only. After that, the
# requests of other clients to release it are ignored.
#
# A worker makes its InterProcessMutex revocable when it starts, and then acquires and releases it again and again.
# Another client that needs the lock calls `Revoker.attemptRevoke` for the holder. Seen: the listener of the worker is
# called while the lock is held for the first time, and never again, neither with an exception nor with a log message.
# `release()` removes the listener. It is called again if the worker calls `makeRevocable` before each `acquire()`. That
# does not suffice if two threads of the worker share the mutex, as they may: the release of one thread removes the
# listener of the other one, which waits for the lock.
#
# What one would expect: the listener is called whenever another client asks for the lock. The Javadoc says "Make the
# lock revocable" and nothing about a release, and the documentation says to use a single mutex again and again.
#
# Needs JDK 17 or later and Maven. Fails if Curator behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.test.TestingServer;

public class Probe {

	private static TestingServer server;

	private static CuratorFramework other;

	private static CuratorFramework client() {
		CuratorFramework client = CuratorFrameworkFactory.newClient(server.getConnectString(), new RetryOneTime(1000));
		client.start();
		return client;
	}

	/** Asks the holder for its lock, and returns whether a listener is called within 4 s. */
	private static String revoke(String path, AtomicInteger calls) throws Exception {
		int before = calls.get();
		String holder = new InterProcessMutex(other, path).getParticipantNodes().iterator().next();
		Revoker.attemptRevoke(other, holder);
		for (int i = 0; i < 80 && calls.get() == before; i++) {
			TimeUnit.MILLISECONDS.sleep(50);
		}
		return (calls.get() > before) ? "called" : "not called";
	}

	private static void oneThread() throws Exception {
		AtomicInteger calls = new AtomicInteger();
		InterProcessMutex mutex = new InterProcessMutex(client(), "/one");
		mutex.makeRevocable(lock -> calls.incrementAndGet());
		for (String name : new String[] { "first", "second", "third" }) {
			mutex.acquire();
			System.out.printf("made revocable once, %s acquire: %s%n", name, revoke("/one", calls));
			mutex.release();
		}
		for (String name : new String[] { "first", "second" }) {
			mutex.makeRevocable(lock -> calls.incrementAndGet());
			mutex.acquire();
			System.out.printf("made revocable each time, %s acquire: %s%n", name, revoke("/one", calls));
			mutex.release();
		}
	}

	private static void twoThreads() throws Exception {
		AtomicInteger calls = new AtomicInteger();
		InterProcessMutex mutex = new InterProcessMutex(client(), "/two");
		mutex.makeRevocable(lock -> calls.incrementAndGet());
		mutex.acquire();
		CountDownLatch acquired = new CountDownLatch(1);
		CountDownLatch revoked = new CountDownLatch(1);
		Thread second = new Thread(() -> {
			try {
				mutex.makeRevocable(lock -> calls.incrementAndGet());
				mutex.acquire();
				acquired.countDown();
				revoked.await();
				mutex.release();
			}
			catch (Exception ex) {
				ex.printStackTrace();
			}
		});
		second.setDaemon(true);
		second.start();
		for (int i = 0; i < 200 && mutex.getParticipantNodes().size() < 2; i++) {
			TimeUnit.MILLISECONDS.sleep(50);
		}
		System.out.printf("made revocable each time, first thread: %s%n", revoke("/two", calls));
		mutex.release();
		acquired.await(10, TimeUnit.SECONDS);
		System.out.printf("made revocable each time, second thread: %s%n", revoke("/two", calls));
		revoked.countDown();
		second.join(10_000);
	}

	public static void main(String[] args) throws Exception {
		server = new TestingServer();
		other = client();
		oneThread();
		twoThreads();
		server.close();
		System.exit(0);
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>curator-revocable-once</artifactId>
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
[[ $seen == "made revocable once, first acquire: called
made revocable once, second acquire: not called
made revocable once, third acquire: not called
made revocable each time, first acquire: called
made revocable each time, second acquire: called
made revocable each time, first thread: called
made revocable each time, second thread: not called" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
