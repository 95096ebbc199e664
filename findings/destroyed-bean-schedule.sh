#!/usr/bin/env bash
#
# Spring Framework, without dblock: the @Scheduled method of a bean that was destroyed with
# its scope goes on if the bean has a proxy (here for @Async on another method), up to 7.0.9
# and still in 6.2.19; 7.0.10 cancels it. Without a proxy, every version cancels it.
# Downloads spring-context from Maven Central, and fails if the behaviour differs.
# Needs JDK 17 or later and Maven.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectFactory;
import org.springframework.beans.factory.config.CustomScopeConfigurer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.core.SpringVersion;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

public class Probe {

	static final Map<String, Object> BEANS = new HashMap<>();

	static final Map<String, Runnable> CALLBACKS = new HashMap<>();

	public static class Plain {

		private final AtomicInteger runs = new AtomicInteger();

		@Scheduled(fixedRate = 100)
		public void tick() {
			this.runs.incrementAndGet();
		}

		public int runs() {
			return this.runs.get();
		}

	}

	public static class Proxied extends Plain {

		@Async
		public void other() {
		}

	}

	static class MapScope implements org.springframework.beans.factory.config.Scope {

		public Object get(String name, ObjectFactory<?> factory) {
			return BEANS.computeIfAbsent(name, (key) -> factory.getObject());
		}

		public Object remove(String name) {
			return BEANS.remove(name);
		}

		public void registerDestructionCallback(String name, Runnable callback) {
			CALLBACKS.put(name, callback);
		}

		public Object resolveContextualObject(String key) {
			return null;
		}

		public String getConversationId() {
			return null;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	@EnableAsync
	static class Config {

		@Bean
		static CustomScopeConfigurer scopes() {
			CustomScopeConfigurer scopes = new CustomScopeConfigurer();
			scopes.addScope("map", new MapScope());
			return scopes;
		}

		@Bean
		@Scope("map")
		Plain plain() {
			return new Plain();
		}

		@Bean
		@Scope("map")
		Proxied proxied() {
			return new Proxied();
		}

	}

	public static void main(String[] args) throws Exception {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(Config.class)) {
			Plain plain = (Plain) context.getBean("plain");
			Plain proxied = (Plain) context.getBean("proxied");
			while (plain.runs() < 3 || proxied.runs() < 3) {
				Thread.sleep(10);
			}
			CALLBACKS.values().forEach(Runnable::run);
			Thread.sleep(1000);
			int plainBefore = plain.runs();
			int proxiedBefore = proxied.runs();
			Thread.sleep(3000);
			System.out.printf("%s without proxy: %s, with proxy: %s%n", SpringVersion.getVersion(),
					(plain.runs() > plainBefore) ? "goes on" : "stops",
					(AopUtils.isAopProxy(proxied) && proxied.runs() > proxiedBefore) ? "goes on" : "stops");
		}
	}

}
JAVA

failed=0
while read -r version expected; do
    cat >"$work/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>destroyed-bean-schedule</artifactId>
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
    mvn -q -B -f "$work/pom.xml" dependency:build-classpath -Dmdep.outputFile="$work/classpath" >"$work/log" 2>&1 ||
        { cat "$work/log"; exit 1; }
    javac -d "$work/classes" -cp "$(cat "$work/classpath")" "$work/Probe.java"
    seen=$(java -cp "$work/classes:$(cat "$work/classpath")" Probe 2>"$work/log") || { cat "$work/log"; exit 1; }
    printf '%s\n' "$seen"
    if [[ $seen != "$version without proxy: stops, with proxy: $expected" ]]; then
        printf 'expected with a proxy: %s\n' "$expected"
        failed=1
    fi
done <<VERSIONS
6.2.19 goes on
7.0.9 goes on
7.0.10 stops
VERSIONS
exit "$failed"
