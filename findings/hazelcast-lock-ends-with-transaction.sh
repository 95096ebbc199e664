#!/usr/bin/env bash
#
# Hazelcast 5.7.0: a lock of an IMap that is held without a limit ends by itself after a transaction of the same thread
# has written its key. Another member gets the lock during the work.
#
# A thread locks a key by lock(key), changes the entry in a transaction with a timeout of 2 seconds (the default is two
# minutes), commits, and goes on with its work under the lock. Seen: right after the commit, a second member cannot get
# the lock. Four seconds later, it can, and unlock(key) of the first thread throws an IllegalMonitorStateException. It
# is the same if the transaction is rolled back. Without the transaction, or if it writes another key, the thread keeps
# the lock. The transaction locks the key too, in the same thread, so it enters the lock again, and sets the end of the
# whole lock to its own timeout. Its end does not undo that.
#
# What one would expect: the lock lasts until it is unlocked. The documentation of lock(key) says that it has no timeout.
#
# Needs JDK 17 or later and Maven. Fails if Hazelcast behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import com.hazelcast.config.Config;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.map.IMap;
import com.hazelcast.transaction.TransactionContext;
import com.hazelcast.transaction.TransactionOptions;

public class Probe {

	public static void main(String[] args) throws Exception {
		int port = Integer.parseInt(args[0]);
		HazelcastInstance one = start(port);
		HazelcastInstance two = start(port);
		System.out.printf("%d members%n", two.getCluster().getMembers().size());
		probe("no transaction", one, two, null, true);
		probe("transaction on another key, committed", one, two, "other", true);
		probe("transaction on the key, committed", one, two, "key", true);
		probe("transaction on the key, rolled back", one, two, "key", false);
		Hazelcast.shutdownAll();
	}

	private static HazelcastInstance start(int port) {
		Config config = new Config();
		config.setClusterName("findings-" + port);
		config.setProperty("hazelcast.phone.home.enabled", "false");
		config.setProperty("hazelcast.logging.type", "none");
		config.getNetworkConfig().setPort(port).getInterfaces().setEnabled(true).addInterface("127.0.0.1");
		JoinConfig join = config.getNetworkConfig().getJoin();
		join.getAutoDetectionConfig().setEnabled(false);
		join.getMulticastConfig().setEnabled(false);
		join.getTcpIpConfig().setEnabled(true).addMember("127.0.0.1:" + port);
		return Hazelcast.newHazelcastInstance(config);
	}

	private static void probe(String name, HazelcastInstance one, HazelcastInstance two, String written, boolean commit)
			throws Exception {
		IMap<String, String> map = one.getMap("accounts");
		map.lock("key");
		if (written != null) {
			TransactionContext transaction = one
				.newTransactionContext(new TransactionOptions().setTimeout(2, TimeUnit.SECONDS));
			transaction.beginTransaction();
			transaction.<String, String>getMap("accounts").put(written, "changed");
			if (commit) {
				transaction.commitTransaction();
			}
			else {
				transaction.rollbackTransaction();
			}
		}
		boolean atOnce = obtained(two);
		Thread.sleep(4000);
		boolean later = obtained(two);
		String unlocked;
		try {
			map.unlock("key");
			unlocked = "unlocked";
		}
		catch (IllegalMonitorStateException ex) {
			unlocked = ex.getClass().getSimpleName();
		}
		System.out.printf("%s: the other member gets the lock at once %s, later %s; unlock: %s%n", name, atOnce, later,
				unlocked);
	}

	private static boolean obtained(HazelcastInstance instance) throws Exception {
		IMap<String, String> map = instance.getMap("accounts");
		return CompletableFuture.supplyAsync(() -> {
			boolean obtained = map.tryLock("key");
			if (obtained) {
				map.unlock("key");
			}
			return obtained;
		}).get(20, TimeUnit.SECONDS);
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>hazelcast-lock-ends-with-transaction</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>com.hazelcast</groupId>
      <artifactId>hazelcast</artifactId>
      <version>5.7.0</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
echo "Hazelcast 5.7.0"
seen=$(timeout 80 java -cp "$work/lib/*" "$work/Probe.java" "$port" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "2 members
no transaction: the other member gets the lock at once false, later false; unlock: unlocked
transaction on another key, committed: the other member gets the lock at once false, later false; unlock: unlocked
transaction on the key, committed: the other member gets the lock at once false, later true; unlock: IllegalMonitorStateException
transaction on the key, rolled back: the other member gets the lock at once false, later true; unlock: IllegalMonitorStateException" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
