#!/usr/bin/env bash
#
# Redisson 4.7.0 with Redis 6.2.6: a thread that locks again, for a short lease, what it already holds loses the lock
# when that short lease ends, even if it has unlocked the inner lock long before.
#
# The outer lock() has no lease time, so Redisson's watchdog extends its 30 seconds every 10 seconds. Within it, the
# thread calls lock(2, SECONDS) and unlock(). Seen: the inner lock() sets the remaining time of the whole lock to
# 2 seconds, the inner unlock() does not restore it, and the watchdog's next extension comes too late. 3 seconds later,
# the thread does not hold the lock, another thread gets it, and the outer unlock() throws an
# IllegalMonitorStateException. The same is seen with an outer lock(60, SECONDS).
#
# What one would expect: the lock is held for the longer of the two leases, or at least for the outer one after the
# inner unlock().
#
# Needs JDK 17 or later and Maven, on Linux (x86-64). Fails if Redisson behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import redis.embedded.RedisServer;

public class Probe {

	public static void main(String[] args) throws Exception {
		int port;
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			port = socket.getLocalPort();
		}
		RedisServer server = RedisServer.newRedisServer().port(port).setting("bind 127.0.0.1").build();
		server.start();
		try {
			Config config = new Config();
			config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
			RedissonClient client = Redisson.create(config);
			try {
				RLock watched = client.getLock("watched");
				watched.lock();
				probe("watchdog", watched);
				RLock leased = client.getLock("leased");
				leased.lock(60, TimeUnit.SECONDS);
				probe("60 s", leased);
			}
			finally {
				client.shutdown();
			}
		}
		finally {
			server.stop();
		}
	}

	private static void probe(String outer, RLock lock) throws Exception {
		long before = seconds(lock);
		lock.lock(2, TimeUnit.SECONDS);
		long inner = seconds(lock);
		lock.unlock();
		System.out.printf("%s: %s s left, %s s in the inner lock, %s s after it, held %s times%n", outer, before, inner,
				seconds(lock), lock.getHoldCount());
		Thread.sleep(3000);
		boolean held = lock.isHeldByCurrentThread();
		boolean taken = CompletableFuture.supplyAsync(lock::tryLock).get();
		String unlocked = "nothing";
		try {
			lock.unlock();
		}
		catch (IllegalMonitorStateException ex) {
			unlocked = ex.getClass().getSimpleName();
		}
		System.out.printf("%s, 3 s later: %s, another thread %s; unlock() throws %s%n", outer,
				held ? "held" : "not held", taken ? "gets it" : "does not get it", unlocked);
	}

	private static long seconds(RLock lock) {
		return Math.round(lock.remainTimeToLive() / 1000.0);
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>redisson-nested-lease</artifactId>
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
[[ $seen == "watchdog: 30 s left, 2 s in the inner lock, 2 s after it, held 1 times
watchdog, 3 s later: not held, another thread gets it; unlock() throws IllegalMonitorStateException
60 s: 60 s left, 2 s in the inner lock, 2 s after it, held 1 times
60 s, 3 s later: not held, another thread gets it; unlock() throws IllegalMonitorStateException" ]] || {
    tail -20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
