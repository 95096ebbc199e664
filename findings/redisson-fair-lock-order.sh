#!/usr/bin/env bash
#
# Redisson 4.7.0 with Redis 6.2.6: a fair lock that was held for longer than the watchdog's timeout goes to its waiters
# in another order than that in which they came, usually to the last one first.
#
# Three clients wait in tryLock(100, SECONDS), each two seconds later than the one before, while the watchdog extends the
# holder's lease. Its timeout (lockWatchdogTimeout) is 30 seconds by default, here 10. Seen: if the lock is released
# after 6 seconds, the clients get it in their order. If it is released after 15 seconds, the third is usually the first.
# Redisson takes the 100 for milliseconds: 100 ms after the end of the lease that the lock had when they came, it removes
# the waiters from the queue as dead, and they join it again. If they have not yet done so at the release, nobody is
# notified, and the lock stays free for seconds, although all three wait: with the default timeout, up to 20 seconds were
# seen. With a lease, tryLock(100, 30, SECONDS), the clients get the lock at once, in their order.
#
# What one would expect: "fair lock guarantees that threads will acquire it in is same order they requested it", says
# Redisson's reference.
#
# Needs JDK 17 or later and Maven, on Linux (x86-64). Fails if Redisson behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import redis.embedded.RedisServer;

public class Probe {

	private static final int LOCKS = 8;

	private static final List<Thread> threads = new ArrayList<>();

	private interface Wait {

		boolean tryLock(RLock lock) throws InterruptedException;

	}

	private static class Group {

		private final String name;

		private final Wait wait;

		private final List<RLock> held = new ArrayList<>();

		private final List<List<Integer>> orders = new ArrayList<>();

		Group(String name, Wait wait, RedissonClient holder) {
			this.name = name;
			this.wait = wait;
			for (int i = 0; i < LOCKS; i++) {
				RLock lock = holder.getFairLock(name + i);
				lock.lock();
				this.held.add(lock);
				this.orders.add(new CopyOnWriteArrayList<>());
			}
		}

		void add(RedissonClient client, int number) {
			for (int i = 0; i < LOCKS; i++) {
				RLock lock = client.getFairLock(this.name + i);
				List<Integer> order = this.orders.get(i);
				Thread thread = new Thread(() -> {
					try {
						if (this.wait.tryLock(lock)) {
							order.add(number);
							Thread.sleep(50);
							lock.unlock();
						}
					}
					catch (InterruptedException ex) {
						throw new IllegalStateException(ex);
					}
				});
				thread.start();
				threads.add(thread);
			}
		}

		void release() {
			this.held.forEach(RLock::unlock);
		}

		void print() {
			boolean complete = this.orders.stream().allMatch((order) -> order.size() == 3);
			boolean right = this.orders.stream().allMatch(List.of(1, 2, 3)::equals);
			System.out.printf("%s: %s clients got it, %s%n", this.name, complete ? "all" : "not all",
					right ? "in their order" : "not in their order");
			System.out.println("  " + this.orders);
		}

	}

	public static void main(String[] args) throws Exception {
		int port;
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			port = socket.getLocalPort();
		}
		RedisServer server = RedisServer.newRedisServer().port(port).setting("bind 127.0.0.1").build();
		server.start();
		List<RedissonClient> clients = new ArrayList<>();
		try {
			for (int i = 0; i < 4; i++) {
				Config config = new Config();
				config.setLockWatchdogTimeout(10_000);
				config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
				clients.add(Redisson.create(config));
			}
			Group brief = new Group("held for 6 s, tryLock(100, SECONDS)",
					(lock) -> lock.tryLock(100, TimeUnit.SECONDS), clients.get(0));
			Group lasting = new Group("held for 15 s, tryLock(100, SECONDS)",
					(lock) -> lock.tryLock(100, TimeUnit.SECONDS), clients.get(0));
			Group leased = new Group("held for 15 s, tryLock(100, 30, SECONDS)",
					(lock) -> lock.tryLock(100, 30, TimeUnit.SECONDS), clients.get(0));
			List<Group> groups = List.of(brief, lasting, leased);
			for (int number = 1; number <= 3; number++) {
				for (Group group : groups) {
					group.add(clients.get(number), number);
				}
				Thread.sleep(2000);
			}
			brief.release();
			Thread.sleep(9000);
			lasting.release();
			leased.release();
			for (Thread thread : threads) {
				thread.join();
			}
			groups.forEach(Group::print);
		}
		finally {
			clients.forEach(RedissonClient::shutdown);
			server.stop();
		}
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>redisson-fair-lock-order</artifactId>
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
[[ $(grep held <<<"$seen") == "held for 6 s, tryLock(100, SECONDS): all clients got it, in their order
held for 15 s, tryLock(100, SECONDS): all clients got it, not in their order
held for 15 s, tryLock(100, 30, SECONDS): all clients got it, in their order" ]] || {
    tail -20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
