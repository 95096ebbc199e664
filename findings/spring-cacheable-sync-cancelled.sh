#!/usr/bin/env bash
#
# Spring 7.0.10 with Caffeine 3.3.1: if a CaffeineCacheManager does not allow null values, one caller of a
# @Cacheable(sync = true) method that gives up cancels the load for all the others.
#
# Two callers call a method that returns a Mono, with the same key. It loads the value in a second. The first caller has
# a timeout of 300 ms, the second one has none. Seen: by default, the first caller gets its TimeoutException, and the
# second one the value, after one load. With setAllowNullValues(false), the load is cancelled by the timeout of the
# first caller, and the second one gets a CancellationException, though it has not cancelled anything, and could have
# waited. Without null values, all callers get the very future that is in the cache, and a Mono of a future cancels it.
#
# What one would expect: the setting has only an effect on null values. The timeout of a caller is its own.
#
# Needs JDK 17 or later and Maven. Fails if Spring behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import reactor.core.publisher.Mono;

import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.caffeine.CaffeineCacheManager;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

public class Probe {

	private static final AtomicInteger loads = new AtomicInteger();

	private static final AtomicInteger cancelled = new AtomicInteger();

	@EnableCaching
	public static class Prices {

		@Cacheable(cacheNames = "prices", sync = true)
		public Mono<String> find(String article) {
			loads.incrementAndGet();
			return Mono.delay(Duration.ofSeconds(1)).thenReturn("price").doOnCancel(cancelled::incrementAndGet);
		}

	}

	public static void main(String[] args) throws Exception {
		probe(true);
		probe(false);
		System.exit(0);
	}

	private static void probe(boolean nullValues) throws Exception {
		CaffeineCacheManager caffeine = new CaffeineCacheManager();
		caffeine.setAsyncCacheMode(true);
		caffeine.setAllowNullValues(nullValues);
		loads.set(0);
		try (var context = new AnnotationConfigApplicationContext()) {
			context.registerBean("cacheManager", CacheManager.class, () -> caffeine);
			context.register(Prices.class);
			context.refresh();
			Prices prices = context.getBean(Prices.class);
			CompletableFuture<String> first = prices.find("book").timeout(Duration.ofMillis(300)).toFuture();
			CompletableFuture<String> second = prices.find("book").toFuture();
			System.out.printf("null values %s: the first caller gets %s, the second one %s, %d load, %d cancelled%n",
					nullValues ? "allowed" : "not allowed", get(first), get(second), loads.get(), cancelled.get());
		}
	}

	private static String get(CompletableFuture<String> future) throws Exception {
		try {
			return future.get(20, TimeUnit.SECONDS);
		}
		catch (ExecutionException ex) {
			return ex.getCause().getClass().getSimpleName();
		}
		catch (RuntimeException ex) {
			return ex.getClass().getSimpleName();
		}
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>spring-cacheable-sync-cancelled</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.springframework</groupId>
      <artifactId>spring-context-support</artifactId>
      <version>7.0.10</version>
    </dependency>
    <dependency>
      <groupId>com.github.ben-manes.caffeine</groupId>
      <artifactId>caffeine</artifactId>
      <version>3.3.1</version>
    </dependency>
    <dependency>
      <groupId>io.projectreactor</groupId>
      <artifactId>reactor-core</artifactId>
      <version>3.8.8</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
javac -proc:none -cp "$work/lib/*" -d "$work/classes" "$work/Probe.java"
echo "Spring 7.0.10, Caffeine 3.3.1, Reactor 3.8.8"
seen=$(java -cp "$work/classes:$work/lib/*" Probe 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "null values allowed: the first caller gets TimeoutException, the second one price, 1 load, 0 cancelled
null values not allowed: the first caller gets TimeoutException, the second one CancellationException, 1 load, 1 cancelled" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
