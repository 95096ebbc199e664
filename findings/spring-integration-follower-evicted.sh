#!/usr/bin/env bash
#
# Spring Integration 7.1.2 with H2 2.3.232: a follower of a LockRegistryLeaderInitiator never becomes the leader if its
# lock registry hands out locks for many other keys, and no warning is logged.
#
# Two instances elect a leader through a JdbcLockRegistry. More than 100,000 locks for other keys are obtained from the
# registry of the follower, as an aggregator does for its groups. They are not even locked. Then the leader stops. Seen:
# the lock is free, and the follower does not become the leader. Its registry caches 100,000 locks and evicts the oldest
# that are not held. The initiator obtains its lock once, when it starts, and between two attempts to acquire it, the
# lock is not held. The registry refuses an evicted lock with an exception, which the initiator logs at level DEBUG
# only. 7.0.5 accepts evicted locks: the follower becomes the leader.
#
# What one would expect: the follower becomes the leader, or at least logs a warning.
#
# The other locks are obtained without a pause until the initiator logs at DEBUG that its lock was refused, which takes
# some seconds, or for 5 seconds with 7.0.5.
#
# Needs JDK 17 or later and Maven. Fails if Spring Integration behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

import javax.sql.DataSource;

import org.h2.jdbcx.JdbcConnectionPool;
import org.springframework.core.io.ClassPathResource;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

public class Probe {

	private static final Logger initiators = Logger.getLogger(LockRegistryLeaderInitiator.class.getName());

	static class Instance extends DefaultCandidate {

		final CountDownLatch granted = new CountDownLatch(1);

		final JdbcLockRegistry registry;

		final LockRegistryLeaderInitiator initiator;

		Instance(String id, DataSource dataSource) {
			super(id, "leader");
			DefaultLockRepository repository = new DefaultLockRepository(dataSource);
			repository.setTransactionManager(new DataSourceTransactionManager(dataSource));
			repository.afterPropertiesSet();
			repository.afterSingletonsInstantiated();
			repository.start();
			this.registry = new JdbcLockRegistry(repository);
			this.initiator = new LockRegistryLeaderInitiator(this.registry, this);
			this.initiator.start();
		}

		@Override
		public void onGranted(Context context) {
			this.granted.countDown();
		}

	}

	static class Messages extends Handler {

		final AtomicInteger warnings = new AtomicInteger();

		volatile boolean refused;

		@Override
		public void publish(LogRecord record) {
			if (record.getLevel().intValue() >= Level.WARNING.intValue()) {
				this.warnings.incrementAndGet();
			}
			else if (record.getThrown() instanceof CannotAcquireLockException ex
					&& ex.getCause() instanceof IllegalStateException) {
				this.refused = true;
			}
		}

		@Override
		public void flush() {
		}

		@Override
		public void close() {
		}

	}

	public static void main(String[] args) throws Exception {
		Logger root = Logger.getLogger("");
		for (Handler handler : root.getHandlers()) {
			root.removeHandler(handler);
		}
		Messages messages = new Messages();
		root.addHandler(messages);
		initiators.setLevel(Level.FINE);
		probe("no other keys", 0, messages);
		probe("other keys", Integer.parseInt(args[0]), messages);
		System.exit(0);
	}

	private static void probe(String name, int seconds, Messages messages) throws Exception {
		JdbcConnectionPool dataSource = JdbcConnectionPool.create("jdbc:h2:mem:probe", "sa", "");
		new ResourceDatabasePopulator(new ClassPathResource("org/springframework/integration/jdbc/schema-h2.sql"))
			.execute(dataSource);
		try (var keepOpen = dataSource.getConnection()) {
			Instance leader = new Instance("first", dataSource);
			leader.granted.await();
			Instance follower = new Instance("second", dataSource);
			Thread.sleep(1000);
			messages.refused = false;
			long start = System.nanoTime();
			for (int i = 0; !messages.refused && System.nanoTime() - start < TimeUnit.SECONDS.toNanos(seconds); i++) {
				follower.registry.obtain("group-" + i);
			}
			leader.initiator.stop();
			boolean granted = follower.granted.await(8, TimeUnit.SECONDS);
			int warnings = messages.warnings.get();
			boolean free = leader.registry.obtain("leader").tryLock();
			follower.initiator.stop();
			System.out.printf("%s: the follower %s the leader, the lock is %s, %s%n", name,
					granted ? "becomes" : "does not become", free ? "free" : "held",
					(warnings > 0) ? "warnings were logged" : "no warning was logged");
			Thread.sleep(1000);
		}
		dataSource.dispose();
	}

}
JAVA

failed=0
for version in 7.0.5 7.1.2; do
    if [[ $version == 7.0.5 ]]; then
        seconds=5
        busy="becomes the leader, the lock is held"
    else
        seconds=40
        busy="does not become the leader, the lock is free"
    fi
    cat >"$work/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>spring-integration-follower-evicted</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.springframework.integration</groupId>
      <artifactId>spring-integration-jdbc</artifactId>
      <version>$version</version>
    </dependency>
    <dependency>
      <groupId>com.h2database</groupId>
      <artifactId>h2</artifactId>
      <version>2.3.232</version>
    </dependency>
  </dependencies>
</project>
POM
    mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib-$version" \
        </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    echo "Spring Integration $version"
    seen=$(java -cp "$work/lib-$version/*" "$work/Probe.java" "$seconds" 2>"$work/errors") || cat "$work/errors"
    printf '%s\n' "$seen"
    [[ $seen == "no other keys: the follower becomes the leader, the lock is held, no warning was logged
other keys: the follower $busy, no warning was logged" ]] || failed=1
done

if ((failed != 0)); then
    echo "The behavior has changed."
    exit 1
fi
