#!/usr/bin/env bash
#
# Amazon DynamoDB Lock Client 1.4.0: the late close() of a lock that has expired ends the renewal of the lock that another
# thread of the same client has acquired since. Another client gets it during the work.
#
# A thread holds a lock with a lease of 5 s that the client's background thread renews each second. The process is
# stopped for 7 s (SIGSTOP), as by a suspended virtual machine, so the lock expires. Another thread of the client acquires
# it. Then the first thread ends its work and closes its lock object, as the documentation asks for: the release is
# refused, as it should be, since the lock is no longer its own. Seen: the lock of the other thread has expired 7 s later,
# a second client gets it, and its holder cannot release it. If the first thread does not close its object, it is renewed.
# releaseLock() removes the key of the lock from those to be renewed before it finds that the lock is not its own.
#
# What one would expect: a release that returns false changes nothing.
#
# The table is in moto 5.2.5, a server that behaves as DynamoDB for tests.
#
# Needs JDK 17 or later, Maven, and Python 3.10 or later with venv and pip, on Linux (x86-64). Fails if the lock client
# behaves differently.

set -euo pipefail

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; wait; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install "moto[dynamodb,server]==5.2.5"
port=$("$work/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$work/venv/bin/moto_server" -H 127.0.0.1 -p "$port" >"$work/server.log" 2>&1 &
server=$!

cat >"$work/Probe.java" <<'JAVA'
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import com.amazonaws.services.dynamodbv2.AcquireLockOptions;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBLockClient;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBLockClientOptions;
import com.amazonaws.services.dynamodbv2.CreateDynamoDBTableOptions;
import com.amazonaws.services.dynamodbv2.LockItem;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.ProvisionedThroughput;

public class Probe {

	public static void main(String[] args) throws Exception {
		DynamoDbClient database = database(args[0]);
		AmazonDynamoDBLockClient first = client(database, "first");
		AmazonDynamoDBLockClient second = client(database, "second");
		List<String> names = List.of("not closed", "closed");
		List<LockItem> expired = acquire(first, names);
		long pid = ProcessHandle.current().pid();
		new ProcessBuilder("sh", "-c", "kill -STOP " + pid + "; sleep 7; kill -CONT " + pid).start().waitFor();
		Thread.sleep(1500);
		List<LockItem> locks = acquire(first, names);
		boolean released = first.releaseLock(expired.get(1));
		Thread.sleep(7000);
		List<Boolean> expirations = locks.stream().map(LockItem::isExpired).toList();
		List<LockItem> taken = acquire(second, names);
		for (int i = 0; i < 2; i++) {
			System.out.printf("the expired lock is %s%s: after 7 s, the other thread's has expired: %s%n", names.get(i),
					(i == 1) ? ", which returns " + released : "", expirations.get(i));
			System.out.printf("  another client gets it: %s, the holder releases it: %s%n", taken.get(i) != null,
					first.releaseLock(locks.get(i)));
		}
		System.exit(0);
	}

	private static List<LockItem> acquire(AmazonDynamoDBLockClient client, List<String> names) throws Exception {
		List<Callable<LockItem>> tasks = names.stream()
			.<Callable<LockItem>>map((name) -> () -> client
				.tryAcquireLock(AcquireLockOptions.builder(name)
					.withTimeUnit(TimeUnit.MILLISECONDS)
					.withAdditionalTimeToWaitForLock(1000L)
					.withRefreshPeriod(200L)
					.build())
				.orElse(null))
			.toList();
		ExecutorService threads = Executors.newFixedThreadPool(names.size());
		try {
			List<LockItem> locks = new ArrayList<>();
			for (Future<LockItem> future : threads.invokeAll(tasks)) {
				locks.add(future.get());
			}
			return locks;
		}
		finally {
			threads.shutdown();
		}
	}

	private static AmazonDynamoDBLockClient client(DynamoDbClient database, String owner) {
		return new AmazonDynamoDBLockClient(AmazonDynamoDBLockClientOptions.builder(database, "locks")
			.withPartitionKeyName("partition")
			.withOwnerName(owner)
			.withTimeUnit(TimeUnit.SECONDS)
			.withLeaseDuration(5L)
			.withHeartbeatPeriod(1L)
			.withCreateHeartbeatBackgroundThread(true)
			.build());
	}

	private static DynamoDbClient database(String url) {
		DynamoDbClient database = DynamoDbClient.builder()
			.endpointOverride(URI.create(url))
			.region(Region.US_EAST_1)
			.httpClient(ApacheHttpClient.create())
			.credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("none", "none")))
			.build();
		AmazonDynamoDBLockClient.createLockTableInDynamoDB(CreateDynamoDBTableOptions
			.builder(database, ProvisionedThroughput.builder().readCapacityUnits(10L).writeCapacityUnits(10L).build(),
					"locks")
			.withPartitionKeyName("partition")
			.build());
		return database;
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>dynamodb-lock-client-late-close</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>com.amazonaws</groupId>
      <artifactId>dynamodb-lock-client</artifactId>
      <version>1.4.0</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-nop</artifactId>
      <version>2.0.17</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
javac -cp "$work/lib/*" -d "$work/classes" "$work/Probe.java"
for ((i = 0; i < 100; i++)); do
    (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    sleep 0.2
done
echo "DynamoDB Lock Client 1.4.0"
seen=$(timeout 90 java -cp "$work/classes:$work/lib/*" Probe "http://127.0.0.1:$port" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "the expired lock is not closed: after 7 s, the other thread's has expired: false
  another client gets it: false, the holder releases it: true
the expired lock is closed, which returns false: after 7 s, the other thread's has expired: true
  another client gets it: true, the holder releases it: false" ]] || {
    tail -n 20 "$work/errors" "$work/server.log"
    echo "The behavior has changed."
    exit 1
}
