#!/usr/bin/env bash
#
# Spring Integration 7.1.2 with Redis 6.2.6: a RedisLockRegistry that renews its locks schedules one more renewal each
# time that a thread locks again what it holds, and never ends it. A leader does that twice a second.
#
# The registry has a TaskScheduler (setRenewalTaskScheduler, since 6.4). Seen: after lock(), lock(), unlock() and
# unlock(), one renewal is still scheduled, for every third of the expiration time. A LockRegistryLeaderInitiator
# acquires its lock every 500 ms while it is the leader: after 20 seconds, 40 renewals are scheduled, and when it has
# stopped, they send requests to Redis all the same. With the default expiration of 60 seconds, a leader of a day would
# have 170,000 renewals, which send 8,000 requests a second.
#
# What one would expect: one renewal for each lock that is held, and none for a lock that is not.
#
# Needs JDK 17 or later and Maven, on Linux (x86-64). Fails if Spring Integration behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
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
			LettuceConnectionFactory connections = new LettuceConnectionFactory(
					new RedisStandaloneConfiguration("127.0.0.1", port));
			connections.afterPropertiesSet();
			connections.start();
			reentry(connections);
			leader(connections);
			connections.destroy();
		}
		finally {
			server.stop();
		}
		System.exit(0);
	}

	private static void reentry(LettuceConnectionFactory connections) throws Exception {
		ThreadPoolTaskScheduler scheduler = scheduler();
		RedisLockRegistry registry = registry(connections, scheduler);
		DistributedLock lock = registry.obtain("key");
		lock.lock();
		lock.lock();
		lock.unlock();
		lock.unlock();
		Thread.sleep(3000);
		System.out.printf("lock(), lock(), unlock(), unlock(): %d renewals are scheduled%n", tasks(scheduler));
		scheduler.shutdown();
	}

	private static void leader(LettuceConnectionFactory connections) throws Exception {
		ThreadPoolTaskScheduler scheduler = scheduler();
		RedisLockRegistry registry = registry(connections, scheduler);
		CountDownLatch granted = new CountDownLatch(1);
		LockRegistryLeaderInitiator initiator = new LockRegistryLeaderInitiator(registry,
				new DefaultCandidate("id", "leader") {

					@Override
					public void onGranted(Context context) {
						granted.countDown();
					}

				});
		initiator.start();
		granted.await();
		Thread.sleep(20_000);
		report("leader for 20 s", "renewals are scheduled", tasks(scheduler), 30);
		initiator.stop();
		Thread.sleep(3000);
		report("not the leader any more", "renewals are scheduled", tasks(scheduler), 30);
		long before = requests(connections);
		Thread.sleep(6000);
		report("in 6 s", "requests", requests(connections) - before, 60);
		scheduler.shutdown();
	}

	private static void report(String when, String what, long seen, int limit) {
		System.out.printf("%s: %s %s%n", when, (seen > limit) ? "more than " + limit : seen, what);
	}

	private static ThreadPoolTaskScheduler scheduler() {
		ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
		scheduler.setPoolSize(2);
		scheduler.setRemoveOnCancelPolicy(true);
		scheduler.initialize();
		return scheduler;
	}

	private static RedisLockRegistry registry(LettuceConnectionFactory connections, ThreadPoolTaskScheduler scheduler) {
		RedisLockRegistry registry = new RedisLockRegistry(connections, "probe", 6000);
		registry.setRenewalTaskScheduler(scheduler);
		return registry;
	}

	private static int tasks(ThreadPoolTaskScheduler scheduler) {
		return scheduler.getScheduledThreadPoolExecutor().getQueue().size();
	}

	private static long requests(LettuceConnectionFactory connections) {
		try (RedisConnection connection = connections.getConnection()) {
			Properties stats = connection.serverCommands().info("stats");
			return Long.parseLong(stats.getProperty("total_commands_processed"));
		}
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>spring-integration-redis-renewal-leak</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.springframework.integration</groupId>
      <artifactId>spring-integration-redis</artifactId>
      <version>7.1.2</version>
    </dependency>
    <dependency>
      <groupId>io.lettuce</groupId>
      <artifactId>lettuce-core</artifactId>
      <version>7.5.2.RELEASE</version>
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
echo "Spring Integration 7.1.2"
seen=$(cd "$work/tmp" && java -Djava.io.tmpdir="$work/tmp" -cp "$work/lib/*" "$work/Probe.java" 2>"$work/errors") ||
    cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "lock(), lock(), unlock(), unlock(): 1 renewals are scheduled
leader for 20 s: more than 30 renewals are scheduled
not the leader any more: more than 30 renewals are scheduled
in 6 s: more than 60 requests" ]] || {
    tail -20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
