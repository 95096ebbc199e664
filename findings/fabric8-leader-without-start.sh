#!/usr/bin/env bash
#
# Kubernetes client of fabric8 8.0.0: a leader whose `onStartLeading` fails with a conflict remains the leader, and its
# work is never started. No warning is logged.
#
# Two instances elect a leader through a Lease. At its start, the leader creates a ConfigMap that exists already, so
# that its `onStartLeading` throws a KubernetesClientException with the code 409. Seen: the instance remains the leader
# and renews its lease, `onStartLeading` is not called again, `onStopLeading` is not called, and no other instance
# becomes the leader. The elector calls `onStartLeading` within its attempt to acquire the lock, and takes the exception
# for that of a lock that another instance has got. It logs it at level DEBUG and tries again; then it holds the lock
# already. If `onStartLeading` throws another exception, `onStopLeading` is called and the lock is released, so that the
# other instance becomes the leader. But the future that `start()` returned is never completed, though the instance does
# not take part in the election any more: after the other one has stopped, no instance leads.
#
# What one would expect: any exception of `onStartLeading` ends the leadership and completes the future with that
# exception, so that the application can start a new elector.
#
# The API server is the mock server of fabric8. Needs JDK 17 or later and Maven. Fails if fabric8 behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.net.InetAddress;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.HashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseSpec;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElector;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import io.fabric8.kubernetes.client.server.mock.KubernetesCrudDispatcher;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.Context;
import io.fabric8.mockwebserver.MockWebServer;

public class Probe {

	private static final Logger electors = Logger.getLogger(LeaderElector.class.getName());

	private static KubernetesMockServer server;

	static class Messages extends Handler {

		final AtomicInteger warnings = new AtomicInteger();

		@Override
		public void publish(LogRecord record) {
			if (record.getLevel().intValue() >= Level.INFO.intValue()) {
				this.warnings.incrementAndGet();
			}
		}

		@Override
		public void flush() {
		}

		@Override
		public void close() {
		}

	}

	static class Instance {

		final AtomicInteger starts = new AtomicInteger();

		final AtomicInteger stops = new AtomicInteger();

		final KubernetesClient client = client();

		final CompletableFuture<?> election;

		volatile boolean works;

		Instance(String id, String lease, Runnable atStart) {
			this.election = this.client.leaderElector()
				.withConfig(new LeaderElectionConfigBuilder().withName(lease)
					.withLock(new LeaseLock("default", lease, id))
					.withLeaseDuration(Duration.ofSeconds(10))
					.withRenewDeadline(Duration.ofSeconds(7))
					.withRetryPeriod(Duration.ofSeconds(1))
					.withReleaseOnCancel(true)
					.withLeaderCallbacks(new LeaderCallbacks(() -> {
						this.starts.incrementAndGet();
						atStart.run();
						this.works = true;
					}, () -> {
						this.stops.incrementAndGet();
						this.works = false;
					}, leader -> {
					}))
					.build())
				.build()
				.start();
		}

	}

	private static KubernetesClient client() {
		Config config = new ConfigBuilder(Config.empty()).withMasterUrl("http://127.0.0.1:" + server.getPort())
			.withNamespace("default")
			.build();
		return new KubernetesClientBuilder().withConfig(config).build();
	}

	private static void probe(String lease, Runnable atStart) throws Exception {
		Messages messages = new Messages();
		electors.addHandler(messages);
		KubernetesClient client = client();
		Instance first = new Instance("first", lease, atStart);
		for (int i = 0; i < 400 && first.starts.get() == 0; i++) {
			TimeUnit.MILLISECONDS.sleep(50);
		}
		Instance second = new Instance("second", lease, () -> {
		});
		TimeUnit.SECONDS.sleep(14);
		System.out.printf("%s, after 14 s: the first was started %s and stopped %s times, ", lease, first.starts,
				first.stops);
		System.out.printf("its future is %s, logged: %s%n", first.election.isDone() ? "done" : "not done",
				messages.warnings);
		System.out.printf("  the lease is that of %s, the first %s, the second %s%n", holder(client, lease),
				first.works ? "works" : "does not work", second.works ? "works" : "does not work");
		second.election.cancel(true);
		TimeUnit.SECONDS.sleep(7);
		System.out.printf("  7 s after the second has stopped: the lease is that of %s, %s%n",
				holder(client, lease), first.works ? "the first works" : "no work is done");
		first.election.cancel(true);
		electors.removeHandler(messages);
	}

	private static String holder(KubernetesClient client, String lease) {
		LeaseSpec spec = client.leases().inNamespace("default").withName(lease).get().getSpec();
		boolean expired = spec.getRenewTime()
			.plusSeconds(spec.getLeaseDurationSeconds())
			.isBefore(ZonedDateTime.now());
		return expired ? "no instance" : "the " + spec.getHolderIdentity();
	}

	public static void main(String[] args) throws Exception {
		electors.setUseParentHandlers(false);
		server = new KubernetesMockServer(new Context(), new MockWebServer(), new HashMap<>(),
				new KubernetesCrudDispatcher(), false);
		server.init(InetAddress.getLoopbackAddress(), 0);
		KubernetesClient client = client();
		ConfigMap state = new ConfigMapBuilder().withNewMetadata().withName("state").endMetadata().build();
		client.configMaps().inNamespace("default").resource(state).create();
		probe("no-exception", () -> {
		});
		probe("conflict", () -> client.configMaps().inNamespace("default").resource(state).create());
		probe("other-exception", () -> {
			throw new IllegalStateException("fails");
		});
		System.exit(0);
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>fabric8-leader-without-start</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>io.fabric8</groupId>
      <artifactId>kubernetes-client</artifactId>
      <version>8.0.0</version>
    </dependency>
    <dependency>
      <groupId>io.fabric8</groupId>
      <artifactId>kubernetes-server-mock</artifactId>
      <version>8.0.0</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-jdk14</artifactId>
      <version>2.0.17</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
echo "Kubernetes client of fabric8 8.0.0"
seen=$(java -Djava.io.tmpdir="$work" -cp "$work/lib/*" "$work/Probe.java" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "no-exception, after 14 s: the first was started 1 and stopped 0 times, its future is not done, logged: 0
  the lease is that of the first, the first works, the second does not work
  7 s after the second has stopped: the lease is that of the first, the first works
conflict, after 14 s: the first was started 1 and stopped 0 times, its future is not done, logged: 0
  the lease is that of the first, the first does not work, the second does not work
  7 s after the second has stopped: the lease is that of the first, no work is done
other-exception, after 14 s: the first was started 1 and stopped 1 times, its future is not done, logged: 1
  the lease is that of the second, the first does not work, the second works
  7 s after the second has stopped: the lease is that of no instance, no work is done" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
