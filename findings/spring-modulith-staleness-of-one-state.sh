#!/usr/bin/env bash
#
# Spring Modulith 2.0.3: if only one of the three durations of staleness is set, publications in the two other states are
# stale at once. An event whose listener is running is marked as failed, and resubmitted while it runs.
#
# The listener of an event takes five seconds. The staleness of the state "published" is one hour, and the application
# resubmits failed publications every second. Seen: the staleness monitor marks the publication as failed at its first
# check, so the listener runs several times at the same time. With the same hour for "processing" and "resubmission" as
# well, it runs once.
#
# What one would expect: a duration that is not set, and is zero, has no effect, as when none of the three is set.
#
# Needs JDK 17 or later and Maven. Fails if it behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
package probe;

import java.util.concurrent.atomic.AtomicInteger;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.modulith.events.ApplicationModuleListener;
import org.springframework.modulith.events.FailedEventPublications;
import org.springframework.modulith.events.ResubmissionOptions;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

public class Probe {

	private static final AtomicInteger running = new AtomicInteger();

	private static final AtomicInteger atOnce = new AtomicInteger();

	public record Order(int number) {
	}

	public static class Listener {

		@ApplicationModuleListener
		public void on(Order order) throws InterruptedException {
			int now = running.incrementAndGet();
			atOnce.accumulateAndGet(now, Math::max);
			Thread.sleep(5000);
			running.decrementAndGet();
		}

	}

	public static class Resubmission {

		private final FailedEventPublications failed;

		Resubmission(FailedEventPublications failed) {
			this.failed = failed;
		}

		@Scheduled(fixedDelay = 1000)
		void resubmit() {
			this.failed.resubmit(ResubmissionOptions.defaults());
		}

	}

	@EnableAutoConfiguration
	@EnableScheduling
	@Import({ Listener.class, Resubmission.class })
	public static class Application {

	}

	public static void main(String[] args) throws InterruptedException {
		try (ConfigurableApplicationContext context = new SpringApplication(Application.class).run()) {
			new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
				.executeWithoutResult((status) -> context.publishEvent(new Order(1)));
			Thread.sleep(4500);
			System.out.println((atOnce.get() == 1) ? "the listener runs once" : "the listener runs several times at once");
			System.err.println(atOnce.get() + " at once");
			Runtime.getRuntime().halt(0);
		}
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>spring-modulith-staleness-of-one-state</artifactId>
  <version>1</version>
  <dependencyManagement>
    <dependencies>
      <dependency>
        <groupId>org.springframework.boot</groupId>
        <artifactId>spring-boot-dependencies</artifactId>
        <version>4.0.9</version>
        <type>pom</type>
        <scope>import</scope>
      </dependency>
    </dependencies>
  </dependencyManagement>
  <dependencies>
    <dependency>
      <groupId>org.springframework.modulith</groupId>
      <artifactId>spring-modulith-starter-jdbc</artifactId>
      <version>2.0.3</version>
    </dependency>
    <dependency>
      <groupId>org.springframework.boot</groupId>
      <artifactId>spring-boot-starter-jdbc</artifactId>
    </dependency>
    <dependency>
      <groupId>com.h2database</groupId>
      <artifactId>h2</artifactId>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log-maven" 2>&1 || { cat "$work/log-maven"; exit 1; }
javac -proc:none -cp "$work/lib/*" -d "$work/classes" "$work/Probe.java"

# Prints what happens if the given states have a staleness of one hour.
run() {
    local states=()
    for state; do
        states+=("-Dspring.modulith.events.staleness.$state=1h")
    done
    echo "staleness of one hour: $*"
    java -cp "$work/classes:$work/lib/*" "${states[@]}" -Dspring.modulith.events.staleness.check-intervall=1s \
        -Dspring.modulith.events.jdbc.schema-initialization.enabled=true \
        -Dspring.datasource.url=jdbc:h2:mem:modulith -Dspring.main.web-application-type=none \
        -Dspring.main.banner-mode=off -Dlogging.threshold.console=off -Dlogging.file.name="$work/log" \
        probe.Probe 2>"$work/errors" || { tail -n 20 "$work/errors" "$work/log"; exit 1; }
}

seen=$(
    run published
    run published processing resubmission
) || { printf '%s\n' "$seen"; exit 1; }
printf '%s\n' "$seen"
[[ $seen == "staleness of one hour: published
the listener runs several times at once
staleness of one hour: published processing resubmission
the listener runs once" ]] || {
    echo "The behavior has changed."
    exit 1
}
