#!/usr/bin/env bash
#
# ShedLock 7.10.1 with H2 2.4.240: a TrackingLockProviderWrapper lists a lock that was extended as active forever, also
# when its task has ended.
#
# Five tasks run, one after the other, each with its lock, and end. Each extends its lock once by
# LockExtender.extendActiveLock. Seen: getActiveLocks() has five locks when no task is running any more, and the next
# task gets the same lock all the same, so it has been released. During that task, six are active, and unlock() of each
# but the newest throws an IllegalStateException. If the tasks do not extend their locks, none is active at the end, and
# one during the next task. extend() of the wrapper returns the lock of the wrapped provider, so the
# wrapper does not learn of its end.
#
# What one would expect: a lock is active as long as it is held. An application that waits at its shutdown until no lock
# is active never ends its wait, and each extended lock remains in memory.
#
# Needs JDK 17 or later and Maven. Fails if ShedLock behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;

import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.core.LockingTaskExecutor;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.util.TrackingLockProviderWrapper;
import org.h2.jdbcx.JdbcDataSource;

import org.springframework.jdbc.core.JdbcTemplate;

public class Probe {

	public static void main(String[] args) {
		JdbcDataSource database = new JdbcDataSource();
		database.setURL("jdbc:h2:mem:locks;DB_CLOSE_DELAY=-1");
		new JdbcTemplate(database).execute("CREATE TABLE shedlock (name VARCHAR(64) PRIMARY KEY,"
				+ " lock_until TIMESTAMP, locked_at TIMESTAMP, locked_by VARCHAR(255))");
		for (boolean extend : new boolean[] { false, true }) {
			TrackingLockProviderWrapper provider = new TrackingLockProviderWrapper(
					new JdbcTemplateLockProvider(database));
			LockingTaskExecutor executor = new DefaultLockingTaskExecutor(provider);
			int[] runs = new int[1];
			for (int i = 0; i < 5; i++) {
				executor.executeWithLock((Runnable) () -> {
					runs[0]++;
					if (extend) {
						LockExtender.extendActiveLock(Duration.ofMinutes(1), Duration.ZERO);
					}
				}, lock());
			}
			int afterwards = provider.getActiveLocks().size();
			int[] during = new int[2];
			executor.executeWithLock((Runnable) () -> {
				during[0] = provider.getActiveLocks().size();
				for (SimpleLock lock : new ArrayList<>(provider.getActiveLocks())) {
					try {
						lock.unlock();
					}
					catch (IllegalStateException ex) {
						during[1]++;
					}
				}
			}, lock());
			System.out.printf("%s: %d tasks have run, %d locks are active; during the next task %d,"
					+ " and unlock() of %d throws an exception%n", extend ? "extended" : "not extended", runs[0],
					afterwards, during[0], during[1]);
		}
	}

	private static LockConfiguration lock() {
		return new LockConfiguration(Instant.now(), "task", Duration.ofMinutes(1), Duration.ZERO);
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>shedlock-tracked-after-extension</artifactId>
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
[[ $seen == "not extended: 5 tasks have run, 0 locks are active; during the next task 1, and unlock() of 0 throws an exception
extended: 5 tasks have run, 5 locks are active; during the next task 6, and unlock() of 5 throws an exception" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
