#!/usr/bin/env bash
#
# Redisson 4.7.0 with Redis 6.2.6: the permits of an RPermitExpirableSemaphore expire by the clock of the client that
# asks, not by that of Redis. A client whose clock is fast takes permits that others hold.
#
# A semaphore has one permit, which a client acquires for five minutes. Seen: a second client, whose clock is ten minutes
# fast, gets the permit at once, and the first can neither extend nor release it. With its clock right, the second does
# not get it. A lock with a lease of five minutes is not affected: its key expires in Redis.
#
# What one would expect: the lease of a permit ends by the clock of Redis, as that of a lock does, or at least, the
# reference says that the clocks of the clients must agree.
#
# The second client is a Java process that gets its time from libfaketime; the clock of this machine is not changed.
#
# Needs JDK 17 or later, Maven, and Python 3 with venv and pip, on Linux (x86-64). Fails if Redisson behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install --no-deps --only-binary :all: --target "$work/python" \
    libfaketime==3.0.1

cat >"$work/Probe.java" <<'JAVA'
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.redisson.Redisson;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import redis.embedded.RedisServer;

public class Probe {

	public static void main(String[] args) throws Exception {
		if (args.length > 0) {
			second(Integer.parseInt(args[0]), Long.parseLong(args[1]));
			return;
		}
		int port;
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			port = socket.getLocalPort();
		}
		RedisServer server = RedisServer.newRedisServer().port(port).setting("bind 127.0.0.1").build();
		server.start();
		try {
			RedissonClient client = client(port);
			try {
				RPermitExpirableSemaphore semaphore = client.getPermitExpirableSemaphore("semaphore");
				semaphore.trySetPermits(1);
				for (boolean fast : new boolean[] { false, true }) {
					client.getLock("lock").lock(5, TimeUnit.MINUTES);
					String permit = semaphore.acquire(5, TimeUnit.MINUTES);
					ProcessBuilder second = new ProcessBuilder("java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
							"-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"), "-cp",
							System.getProperty("java.class.path"), "Probe", "" + port, "" + System.currentTimeMillis())
						.redirectOutput(ProcessBuilder.Redirect.INHERIT)
						.redirectError(ProcessBuilder.Redirect.INHERIT);
					if (fast) {
						second.environment()
							.putAll(Map.of("LD_PRELOAD", System.getProperty("faketime"), "FAKETIME", "+600s",
									"FAKETIME_DONT_FAKE_MONOTONIC", "1"));
					}
					Process process = second.start();
					process.waitFor();
					// What libfaketime leaves of a Java process.
					for (String name : new String[] { "faketime_shm_", "sem.faketime_sem_" }) {
						Files.deleteIfExists(Path.of("/dev/shm", name + process.pid()));
					}
					System.out.printf("  then, the first extends the permit: %s, and releases it: %s%n",
							semaphore.updateLeaseTime(permit, 5, TimeUnit.MINUTES), semaphore.tryRelease(permit));
					client.getLock("lock").unlock();
				}
			}
			finally {
				client.shutdown();
			}
		}
		finally {
			server.stop();
		}
	}

	private static void second(int port, long started) {
		System.out.printf("second client, clock %s:%n",
				System.currentTimeMillis() - started > 300_000 ? "ten minutes fast" : "right");
		RedissonClient client = client(port);
		System.out.printf("  gets the lock: %s, gets the permit: %s%n", client.getLock("lock").tryLock(),
				client.getPermitExpirableSemaphore("semaphore").tryAcquire() != null);
		client.shutdown();
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
  <artifactId>redisson-permit-client-clock</artifactId>
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
javac -cp "$work/lib/*" -d "$work/classes" "$work/Probe.java"
echo "Redisson 4.7.0"
seen=$(cd "$work/tmp" &&
    java -Djava.io.tmpdir="$work/tmp" \
        -Dfaketime="$work/python/libfaketime/vendor/libfaketime/src/libfaketime.so.1" \
        -cp "$work/classes:$work/lib/*" Probe 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "second client, clock right:
  gets the lock: false, gets the permit: false
  then, the first extends the permit: true, and releases it: true
second client, clock ten minutes fast:
  gets the lock: false, gets the permit: true
  then, the first extends the permit: false, and releases it: false" ]] || {
    tail -20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
