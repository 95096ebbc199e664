package dev.dblock.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import dev.dblock.testing.Cluster;
import dev.dblock.testing.Ports;
import eu.rekawek.toxiproxy.Proxy;
import eu.rekawek.toxiproxy.ToxiproxyClient;
import eu.rekawek.toxiproxy.model.Toxic;
import eu.rekawek.toxiproxy.model.ToxicDirection;
import eu.rekawek.toxiproxy.model.ToxicList;
import org.awaitility.Awaitility;

/**
 * Network between the workers and the servers, with a Toxiproxy between each worker and
 * each member. A worker resolves the address of the members to an address of its own,
 * where its proxies listen on the members' ports.
 */
final class Network implements AutoCloseable {

	private static final String WORKER = "worker-";

	private static final String MEMBER = "member-";

	private final Child server;

	private final List<Link> links;

	private Network(Child server, List<Link> links) {
		this.server = server;
		this.links = links;
	}

	static Network start(Path binary, Path folder, Cluster cluster, int workers) throws IOException {
		int port = Ports.free(1).get(0);
		Child server = Child.start("toxiproxy", folder, Map.of(),
				List.of(binary.toString(), "-host", "127.0.0.1", "-port", Integer.toString(port)));
		ToxiproxyClient client = new ToxiproxyClient("127.0.0.1", port);
		Awaitility.await("Toxiproxy listens")
			.atMost(Duration.ofSeconds(120))
			.ignoreExceptions()
			.until(() -> !client.version().isEmpty());
		List<Link> links = new ArrayList<>();
		for (int worker = 1; worker <= workers; worker++) {
			for (int member = 0; member < cluster.size(); member++) {
				links.add(new Link(worker, member,
						client.createProxy(worker + "-" + member,
								Fleet.route(worker) + ":" + cluster.announcedPort(member),
								"127.0.0.1:" + cluster.port(member))));
			}
		}
		return new Network(server, links);
	}

	/**
	 * Disturb all links of a worker.
	 */
	void disturbWorker(int worker, Disturbance disturbance) {
		disturb(this.links.stream().filter((link) -> link.worker == worker).toList(), WORKER, disturbance);
	}

	/**
	 * Disturb the links of all workers to a member.
	 */
	void disturbMember(int member, Disturbance disturbance) {
		disturb(this.links.stream().filter((link) -> link.member == member).toList(), MEMBER, disturbance);
	}

	private static void disturb(List<Link> links, String what, Disturbance disturbance) {
		try {
			for (Link link : links) {
				disturbance.apply(link.proxy.toxics(), what);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	void healWorker(int worker) {
		heal(this.links.stream().filter((link) -> link.worker == worker).toList(), WORKER);
	}

	void healMember(int member) {
		heal(this.links.stream().filter((link) -> link.member == member).toList(), MEMBER);
	}

	private static void heal(List<Link> links, String what) {
		try {
			for (Link link : links) {
				for (Toxic toxic : link.proxy.toxics().getAll()) {
					if (toxic.getName().startsWith(what)) {
						toxic.remove();
					}
				}
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() {
		this.server.kill();
	}

	/**
	 * Disturbance of a link by Toxiproxy.
	 */
	interface Disturbance {

		/**
		 * Disturb a link.
		 * @param toxics the toxics of the link
		 * @param what the prefix of the toxics' names. It distinguishes a disturbed
		 * worker from a disturbed member, which may be disturbed at the same time and
		 * have one link in common
		 */
		void apply(ToxicList toxics, String what) throws IOException;

		static Disturbance latency(long millis, long jitter) {
			return (toxics, what) -> {
				toxics.latency(what + "latency-up", ToxicDirection.UPSTREAM, millis / 2).setJitter(jitter / 2);
				toxics.latency(what + "latency-down", ToxicDirection.DOWNSTREAM, millis / 2).setJitter(jitter / 2);
			};
		}

		/**
		 * Delay requests, but not their answers.
		 */
		static Disturbance late(Duration delay) {
			return (toxics, what) -> toxics.latency(what + "late", ToxicDirection.UPSTREAM, delay.toMillis());
		}

		/**
		 * Delay answers, but not the requests.
		 */
		static Disturbance lateAnswers(Duration delay) {
			return (toxics, what) -> toxics.latency(what + "late", ToxicDirection.DOWNSTREAM, delay.toMillis());
		}

		static Disturbance bandwidth(long kilobytes) {
			return (toxics, what) -> {
				toxics.bandwidth(what + "bandwidth-up", ToxicDirection.UPSTREAM, kilobytes);
				toxics.bandwidth(what + "bandwidth-down", ToxicDirection.DOWNSTREAM, kilobytes);
			};
		}

		static Disturbance reset(long afterMillis) {
			return (toxics, what) -> toxics.resetPeer(what + "reset", ToxicDirection.DOWNSTREAM, afterMillis);
		}

		/**
		 * Drop requests.
		 */
		static Disturbance swallowRequests() {
			return (toxics, what) -> toxics.timeout(what + "swallow-up", ToxicDirection.UPSTREAM, 0);
		}

		/**
		 * Let requests through, and drop their answers.
		 */
		static Disturbance swallowAnswers() {
			return (toxics, what) -> toxics.timeout(what + "swallow-down", ToxicDirection.DOWNSTREAM, 0);
		}

	}

	private record Link(int worker, int member, Proxy proxy) {
	}

}
