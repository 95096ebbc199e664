#!/usr/bin/env bash
#
# Kubernetes client of fabric8 8.0.0: a leader that cannot reach the API server stops leading long after its renew
# deadline and after its lease. Meanwhile, another instance leads as well.
#
# Two instances elect a leader through a Lease, with a lease duration of 15 s, a renew deadline of 10 s and a retry
# period of 2 s. The connection of the leader to the API server is lost, so that new connections are refused. The other
# instance still reaches it. Seen: `onStopLeading` of the leader is called after 20 s, and with `releaseOnCancel(true)`
# after 40 s, while the other one leads from the end of the lease on. The elector looks at the renew deadline between
# two requests only, and the client repeats a request that fails ten times, with growing pauses of 19 s in total. With
# `releaseOnCancel`, the elector also tries to release the lock, with as many repetitions, before it calls
# `onStopLeading`. With `requestRetryBackoffLimit` 0 in the configuration of its client, it stops before its lease ends.
#
# What one would expect: the renew deadline is shorter than the lease, so that a leader that cannot renew has stopped
# before another one can start.
#
# The API server is the mock server of fabric8. Needs JDK 17 or later and Maven. Fails if fabric8 behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import io.fabric8.kubernetes.client.server.mock.KubernetesCrudDispatcher;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.Context;
import io.fabric8.mockwebserver.MockWebServer;

public class Probe {

	private static KubernetesMockServer server;

	/** The network between an instance and the API server. */
	static class Network {

		final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());

		final List<Socket> sockets = new CopyOnWriteArrayList<>();

		Network() throws IOException {
			daemon(() -> {
				while (true) {
					Socket client = this.listener.accept();
					Socket target = new Socket(InetAddress.getLoopbackAddress(), server.getPort());
					this.sockets.add(client);
					this.sockets.add(target);
					daemon(() -> client.getInputStream().transferTo(target.getOutputStream()));
					daemon(() -> target.getInputStream().transferTo(client.getOutputStream()));
				}
			});
		}

		void cut() throws IOException {
			this.listener.close();
			for (Socket socket : this.sockets) {
				socket.close();
			}
		}

	}

	interface Task {

		void run() throws Exception;

	}

	private static void daemon(Task task) {
		Thread thread = new Thread(() -> {
			try {
				task.run();
			}
			catch (Exception ignored) {
				// The network was cut.
			}
		});
		thread.setDaemon(true);
		thread.start();
	}

	static class Instance {

		final CompletableFuture<Long> started = new CompletableFuture<>();

		final CompletableFuture<Long> stopped = new CompletableFuture<>();

		Instance(String id, String lease, int port, boolean release, Integer retries) {
			Config config = new ConfigBuilder(Config.empty()).withMasterUrl("http://127.0.0.1:" + port)
				.withNamespace("default")
				.build();
			if (retries != null) {
				config.setRequestRetryBackoffLimit(retries);
			}
			KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build();
			client.leaderElector()
				.withConfig(new LeaderElectionConfigBuilder().withName(lease)
					.withLock(new LeaseLock("default", lease, id))
					.withLeaseDuration(Duration.ofSeconds(15))
					.withRenewDeadline(Duration.ofSeconds(10))
					.withRetryPeriod(Duration.ofSeconds(2))
					.withReleaseOnCancel(release)
					.withLeaderCallbacks(new LeaderCallbacks(() -> this.started.complete(System.nanoTime()),
							() -> this.stopped.complete(System.nanoTime()), leader -> {
							}))
					.build())
				.build()
				.start();
		}

	}

	private static String probe(String name, String lease, boolean release, Integer retries) {
		try {
			Network network = new Network();
			Instance first = new Instance("first", lease, network.listener.getLocalPort(), release, retries);
			first.started.get(30, TimeUnit.SECONDS);
			Instance second = new Instance("second", lease, server.getPort(), release, null);
			Thread.sleep(4000);
			long cut = System.nanoTime();
			network.cut();
			long stopped = first.stopped.get(90, TimeUnit.SECONDS);
			long started = second.started.get(30, TimeUnit.SECONDS);
			long seconds = TimeUnit.NANOSECONDS.toSeconds(stopped - cut);
			return "%s: the first stops %s, two leaders at the same time: %s".formatted(name,
					(seconds < 14) ? "in time" : (seconds >= 18 && seconds < 26) ? "after 20 s"
							: (seconds >= 36 && seconds < 50) ? "after 40 s" : "after " + seconds + " s",
					(started < stopped) ? "yes" : "no");
		}
		catch (Exception ex) {
			return name + ": " + ex;
		}
	}

	public static void main(String[] args) throws Exception {
		server = new KubernetesMockServer(new Context(), new MockWebServer(), new HashMap<>(),
				new KubernetesCrudDispatcher(), false);
		server.init(InetAddress.getLoopbackAddress(), 0);
		List<CompletableFuture<String>> probes = new CopyOnWriteArrayList<>();
		probes.add(new CompletableFuture<>());
		probes.add(new CompletableFuture<>());
		probes.add(new CompletableFuture<>());
		daemon(() -> probes.get(0).complete(probe("no release", "kept", false, null)));
		daemon(() -> probes.get(1).complete(probe("releaseOnCancel(true)", "released", true, null)));
		daemon(() -> probes.get(2).complete(probe("requestRetryBackoffLimit 0", "no-retries", true, 0)));
		for (CompletableFuture<String> probe : probes) {
			System.out.println(probe.get());
		}
		System.exit(0);
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>fabric8-leader-stops-late</artifactId>
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
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
echo "Kubernetes client of fabric8 8.0.0"
seen=$(java -Djava.io.tmpdir="$work" -cp "$work/lib/*" "$work/Probe.java" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "no release: the first stops after 20 s, two leaders at the same time: yes
releaseOnCancel(true): the first stops after 40 s, two leaders at the same time: yes
requestRetryBackoffLimit 0: the first stops in time, two leaders at the same time: no" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
