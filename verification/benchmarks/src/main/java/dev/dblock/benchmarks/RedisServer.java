package dev.dblock.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;

/**
 * Debian's {@code redis-server} on loopback, in a temporary folder, without persistence.
 */
final class RedisServer implements AutoCloseable {

	static final String MISSING = "redis-server is not on the PATH; on Debian: apt-get install redis-server";

	/**
	 * Ties the server to this JVM. A shell starts the server, reads a pipe from this JVM,
	 * and kills the server when the pipe closes, however this JVM ended.
	 */
	private static final String BOUND_TO_THIS_JVM = """
			trap '' INT TERM HUP
			"$@" </dev/null >/dev/null 2>&1 &
			read -r word
			kill -9 $!
			wait
			rm -rf "$0"
			""";

	private static final Duration START_LIMIT = Duration.ofSeconds(20);

	private static final int ATTEMPTS = 5;

	private final Process shell;

	private final int port;

	private RedisServer(Process shell, int port) {
		this.shell = shell;
		this.port = port;
	}

	/**
	 * Start a server.
	 * @return the server, or empty if there is no binary
	 */
	static Optional<RedisServer> start() {
		return binary().map(RedisServer::start);
	}

	static Optional<Path> binary() {
		return Pattern.compile(Pattern.quote(System.getProperty("path.separator")))
			.splitAsStream(Optional.ofNullable(System.getenv("PATH")).orElse(""))
			.filter((folder) -> !folder.isEmpty())
			.map((folder) -> Path.of(folder, "redis-server"))
			.filter((file) -> Files.isRegularFile(file) && Files.isExecutable(file))
			.findFirst();
	}

	private static RedisServer start(Path binary) {
		for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
			RedisServer server = launch(binary);
			if (server.awaitListening()) {
				return server;
			}
			server.close();
		}
		throw new IllegalStateException(binary + " did not start in " + ATTEMPTS + " attempts");
	}

	private static RedisServer launch(Path binary) {
		try {
			int port = freePort();
			Path folder = Files.createTempDirectory("dblock-redis-");
			List<String> command = List.of("sh", "-c", BOUND_TO_THIS_JVM, folder.toString(), binary.toString(),
					"--port", Integer.toString(port), "--bind", "127.0.0.1", "--dir", folder.toString(), "--save", "",
					"--appendonly", "no", "--daemonize", "no");
			return new RedisServer(new ProcessBuilder(command).start(), port);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("redis-server could not be started", ex);
		}
	}

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
	}

	private boolean awaitListening() {
		long end = System.nanoTime() + START_LIMIT.toNanos();
		while (System.nanoTime() < end && this.shell.isAlive()) {
			try (Socket socket = new Socket()) {
				socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), this.port), 1000);
				return true;
			}
			catch (IOException ex) {
				LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
			}
		}
		return false;
	}

	String uri() {
		return "redis://127.0.0.1:" + this.port;
	}

	@Override
	public void close() {
		try {
			this.shell.getOutputStream().close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException("the shell beside redis-server is gone", ex);
		}
		finally {
			this.shell.onExit().join();
		}
	}

}
