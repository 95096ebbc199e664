#!/usr/bin/env bash
#
# ShedLock 7.10.1 with H2 2.4.240: after an extension of a lock that was refused, the task ends with an exception,
# although it handled that, and its own exception is lost.
#
# A task has a lock with a lockAtMostFor of a second. After 1.5 seconds, it calls LockExtender.extendActiveLock, which
# throws the LockCanNotBeExtendedException, as documented, since the lock has expired. The task catches it, and goes on.
# Seen: if it returns, executeWithLock throws an IllegalStateException, "Lock is not valid, it has already been unlocked
# or extended". If it throws an exception of its own, the caller gets the same IllegalStateException: the exception of
# the task is neither its cause nor suppressed. A lock that expired without such an attempt is unlocked without an
# exception.
#
# What one would expect: the task ends as if it had not tried to extend its lock. That a lock must not be used after
# extend() is documented, but it is ShedLock that calls unlock() here.
#
# Needs JDK 17 or later and Maven. Fails if ShedLock behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.time.Duration;
import java.time.Instant;

import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.core.LockExtender.LockCanNotBeExtendedException;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.LockingTaskExecutor;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.h2.jdbcx.JdbcDataSource;

import org.springframework.jdbc.core.JdbcTemplate;

public class Probe {

	static class AccountClosedException extends RuntimeException {

	}

	public static void main(String[] args) throws Exception {
		JdbcDataSource database = new JdbcDataSource();
		database.setURL("jdbc:h2:mem:locks;DB_CLOSE_DELAY=-1");
		new JdbcTemplate(database).execute("CREATE TABLE shedlock (name VARCHAR(64) PRIMARY KEY,"
				+ " lock_until TIMESTAMP, locked_at TIMESTAMP, locked_by VARCHAR(255))");
		LockProvider provider = new JdbcTemplateLockProvider(database);
		LockingTaskExecutor executor = new DefaultLockingTaskExecutor(provider);
		for (boolean extend : new boolean[] { false, true }) {
			for (boolean fail : new boolean[] { false, true }) {
				System.out.printf("%s, the task %s: the caller gets %s%n", extend ? "extension refused" : "no extension",
						fail ? "throws AccountClosedException" : "returns", run(executor, extend, fail));
			}
		}
	}

	private static String run(LockingTaskExecutor executor, boolean extend, boolean fail) throws Exception {
		try {
			executor.executeWithLock((Runnable) () -> {
				sleep(1500);
				if (extend) {
					try {
						LockExtender.extendActiveLock(Duration.ofSeconds(1), Duration.ZERO);
						System.out.println("The lock was extended.");
					}
					catch (LockCanNotBeExtendedException ex) {
						// Handled
					}
				}
				if (fail) {
					throw new AccountClosedException();
				}
			}, new LockConfiguration(Instant.now(), "task", Duration.ofSeconds(1), Duration.ZERO));
			return "no exception";
		}
		catch (RuntimeException ex) {
			return ex.getClass().getSimpleName() + ((ex.getCause() != null) ? " with a cause" : "")
					+ ((ex.getSuppressed().length > 0) ? " with suppressed ones" : "");
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

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>shedlock-failed-extension</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>net.javacrumbs.shedlock</groupId>
      <artifactId>shedlock-provider-jdbc-template</artifactId>
      <version>7.10.1</version>
    </dependency>
    <dependency>
      <groupId>org.springframework</groupId>
      <artifactId>spring-jdbc</artifactId>
      <version>7.0.10</version>
    </dependency>
    <dependency>
      <groupId>com.h2database</groupId>
      <artifactId>h2</artifactId>
      <version>2.4.240</version>
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
echo "ShedLock 7.10.1"
seen=$(java -cp "$work/lib/*" "$work/Probe.java" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "no extension, the task returns: the caller gets no exception
no extension, the task throws AccountClosedException: the caller gets AccountClosedException
extension refused, the task returns: the caller gets IllegalStateException
extension refused, the task throws AccountClosedException: the caller gets IllegalStateException" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
