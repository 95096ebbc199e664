#!/usr/bin/env bash
#
# Spring 7.0.10: to retry a Mono of a @Cacheable(sync = true) method has no effect. The method is never called again.
#
# A method returns a Mono that fails at first, and has a value from then on. The caller adds retry(3). Seen: without
# sync, the Mono is subscribed to a second time, and the caller gets the value. With sync = true, the caller gets the
# exception, after three retries that have not called anything: the proxy has subscribed to the Mono of the method once,
# when the method was called, and has returned a Mono of the future of this attempt. For the same reason, a Mono that is
# kept, as by repeat() or a poll, has the first value forever, also after the entry was evicted. It is the same with
# ConcurrentMapCacheManager and CaffeineCacheManager. A new call of the method is a new attempt.
#
# What one would expect: each subscription looks into the cache, and calls the method if there is no value. sync only
# prevents that several threads do so at the same time.
#
# Needs JDK 17 or later and Maven. Fails if Spring behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import reactor.core.publisher.Mono;

import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.caffeine.CaffeineCacheManager;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

public class Probe {

	private static final AtomicInteger attempts = new AtomicInteger();

	@EnableCaching
	public static class Prices {

		@Cacheable("prices")
		public Mono<String> find(String article) {
			return load();
		}

		@Cacheable(cacheNames = "prices", sync = true)
		public Mono<String> findInSync(String article) {
			return load();
		}

		@CacheEvict(cacheNames = "prices", allEntries = true)
		public void evict() {
		}

		private Mono<String> load() {
			return Mono.fromCallable(() -> {
				int attempt = attempts.incrementAndGet();
				if (attempt == 1) {
					throw new IllegalStateException("busy");
				}
				return "price " + attempt;
			});
		}

	}

	public static void main(String[] args) {
		probe("ConcurrentMapCacheManager", new ConcurrentMapCacheManager());
		CaffeineCacheManager caffeine = new CaffeineCacheManager();
		caffeine.setAsyncCacheMode(true);
		probe("CaffeineCacheManager", caffeine);
		System.exit(0);
	}

	private static void probe(String name, CacheManager cacheManager) {
		try (var context = new AnnotationConfigApplicationContext()) {
			context.registerBean("cacheManager", CacheManager.class, () -> cacheManager);
			context.register(Prices.class);
			context.refresh();
			Prices prices = context.getBean(Prices.class);
			for (boolean sync : new boolean[] { false, true }) {
				prices.evict();
				attempts.set(0);
				String retried = get(find(prices, sync).retry(3));
				int number = attempts.get();
				prices.evict();
				Mono<String> kept = find(prices, sync);
				boolean same = get(kept).equals(evictAndGet(prices, kept));
				System.out.printf("%s%s: retry(3) gets %s, %d attempts; the kept Mono has %s after the eviction%n", name,
						sync ? ", sync" : "", retried, number, same ? "the old price" : "a new price");
			}
		}
	}

	private static Mono<String> find(Prices prices, boolean sync) {
		return sync ? prices.findInSync("book") : prices.find("book");
	}

	private static String evictAndGet(Prices prices, Mono<String> kept) {
		prices.evict();
		return get(kept);
	}

	private static String get(Mono<String> price) {
		try {
			return price.block(Duration.ofSeconds(20));
		}
		catch (IllegalStateException ex) {
			return "\"" + ex.getMessage() + "\"";
		}
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>spring-cacheable-sync-retry</artifactId>
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
[[ $seen == "ConcurrentMapCacheManager: retry(3) gets price 2, 2 attempts; the kept Mono has a new price after the eviction
ConcurrentMapCacheManager, sync: retry(3) gets \"busy\", 1 attempts; the kept Mono has the old price after the eviction
CaffeineCacheManager: retry(3) gets price 2, 2 attempts; the kept Mono has a new price after the eviction
CaffeineCacheManager, sync: retry(3) gets \"busy\", 1 attempts; the kept Mono has the old price after the eviction" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
