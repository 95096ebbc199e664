#!/usr/bin/env bash
#
# Redisson 4.7.0 with Redis 6.2.6: lock() gets the lease of another thread, if that thread's lease has ended and both use
# the same RLock object. The watchdog comes too late to extend it.
#
# One thread calls lock(2, SECONDS) and takes longer. A second thread waits in lock() without a lease time, which the
# watchdog extends: 30 seconds from the start, and again every 10 seconds. Seen: as the first lease was not ended by
# unlock(), the second thread gets the lock for 2 seconds. 3 seconds later, it does not hold the lock, another client
# gets it, and unlock() throws an IllegalMonitorStateException. With an RLock object for each thread, it has 30 seconds
# and keeps the lock.
#
# What one would expect: an RLock is only a handle, which threads can share, as a bean or a field. That lock() took over
# the lease of an earlier lock(…) was fixed in 2023 (redisson/redisson#4818), but only after an unlock().
#
# Needs JDK 17 or later and Maven, on Linux (x86-64). Fails if Redisson behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import redis.embedded.RedisServer;

public class Probe {

	private static ExecutorService first = Executors.newSingleThreadExecutor();

	public static void main(String[] args) throws Exception {
		int port;
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			port = socket.getLocalPort();
		}
		RedisServer server = RedisServer.newRedisServer().port(port).setting("bind 127.0.0.1").build();
		server.start();
		try {
			RedissonClient client = client(port);
			RedissonClient other = client(port);
			try {
				RLock shared = client.getLock("shared");
				probe("one object", shared, shared, other.getLock("shared"));
				probe("two objects", client.getLock("own"), client.getLock("own"), other.getLock("own"));
			}
			finally {
				first.shutdown();
				client.shutdown();
				other.shutdown();
			}
		}
		finally {
			server.stop();
		}
	}

	private static void probe(String what, RLock leased, RLock watched, RLock other) throws Exception {
		first.submit(() -> leased.lock(2, TimeUnit.SECONDS)).get();
		watched.lock();
		long lease = Math.round(watched.remainTimeToLive() / 1000.0);
		Thread.sleep(3000);
		boolean held = watched.isHeldByCurrentThread();
		boolean taken = other.tryLock();
		String unlocked = "nothing";
		try {
			watched.unlock();
		}
		catch (IllegalMonitorStateException ex) {
			unlocked = ex.getClass().getSimpleName();
		}
		System.out.printf("%s: lock() has a lease of %s s; 3 s later: %s, another client %s; unlock() throws %s%n", what,
				lease, held ? "held" : "not held", taken ? "gets it" : "does not get it", unlocked);
	}

	private static RedissonClient client(int port) {
		Config config = new Config();
		config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
		return Redisson.create(config);
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>redisson-shared-lock-lease</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.redisson</groupId>
      <artifactId>redisson</artifactId>
      <version>4.7.0</version>
    </dependency>
    <dependency>
      <groupId>com.github.codemonstur</groupId>
      <artifactId>embedded-redis</artifactId>
      <version>1.4.3</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
mkdir "$work/tmp"
echo "Redisson 4.7.0"
seen=$(cd "$work/tmp" && java -Djava.io.tmpdir="$work/tmp" -cp "$work/lib/*" "$work/Probe.java" 2>"$work/errors") ||
    cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "one object: lock() has a lease of 2 s; 3 s later: not held, another client gets it; unlock() throws IllegalMonitorStateException
two objects: lock() has a lease of 30 s; 3 s later: held, another client does not get it; unlock() throws nothing" ]] || {
    tail -20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
