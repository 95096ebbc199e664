#!/usr/bin/env bash
#
# Spring 7.0.10 with Reactor 3.8.0: what @Retryable does depends on the return type. The last exception of a blocking
# method is thrown as it is, that of a Mono is replaced, and a CompletableFuture that fails is not repeated.
#
# All methods have @Retryable(includes = Busy.class, maxRetries = 2) and fail with Busy. Seen: the blocking method is
# called three times and throws Busy. The Mono is subscribed to three times and fails with Reactor's
# RetryExhaustedException, an IllegalStateException with the cause Busy, so that onErrorResume(Busy.class, …) does not
# find it. It is the same with maxRetries = 0. An exception that is not included arrives as it is. The method with the
# CompletableFuture is called once.
#
# What one would expect: three attempts and then the exception of the last one, for each return type. Spring's reference
# says that "the last original exception from the target method" is propagated.
#
# Needs JDK 17 or later and Maven. Fails if Spring behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import reactor.core.publisher.Mono;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.SpringVersion;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;

public class Probe {

	static final AtomicInteger attempts = new AtomicInteger();

	static class Busy extends RuntimeException {

	}

	static class Broken extends RuntimeException {

	}

	static class Service {

		@Retryable(includes = Busy.class, maxRetries = 2, delay = 10)
		public String blocking() {
			attempts.incrementAndGet();
			throw new Busy();
		}

		@Retryable(includes = Busy.class, maxRetries = 2, delay = 10)
		public Mono<String> mono() {
			return failing(new Busy());
		}

		@Retryable(includes = Busy.class, maxRetries = 0)
		public Mono<String> monoWithoutRetries() {
			return failing(new Busy());
		}

		@Retryable(includes = Busy.class, maxRetries = 2, delay = 10)
		public Mono<String> brokenMono() {
			return failing(new Broken());
		}

		@Retryable(includes = Busy.class, maxRetries = 2, delay = 10)
		public CompletableFuture<String> future() {
			attempts.incrementAndGet();
			return CompletableFuture.failedFuture(new Busy());
		}

		private static Mono<String> failing(RuntimeException failure) {
			return Mono.defer(() -> {
				attempts.incrementAndGet();
				return Mono.error(failure);
			});
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableResilientMethods
	static class Config {

		@Bean
		Service service() {
			return new Service();
		}

	}

	public static void main(String[] args) {
		System.out.println("Spring " + SpringVersion.getVersion());
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(Config.class)) {
			Service service = context.getBean(Service.class);
			print("blocking", service::blocking);
			print("Mono", () -> service.mono().block());
			print("Mono, no retries", () -> service.monoWithoutRetries().block());
			print("Mono, not to be repeated", () -> service.brokenMono().block());
			print("CompletableFuture", () -> service.future().join());
		}
	}

	private static void print(String name, Supplier<String> call) {
		attempts.set(0);
		String failure = "nothing";
		try {
			call.get();
		}
		catch (RuntimeException ex) {
			// join() wraps what the future has failed with.
			Throwable thrown = (ex instanceof CompletionException) ? ex.getCause() : ex;
			failure = thrown.getClass().getSimpleName();
			if (thrown.getCause() != null) {
				failure += " caused by " + thrown.getCause().getClass().getSimpleName();
			}
		}
		System.out.printf("%s: attempts %s, failed with %s%n", name, attempts, failure);
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>spring-retryable-by-return-type</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.springframework</groupId>
      <artifactId>spring-context</artifactId>
      <version>7.0.10</version>
    </dependency>
    <dependency>
      <groupId>io.projectreactor</groupId>
      <artifactId>reactor-core</artifactId>
      <version>3.8.0</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
javac -proc:none -d "$work/classes" -cp "$work/lib/*" "$work/Probe.java"
seen=$(java -cp "$work/classes:$work/lib/*" Probe 2>"$work/messages") || cat "$work/messages"
printf '%s\n' "$seen"
[[ $seen == "Spring 7.0.10
blocking: attempts 3, failed with Busy
Mono: attempts 3, failed with RetryExhaustedException caused by Busy
Mono, no retries: attempts 1, failed with RetryExhaustedException caused by Busy
Mono, not to be repeated: attempts 1, failed with Broken
CompletableFuture: attempts 1, failed with Busy" ]] || {
    cat "$work/messages"
    echo "The behavior has changed."
    exit 1
}
