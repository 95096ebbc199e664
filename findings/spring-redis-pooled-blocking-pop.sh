#!/usr/bin/env bash
#
# Spring Data Redis 4.1.2 with Lettuce 7.5.2 and Redis 6.2.6: after a blocking pop that timed out, a pool of connections
# loses the next element of that list, and elements of other lists. Without a pool, nothing is lost.
#
# A consumer waits for an element of a list that is quiet, by leftPop(key, Duration.ZERO), for longer than the command
# timeout of the connection factory. That is 60 s by default, and 1 s here. It gets a QueryTimeoutException. Then a
# consumer pops an element of another list, and a new element is pushed to the quiet list. Seen: without a pool, the
# connection of the first command is closed, so Redis ends that command; the second pop gets its element, and the new
# one stays in the list. With a pool, the connection is returned to the pool while Redis still executes the command.
# The next consumer gets that connection: its pop of a list that has elements times out. The new element of the quiet
# list goes to the first command, and then an element of the other list to the second one, although both have timed
# out: both elements are lost. LettucePoolingConnectionProvider.release() does not check for commands in progress.
# Spring Boot uses a pool as soon as commons-pool2 is on the class path.
#
# What one would expect: the connection is closed with a pool, too, and an element is lost in neither case.
#
# Needs JDK 17 or later and Maven, on Linux (x86-64). Fails if one of them behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;

import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettucePoolingClientConfiguration;
import org.springframework.data.redis.core.StringRedisTemplate;
import redis.embedded.RedisServer;

public class Probe {

	public static void main(String[] args) throws Exception {
		int port;
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			port = socket.getLocalPort();
		}
		RedisServer server = RedisServer.newRedisServer().port(port).setting("bind 127.0.0.1").build();
		server.start();
		try {
			probe("without a pool", port, LettuceClientConfiguration.builder());
			probe("with a pool", port,
					LettucePoolingClientConfiguration.builder().poolConfig(new GenericObjectPoolConfig<>()));
		}
		finally {
			server.stop();
		}
		System.exit(0);
	}

	private static void probe(String name, int port,
			LettuceClientConfiguration.LettuceClientConfigurationBuilder configuration) throws Exception {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", port),
				configuration.commandTimeout(Duration.ofSeconds(1)).build());
		factory.afterPropertiesSet();
		factory.start();
		StringRedisTemplate template = new StringRedisTemplate(factory);
		String quiet = name + ": quiet";
		String other = name + ": other";
		template.opsForList().rightPushAll(other, "first", "second");
		System.out.printf("%s: pop of the quiet list %s, of the other list %s%n", name,
				pop(template, quiet, Duration.ZERO), pop(template, other, Duration.ofMillis(500)));
		template.opsForList().rightPush(quiet, "new");
		Thread.sleep(500);
		System.out.printf("%s: then, the quiet list has %s, the other list %s%n", name,
				template.opsForList().range(quiet, 0, -1), template.opsForList().range(other, 0, -1));
		factory.destroy();
	}

	private static String pop(StringRedisTemplate template, String key, Duration timeout) {
		try {
			return "gets " + template.opsForList().leftPop(key, timeout);
		}
		catch (QueryTimeoutException ex) {
			return "times out";
		}
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>spring-redis-pooled-blocking-pop</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.springframework.data</groupId>
      <artifactId>spring-data-redis</artifactId>
      <version>4.1.2</version>
    </dependency>
    <dependency>
      <groupId>io.lettuce</groupId>
      <artifactId>lettuce-core</artifactId>
      <version>7.5.2.RELEASE</version>
    </dependency>
    <dependency>
      <groupId>org.apache.commons</groupId>
      <artifactId>commons-pool2</artifactId>
      <version>2.12.1</version>
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
echo "Spring Data Redis 4.1.2"
seen=$(cd "$work/tmp" && java -Djava.io.tmpdir="$work/tmp" -cp "$work/lib/*" "$work/Probe.java" 2>"$work/errors") ||
    cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "without a pool: pop of the quiet list times out, of the other list gets first
without a pool: then, the quiet list has [new], the other list [second]
with a pool: pop of the quiet list times out, of the other list times out
with a pool: then, the quiet list has [], the other list [second]" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
