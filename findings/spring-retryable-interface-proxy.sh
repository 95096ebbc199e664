#!/usr/bin/env bash
#
# Spring 7.0.0 and 7.0.10: if a bean has an interface, and so a JDK proxy, @Retryable on a method of its class has no
# effect, and @ConcurrencyLimit makes each call fail.
#
# The class of a bean implements an interface, and its methods are annotated. @EnableResilientMethods creates a JDK proxy
# for it, the default of Spring without Spring Boot, and of Spring Boot 4.1.2 with spring.aop.proxy-target-class=false.
# Seen: the method with @Retryable is called once, and its exception is thrown. The method with @ConcurrencyLimit is not
# called: "No @ConcurrencyLimit annotation found". The pointcuts find the annotations of the class, but the interceptors
# only look at the method of the interface and at the class itself. @Async on a method of the same class works. With a
# class proxy, all three work.
#
# What one would expect: they work with both kinds of proxies, as @Async does.
#
# Needs JDK 17 or later and Maven. Fails if Spring behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

import org.springframework.aop.support.AopUtils;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.SpringVersion;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

public class Probe {

	public interface Service {

		void retry();

		void limit();

		Future<Thread> async();

	}

	public static class DefaultService implements Service {

		private final AtomicInteger calls;

		DefaultService(AtomicInteger calls) {
			this.calls = calls;
		}

		@Override
		@Retryable(maxRetries = 2, delay = 10)
		public void retry() {
			this.calls.incrementAndGet();
			throw new IllegalStateException("failed");
		}

		@Override
		@ConcurrencyLimit(1)
		public void limit() {
			this.calls.incrementAndGet();
		}

		@Override
		@Async
		public Future<Thread> async() {
			return CompletableFuture.completedFuture(Thread.currentThread());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Services {

		@Bean
		AtomicInteger calls() {
			return new AtomicInteger();
		}

		@Bean
		Service service(AtomicInteger calls) {
			return new DefaultService(calls);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	@EnableResilientMethods
	static class Interfaces extends Services {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync(proxyTargetClass = true)
	@EnableResilientMethods(proxyTargetClass = true)
	static class Classes extends Services {

	}

	public static void main(String[] args) throws Exception {
		System.out.println("Spring " + SpringVersion.getVersion());
		probe(Interfaces.class);
		probe(Classes.class);
	}

	private static void probe(Class<?> configuration) throws Exception {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(configuration)) {
			Service service = context.getBean(Service.class);
			AtomicInteger calls = context.getBean(AtomicInteger.class);
			String retry = outcome(service::retry);
			int attempts = calls.getAndSet(0);
			String limit = outcome(service::limit);
			System.out.printf("%s proxy: @Retryable: attempts %d, %s; @ConcurrencyLimit: calls %d, %s; @Async %s%n",
					AopUtils.isJdkDynamicProxy(service) ? "JDK" : "class", attempts, retry, calls.get(), limit,
					(service.async().get() != Thread.currentThread()) ? "works" : "does not work");
		}
	}

	private static String outcome(Runnable action) {
		try {
			action.run();
			return "no exception";
		}
		catch (IllegalStateException ex) {
			return '"' + ex.getMessage() + '"';
		}
	}

}
JAVA

failed=0
for version in 7.0.0 7.0.10; do
    cat >"$work/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>spring-retryable-interface-proxy</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.springframework</groupId>
      <artifactId>spring-context</artifactId>
      <version>$version</version>
    </dependency>
  </dependencies>
</project>
POM
    mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib-$version" \
        </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    javac -d "$work/classes-$version" -cp "$work/lib-$version/*" "$work/Probe.java"
    seen=$(java -cp "$work/classes-$version:$work/lib-$version/*" Probe 2>"$work/errors") || cat "$work/errors"
    printf '%s\n' "$seen"
    [[ $seen == "Spring $version
JDK proxy: @Retryable: attempts 1, \"failed\"; @ConcurrencyLimit: calls 0, \"No @ConcurrencyLimit annotation found\"; \
@Async works
class proxy: @Retryable: attempts 3, \"failed\"; @ConcurrencyLimit: calls 1, no exception; @Async works" ]] || failed=1
done

if ((failed != 0)); then
    echo "The behavior has changed."
    exit 1
fi
