#!/usr/bin/env bash
#
# Spring Integration 7.1.2 with H2 2.3.232 and Redis 6.2.6: two threads of one application hold a lock for the same key
# at the same time, if one of them uses a lock object that was obtained before the registry evicted it.
#
# A component obtains a lock from a JdbcLockRegistry or RedisLockRegistry and keeps the object. It does not hold the
# lock when expireUnusedOlderThan() evicts it. Its attempt to acquire it throws the documented
# CannotAcquireLockException. Then another thread obtains a lock for the same key and holds it. Seen: now the first
# component acquires its old lock too. The registry only checks that it knows the key, not the object, and in the store,
# both locks have the same client. The first unlock() deletes the lock in the store, and another client gets it while
# the second thread is still working; its unlock() throws a ConcurrentModificationException that blames an expiration.
# Without the eviction, tryLock() of the first component returns false.
#
# What one would expect: an evicted lock is refused always, or never held together with the new one. The documentation
# says that it is refused, to avoid double locking of the same key by different threads.
#
# Needs JDK 17 or later and Maven, on Linux (x86-64). Fails if Spring Integration behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.h2.jdbcx.JdbcConnectionPool;
import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import redis.embedded.RedisServer;

public class Probe {

	public static void main(String[] args) throws Exception {
		JdbcConnectionPool dataSource = JdbcConnectionPool.create("jdbc:h2:mem:probe;DB_CLOSE_DELAY=-1", "sa", "");
		new ResourceDatabasePopulator(new ClassPathResource("org/springframework/integration/jdbc/schema-h2.sql"))
			.execute(dataSource);
		probe("JDBC", () -> jdbc(dataSource));
		dataSource.dispose();
		int port;
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			port = socket.getLocalPort();
		}
		RedisServer server = RedisServer.newRedisServer().port(port).setting("bind 127.0.0.1").build();
		server.start();
		try {
			LettuceConnectionFactory connections = new LettuceConnectionFactory(
					new RedisStandaloneConfiguration("127.0.0.1", port));
			connections.afterPropertiesSet();
			connections.start();
			probe("Redis", () -> new RedisLockRegistry(connections, "probe"));
			connections.destroy();
		}
		finally {
			server.stop();
		}
		System.exit(0);
	}

	private static JdbcLockRegistry jdbc(DataSource dataSource) {
		DefaultLockRepository repository = new DefaultLockRepository(dataSource);
		repository.setTransactionManager(new DataSourceTransactionManager(dataSource));
		repository.afterPropertiesSet();
		repository.afterSingletonsInstantiated();
		repository.start();
		return new JdbcLockRegistry(repository);
	}

	private static void probe(String name, Supplier<ExpirableLockRegistry<? extends Lock>> registries) {
		ExpirableLockRegistry<? extends Lock> registry = registries.get();
		ExpirableLockRegistry<? extends Lock> other = registries.get();
		ExecutorService first = Executors.newSingleThreadExecutor();
		ExecutorService second = Executors.newSingleThreadExecutor();
		Lock kept = registry.obtain("key");
		Lock current = registry.obtain("key");
		System.out.printf("%s, not evicted: second thread %s, first thread %s%n", name, run(second, current::tryLock),
				run(first, kept::tryLock));
		run(second, unlock(current));
		registry.expireUnusedOlderThan(0);
		System.out.printf("%s, evicted: first thread %s%n", name, run(first, kept::tryLock));
		Lock fresh = registry.obtain("key");
		System.out.printf("%s, evicted, obtained again: second thread %s, first thread %s, other client %s%n", name,
				run(second, fresh::tryLock), run(first, kept::tryLock), run(first, other.obtain("key")::tryLock));
		System.out.printf("%s, unlock() of the first thread: %s, then other client %s%n", name,
				run(first, unlock(kept)), run(first, other.obtain("key")::tryLock));
		System.out.printf("%s, unlock() of the second thread: %s%n", name, run(second, unlock(fresh)));
		first.shutdown();
		second.shutdown();
	}

	private static Callable<String> unlock(Lock lock) {
		return () -> {
			lock.unlock();
			return "done";
		};
	}

	private static String run(ExecutorService thread, Callable<?> action) {
		return CompletableFuture.supplyAsync(() -> {
			try {
				return action.call();
			}
			catch (Exception ex) {
				throw new CompletionException(ex);
			}
		}, thread).handle((result, ex) -> (ex != null) ? ex.getCause().getClass().getSimpleName() : "" + result).join();
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>spring-integration-evicted-lock</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.springframework.integration</groupId>
      <artifactId>spring-integration-jdbc</artifactId>
      <version>7.1.2</version>
    </dependency>
    <dependency>
      <groupId>org.springframework.integration</groupId>
      <artifactId>spring-integration-redis</artifactId>
      <version>7.1.2</version>
    </dependency>
    <dependency>
      <groupId>io.lettuce</groupId>
      <artifactId>lettuce-core</artifactId>
      <version>7.5.2.RELEASE</version>
    </dependency>
    <dependency>
      <groupId>com.h2database</groupId>
      <artifactId>h2</artifactId>
      <version>2.3.232</version>
    </dependency>
    <dependency>
      <groupId>com.github.codemonstur</groupId>
      <artifactId>embedded-redis</artifactId>
      <version>1.4.3</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
mkdir "$work/tmp"
echo "Spring Integration 7.1.2"
seen=$(cd "$work/tmp" && java -Djava.io.tmpdir="$work/tmp" -cp "$work/lib/*" "$work/Probe.java" 2>"$work/errors") ||
    cat "$work/errors"
printf '%s\n' "$seen"
expected=
for store in JDBC Redis; do
    expected+="$store, not evicted: second thread true, first thread false
$store, evicted: first thread CannotAcquireLockException
$store, evicted, obtained again: second thread true, first thread true, other client false
$store, unlock() of the first thread: done, then other client true
$store, unlock() of the second thread: ConcurrentModificationException
"
done
[[ $seen == "${expected%$'\n'}" ]] || {
    tail -20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
