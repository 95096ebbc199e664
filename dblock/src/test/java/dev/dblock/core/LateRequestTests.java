package dev.dblock.core;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import com.mongodb.ConnectionString;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.dblock.LockOptions;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobRun;
import dev.dblock.mongodb.MongoLockRepository;
import dev.dblock.mongodb.MongoLockSettings;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.settings.EngineSettings;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A network that delivers a request to acquire a lock after the process has given it up,
 * and after the releases that followed it.
 */
@Timeout(300)
class LateRequestTests {

	private static final String ACQUIRE = "findAndModify";

	/** Longer than the test, so that only a release can free the lock. */
	private static final Duration LEASE = Duration.ofMinutes(10);

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1, faults = true)
	void aLateGrantDoesNotRefuseTheProcessThatHasGivenItUp(boolean ofJob, MongoServer server) throws Exception {
		String database = server.freshDatabase();
		try (SlowNetwork network = new SlowNetwork(server.uri());
				MongoClient client = MongoClients
					.create("mongodb://127.0.0.1:" + network.port() + "/?directConnection=true")) {
			MongoLockRepository repository = new MongoLockRepository(
					new SimpleMongoClientDatabaseFactory(client, database),
					new MongoLockSettings("locks", Duration.ofMillis(500), Duration.ofDays(1), Duration.ofSeconds(60),
							StatementDialect.PIPELINE, true));
			EngineSettings impatient = LockWorld.settings(LockWorld.DEFAULTS.withLease(LEASE), Duration.ofSeconds(1),
					LockWorld.POLL);
			try (DefaultLockEngine engine = new DefaultLockEngine(repository, impatient, List.of())) {
				LockOptions options = ofJob ? LockOptions.defaults().claim(JobFiring.at(Instant.now()))
						: LockOptions.defaults();
				LockOptions patiently = options.waitUpTo(Duration.ofMinutes(1));
				LockWorld.granted(engine.acquire("warm", LockOptions.defaults().waitUpTo(LEASE))).close();
				AtomicLong releases = new AtomicLong();
				long acquires = server.commandCount(ACQUIRE);
				network.hold();
				// On a machine that stalls, the time may be over before the request is
				// sent
				LockWorld.eventually().until(() -> {
					releases.set(server.commandCount("update"));
					assertThatExceptionOfType(QueryTimeoutException.class)
						.isThrownBy(() -> engine.acquire("a", options));
					return network.heldUp() > 0;
				});
				// A release of a run that does not exist is two updates
				LockWorld.eventually().until(() -> server.commandCount("update") >= releases.get() + (ofJob ? 4 : 2));
				network.deliver();
				LockWorld.eventually().until(() -> server.commandCount(ACQUIRE) >= acquires + network.heldUp());
				LockWorld.granted(engine.acquire("a", patiently)).close();
			}
			assertThat(repository.find("a").orElseThrow().held()).isFalse();
			if (ofJob) {
				assertThat(JobRecords.of(repository).find("a", "a").orElseThrow().runs()).extracting(JobRun::outcome)
					.containsExactly(JobRun.Outcome.SUCCEEDED);
			}
		}
	}

	/**
	 * Forwards what the clients send. Requests to acquire can be held up, and are then
	 * delivered even if the client has closed its connection.
	 */
	private static final class SlowNetwork implements AutoCloseable {

		private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));

		private final List<Socket> sockets = new CopyOnWriteArrayList<>();

		private final int target;

		private final AtomicInteger heldUp = new AtomicInteger();

		private volatile Gate gate = new Gate();

		SlowNetwork(String uri) throws IOException {
			String host = new ConnectionString(uri).getHosts().get(0);
			this.target = Integer.parseInt(host.substring(host.indexOf(':') + 1));
			this.gate.open();
			start(this::accept);
		}

		int port() {
			return this.listener.getLocalPort();
		}

		void hold() {
			this.heldUp.set(0);
			this.gate = new Gate();
		}

		/**
		 * How many requests to acquire have come to the network since.
		 */
		int heldUp() {
			return this.heldUp.get();
		}

		void deliver() {
			this.gate.open();
		}

		private void accept() throws IOException {
			while (true) {
				Socket client = this.listener.accept();
				Socket server = new Socket("127.0.0.1", this.target);
				this.sockets.addAll(List.of(client, server));
				start(() -> requests(client, server.getOutputStream()));
				start(() -> server.getInputStream().transferTo(client.getOutputStream()));
			}
		}

		private void requests(Socket client, OutputStream server) throws IOException {
			DataInputStream in = new DataInputStream(client.getInputStream());
			while (true) {
				byte[] length = in.readNBytes(Integer.BYTES);
				if (length.length < Integer.BYTES) {
					return;
				}
				byte[] rest = in
					.readNBytes(ByteBuffer.wrap(length).order(ByteOrder.LITTLE_ENDIAN).getInt() - Integer.BYTES);
				if (new String(rest, StandardCharsets.ISO_8859_1).contains(ACQUIRE)) {
					this.heldUp.incrementAndGet();
					this.gate.pass();
				}
				server.write(length);
				server.write(rest);
				server.flush();
			}
		}

		private static void start(Task task) {
			Thread thread = new Thread(() -> {
				try {
					task.run();
				}
				catch (IOException ex) {
					// A connection was closed
				}
			}, "network");
			thread.setDaemon(true);
			thread.start();
		}

		@Override
		public void close() {
			this.gate.open();
			try {
				this.listener.close();
				for (Socket socket : this.sockets) {
					socket.close();
				}
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

		private interface Task {

			void run() throws IOException;

		}

	}

}
