#!/usr/bin/env bash
#
# Spring 7.0.10 with Caffeine 3.3.1: with a LoggingCacheErrorHandler, all callers that wait for one load of a
# @Cacheable(sync = true) method repeat it at the same time if it fails.
#
# Ten callers call a method that returns a CompletableFuture, with the same key. Its load fails after a second, as the
# database behind it is overloaded. Seen: by default, the method is called once, and all callers get the exception. With
# a LoggingCacheErrorHandler, which is to ignore errors of the cache, it is called ten times: the nine callers that were
# waiting take the exception of the method for one of the cache, and call the method themselves, at the same time.
# "Cache 'prices' failed to get entry" is logged ten times. It is the same if the method returns a Mono. If it returns
# the value itself, the method is called once with both error handlers.
#
# What one would expect: an exception of the method is none of the cache. It is handed to all who wait for this load, as
# without the error handler, and sync = true lets only one of them load at a time.
#
# Needs JDK 17 or later and Maven. Fails if Spring behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import reactor.core.publisher.Mono;

import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.CachingConfigurer;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.caffeine.CaffeineCacheManager;
import org.springframework.cache.interceptor.CacheErrorHandler;
import org.springframework.cache.interceptor.LoggingCacheErrorHandler;
import org.springframework.cache.interceptor.SimpleCacheErrorHandler;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

public class Probe {

	private static final ExecutorService threads = Executors.newCachedThreadPool();

	private static final AtomicInteger calls = new AtomicInteger();

	private static final AtomicInteger running = new AtomicInteger();

	private static final AtomicInteger atOnce = new AtomicInteger();

	@EnableCaching
	public static class Prices {

		@Cacheable(cacheNames = "prices", sync = true)
		public CompletableFuture<String> future(String article) {
			return CompletableFuture.supplyAsync(Probe::load, threads);
		}

		@Cacheable(cacheNames = "prices", sync = true)
		public Mono<String> mono(String article) {
			return Mono.fromFuture(() -> CompletableFuture.supplyAsync(Probe::load, threads));
		}

		@Cacheable(cacheNames = "prices", sync = true)
		public String value(String article) {
			return load();
		}

	}

	private static String load() {
		calls.incrementAndGet();
		atOnce.accumulateAndGet(running.incrementAndGet(), Math::max);
		try {
			Thread.sleep(1000);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		running.decrementAndGet();
		throw new IllegalStateException("overloaded");
	}

	public static void main(String[] args) throws Exception {
		for (CacheErrorHandler handler : List.of(new SimpleCacheErrorHandler(), new LoggingCacheErrorHandler())) {
			CaffeineCacheManager caffeine = new CaffeineCacheManager();
			caffeine.setAsyncCacheMode(true);
			try (var context = new AnnotationConfigApplicationContext()) {
				context.registerBean("cacheManager", CacheManager.class, () -> caffeine);
				context.registerBean("caching", CachingConfigurer.class, () -> new CachingConfigurer() {

					@Override
					public CacheErrorHandler errorHandler() {
						return handler;
					}

				});
				context.register(Prices.class);
				context.refresh();
				String name = handler.getClass().getSimpleName();
				Prices prices = context.getBean(Prices.class);
				probe(name + ", CompletableFuture", prices::future);
				probe(name + ", Mono", (article) -> prices.mono(article).toFuture());
				probe(name + ", value", (article) -> CompletableFuture.supplyAsync(() -> prices.value(article), threads));
			}
		}
		System.exit(0);
	}

	private static void probe(String name, Function<String, CompletableFuture<String>> find) throws Exception {
		calls.set(0);
		atOnce.set(0);
		List<CompletableFuture<String>> callers = new ArrayList<>();
		for (int i = 0; i < 10; i++) {
			callers.add(find.apply("book"));
		}
		CompletableFuture.allOf(callers.toArray(CompletableFuture[]::new))
			.handle((result, ex) -> null)
			.get(30, TimeUnit.SECONDS);
		long failed = callers.stream().filter(CompletableFuture::isCompletedExceptionally).count();
		System.out.printf("%s: %d callers, %d calls, %d at the same time%n", name, failed, calls.get(), atOnce.get());
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>spring-cacheable-sync-error-handler</artifactId>
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
[[ $seen == "SimpleCacheErrorHandler, CompletableFuture: 10 callers, 1 calls, 1 at the same time
SimpleCacheErrorHandler, Mono: 10 callers, 1 calls, 1 at the same time
SimpleCacheErrorHandler, value: 10 callers, 1 calls, 1 at the same time
LoggingCacheErrorHandler, CompletableFuture: 10 callers, 10 calls, 9 at the same time
LoggingCacheErrorHandler, Mono: 10 callers, 10 calls, 9 at the same time
LoggingCacheErrorHandler, value: 10 callers, 1 calls, 1 at the same time" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
