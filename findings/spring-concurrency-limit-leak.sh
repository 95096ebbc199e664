#!/usr/bin/env bash
#
# Spring 7.0.0 and 7.0.10: beans that are not singletons are never collected after a call of their @ConcurrencyLimit
# method.
#
# An application gets 1000 prototype beans, one after the other, calls a method of each and drops it. Seen: if the
# method has @ConcurrencyLimit, all 1000 objects are still in memory after a garbage collection, with all that they
# refer to, as long as the context is open. The beans of a scope such as session are kept too, although the session
# has ended and the bean was destroyed. If the method has @Retryable, or if it has @ConcurrencyLimit and is not
# called, they are collected. The interceptor keeps the throttle of each proxy in a map whose keys are strong
# references to the proxies.
#
# What one would expect: a prototype bean is collected when the application does not refer to it any more.
#
# The scope of the probe works like that of a session: it keeps a bean until the session ends, and then destroys it.
#
# Needs JDK 17 or later and Maven. Fails if Spring behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

import org.springframework.beans.factory.ObjectFactory;
import org.springframework.beans.factory.config.CustomScopeConfigurer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;

public class Probe {

	private static final List<WeakReference<Object>> created = new ArrayList<>();

	public static class Report {

		public Report() {
			created.add(new WeakReference<>(this));
		}

	}

	public static class LimitedReport extends Report {

		@ConcurrencyLimit(2)
		public void write() {
		}

	}

	public static class SessionReport extends LimitedReport {

	}

	public static class RepeatedReport extends Report {

		@Retryable
		public void write() {
		}

	}

	static class SessionScope implements org.springframework.beans.factory.config.Scope {

		private Object bean;

		private Runnable destruction;

		@Override
		public Object get(String name, ObjectFactory<?> factory) {
			if (this.bean == null) {
				this.bean = factory.getObject();
			}
			return this.bean;
		}

		@Override
		public Object remove(String name) {
			Object removed = this.bean;
			this.bean = null;
			this.destruction = null;
			return removed;
		}

		@Override
		public void registerDestructionCallback(String name, Runnable callback) {
			this.destruction = callback;
		}

		void end() {
			if (this.destruction != null) {
				this.destruction.run();
			}
			this.bean = null;
			this.destruction = null;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableResilientMethods
	public static class Application {

		static final SessionScope session = new SessionScope();

		@Bean
		static CustomScopeConfigurer scopes() {
			CustomScopeConfigurer scopes = new CustomScopeConfigurer();
			scopes.addScope("session", session);
			return scopes;
		}

		@Bean
		@Scope("prototype")
		public LimitedReport limited() {
			return new LimitedReport();
		}

		@Bean
		@Scope("prototype")
		public RepeatedReport repeated() {
			return new RepeatedReport();
		}

		@Bean
		@Scope(value = "session", proxyMode = ScopedProxyMode.TARGET_CLASS)
		public SessionReport ofSession() {
			return new SessionReport();
		}

	}

	public static void main(String[] args) throws Exception {
		try (var context = new AnnotationConfigApplicationContext(Application.class)) {
			SessionReport ofSession = context.getBean("ofSession", SessionReport.class);
			probe("@Retryable, called", () -> context.getBean("repeated", RepeatedReport.class).write());
			probe("@ConcurrencyLimit, not called", () -> context.getBean("limited", LimitedReport.class));
			probe("@ConcurrencyLimit, called", () -> context.getBean("limited", LimitedReport.class).write());
			probe("@ConcurrencyLimit, called in a session", () -> {
				ofSession.write();
				Application.session.end();
			});
		}
	}

	private static void probe(String name, Runnable use) throws Exception {
		created.clear();
		for (int i = 0; i < 1000; i++) {
			use.run();
		}
		int total = created.size();
		for (int i = 0; i < 5 && left() > 0; i++) {
			System.gc();
			Thread.sleep(200);
		}
		System.out.printf("%s: %d of %d are left%n", name, left(), total);
	}

	private static long left() {
		return created.stream().filter((reference) -> reference.get() != null).count();
	}

}
JAVA

failed=0
for version in 7.0.0 7.0.10; do
    cat >"$work/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>spring-concurrency-limit-leak</artifactId>
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
    javac -proc:none -cp "$work/lib-$version/*" -d "$work/classes-$version" "$work/Probe.java"
    echo "Spring $version"
    seen=$(java -cp "$work/classes-$version:$work/lib-$version/*" Probe 2>"$work/errors") || cat "$work/errors"
    printf '%s\n' "$seen"
    [[ $seen == "@Retryable, called: 0 of 1000 are left
@ConcurrencyLimit, not called: 0 of 1000 are left
@ConcurrencyLimit, called: 1000 of 1000 are left
@ConcurrencyLimit, called in a session: 1000 of 1000 are left" ]] || failed=1
done

if ((failed != 0)); then
    echo "The behavior has changed."
    exit 1
fi
