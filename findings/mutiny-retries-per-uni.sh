#!/usr/bin/env bash
#
# Mutiny 3.3.0: with a back-off, atMost(3) limits the retries of all subscriptions to a Uni together. A Uni that is kept
# is retried three times in its life, and then never again.
#
# A Uni that calls a server is built once, with onFailure().retry().withBackOff(10 ms).atMost(3), and subscribed to for
# each request. Seen: if the server is down, the first request makes four attempts, and all the others only one. If each
# request fails at first, and succeeds when it is repeated, the first three requests succeed, and each later one fails
# without a retry, though all before have succeeded. Without withBackOff, each request has its own three retries. With
# until(...) and a back-off, the delay of each request goes on where that of the last one has ended: the first retry of
# the fourth request comes after 8 times the initial delay. expireIn(2000) counts from when the Uni was built, not from
# the subscription: three seconds later, there is no retry.
#
# What one would expect: a Uni describes what each subscription does, as is the case without a back-off.
#
# Needs JDK 17 or later and Maven. Fails if Mutiny behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

import io.smallrye.mutiny.Uni;

public class Probe {

	private static final AtomicInteger attempts = new AtomicInteger();

	public static void main(String[] args) throws Exception {
		Duration delay = Duration.ofMillis(10);
		probe("atMost(3)", (server) -> server.onFailure().retry().atMost(3), 0);
		probe("withBackOff, atMost(3)", (server) -> server.onFailure().retry().withBackOff(delay).atMost(3), 0);
		probe("withBackOff, expireIn(2000)",
				(server) -> server.onFailure().retry().withBackOff(delay, Duration.ofMillis(200)).expireIn(2000), 0);
		probe("withBackOff, expireIn(2000), three seconds later",
				(server) -> server.onFailure().retry().withBackOff(delay, Duration.ofMillis(200)).expireIn(2000), 3000);
		delays();
		System.exit(0);
	}

	private static void probe(String name, UnaryOperator<Uni<String>> retry, long wait) throws Exception {
		Uni<String> down = retry.apply(Uni.createFrom().item(() -> {
			attempts.incrementAndGet();
			throw new IllegalStateException("down");
		}));
		Uni<String> unsteady = retry.apply(Uni.createFrom().item(() -> {
			if (attempts.incrementAndGet() == 1) {
				throw new IllegalStateException("busy");
			}
			return "succeeds";
		}));
		Thread.sleep(wait);
		List<String> whenDown = new ArrayList<>();
		List<String> whenUnsteady = new ArrayList<>();
		for (int request = 1; request <= 5; request++) {
			attempts.set(0);
			get(down);
			whenDown.add((attempts.get() > 1) ? ((attempts.get() == 4) ? "4" : "several") : "1");
		}
		for (int request = 1; request <= 5; request++) {
			attempts.set(0);
			whenUnsteady.add(get(unsteady));
		}
		if (name.contains("expireIn")) {
			System.out.printf("%s: the first request makes %s attempts%n", name, whenDown.get(0));
			return;
		}
		System.out.printf("%s: requests make %s attempts%n  if the first attempt of each fails: %s%n", name,
				String.join(", ", whenDown), String.join(", ", whenUnsteady));
	}

	private static void delays() {
		List<Long> times = new ArrayList<>();
		Uni<String> unsteady = Uni.createFrom().item(() -> {
			times.add(System.nanoTime());
			if (times.size() == 1) {
				throw new IllegalStateException("busy");
			}
			return "succeeds";
		}).onFailure().retry().withBackOff(Duration.ofMillis(100)).withJitter(0).until((ex) -> true);
		List<String> delays = new ArrayList<>();
		for (int request = 1; request <= 4; request++) {
			times.clear();
			get(unsteady);
			double factor = (times.get(1) - times.get(0)) / 1e8;
			delays.add((100 << Math.round(Math.log(factor) / Math.log(2))) + " ms");
		}
		System.out.printf("withBackOff, until: the first retry comes after %s%n", String.join(", ", delays));
	}

	private static String get(Uni<String> uni) {
		try {
			return uni.await().atMost(Duration.ofSeconds(20));
		}
		catch (IllegalStateException ex) {
			return "fails";
		}
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>mutiny-retries-per-uni</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>io.smallrye.reactive</groupId>
      <artifactId>mutiny</artifactId>
      <version>3.3.0</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
echo "Mutiny 3.3.0"
seen=$(java -cp "$work/lib/*" "$work/Probe.java" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "atMost(3): requests make 4, 4, 4, 4, 4 attempts
  if the first attempt of each fails: succeeds, succeeds, succeeds, succeeds, succeeds
withBackOff, atMost(3): requests make 4, 1, 1, 1, 1 attempts
  if the first attempt of each fails: succeeds, succeeds, succeeds, fails, fails
withBackOff, expireIn(2000): the first request makes several attempts
withBackOff, expireIn(2000), three seconds later: the first request makes 1 attempts
withBackOff, until: the first retry comes after 100 ms, 200 ms, 400 ms, 800 ms" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
