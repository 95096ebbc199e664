#!/usr/bin/env bash
#
# Spring Framework, without dblock: if a listener of the ContextRefreshedEvent throws, a
# SmartLifecycle that has started is destroyed without stop(), although the same bean is
# stopped if a bean of a later phase does not start. So in 6.2.19 and 7.0.0; 7.0.5 and
# 7.0.10 stop it in both cases.
# Downloads spring-context from Maven Central, and fails if the behaviour differs.
# Needs JDK 17 or later and Maven.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.util.ArrayList;
import java.util.List;

import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.SpringVersion;

public class Probe {

	static final List<String> CALLS = new ArrayList<>();

	static class Poller implements SmartLifecycle, AutoCloseable {

		private boolean running;

		public void start() {
			this.running = true;
			CALLS.add("start");
		}

		public void stop() {
			this.running = false;
			CALLS.add("stop");
		}

		public boolean isRunning() {
			return this.running;
		}

		public int getPhase() {
			return 0;
		}

		public void close() {
			CALLS.add("destroy");
		}

	}

	static class Later implements SmartLifecycle {

		public void start() {
			throw new IllegalStateException("this phase does not start");
		}

		public void stop() {
		}

		public boolean isRunning() {
			return false;
		}

		public int getPhase() {
			return 1;
		}

	}

	static class Listener implements ApplicationListener<ContextRefreshedEvent> {

		public void onApplicationEvent(ContextRefreshedEvent event) {
			throw new IllegalStateException("this listener fails");
		}

	}

	static String callsIfThisFails(Class<?> failing) {
		CALLS.clear();
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		context.registerBean(Poller.class);
		context.registerBean(failing);
		try {
			context.refresh();
			return "refreshed";
		}
		catch (IllegalStateException | org.springframework.context.ApplicationContextException ex) {
			return String.join(" ", CALLS);
		}
	}

	public static void main(String[] args) {
		System.out.printf("%s later phase: %s; listener: %s%n", SpringVersion.getVersion(),
				callsIfThisFails(Later.class), callsIfThisFails(Listener.class));
	}

}
JAVA

failed=0
while read -r version expected; do
    cat >"$work/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>spring-failed-refresh-lifecycle</artifactId>
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
    if [[ $seen != "$version later phase: start stop destroy; listener: $expected" ]]; then
        printf 'expected with the listener: %s\n' "$expected"
        failed=1
    fi
done <<VERSIONS
6.2.19 start destroy
7.0.0 start destroy
7.0.5 start stop destroy
7.0.10 start stop destroy
VERSIONS
exit "$failed"
