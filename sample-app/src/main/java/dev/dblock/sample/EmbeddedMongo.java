package dev.dblock.sample;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A single MongoDB for all instances of the sample on this machine, in the memory of one
 * of them. The first instance hosts it, and each of the others keeps a connection to it.
 * If the connection ends because the host is gone, one of them hosts a new, empty server
 * on the same port.
 */
final class EmbeddedMongo implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(EmbeddedMongo.class);

	private static final String ADDRESS = "127.0.0.1";

	private static final long PAUSE_MILLIS = 200;

	/**
	 * A connection that the host accepted during its shutdown may remain open forever.
	 */
	private static final int LONGEST_READ_MILLIS = 5_000;

	private final int port;

	private final CountDownLatch closed = new CountDownLatch(1);

	private @Nullable MongoServer server;

	private @Nullable Socket connection;

	private EmbeddedMongo(int port) {
		this.port = port;
	}

	static EmbeddedMongo hostOrFind(int port) {
		EmbeddedMongo mongo = new EmbeddedMongo(port);
		if (mongo.host()) {
			logger.info("HOSTS     the embedded MongoDB on port {}, because none is configured", port);
		}
		else {
			logger.info("USES      the embedded MongoDB that another instance hosts on port {}", port);
			Thread watch = new Thread(mongo::takeOverWhenTheHostIsGone, "embedded-mongodb-watch");
			watch.setDaemon(true);
			watch.start();
		}
		return mongo;
	}

	/**
	 * Return whether this instance hosts the server.
	 */
	synchronized boolean isHost() {
		return this.server != null;
	}

	private synchronized boolean host() {
		if (this.closed.getCount() == 0) {
			return false;
		}
		MongoServer candidate = new MongoServer(new MemoryBackend());
		try {
			candidate.bind(ADDRESS, this.port);
		}
		catch (Exception ex) {
			// Netty throws the BindException of a used port without declaring it
			candidate.shutdownNow();
			return false;
		}
		this.server = candidate;
		return true;
	}

	private void takeOverWhenTheHostIsGone() {
		try {
			do {
				awaitEndOfHost();
				if (host()) {
					logger.warn("HOSTS     the embedded MongoDB on port {} now, because the instance that hosted it"
							+ " is gone; its data is lost, so all locks start over", this.port);
					return;
				}
			}
			while (!this.closed.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void awaitEndOfHost() {
		try (Socket socket = new Socket(InetAddress.getByName(ADDRESS), this.port)) {
			if (remember(socket)) {
				socket.setSoTimeout(LONGEST_READ_MILLIS);
				socket.getInputStream().read();
			}
		}
		catch (IOException ex) {
			logger.debug("The host of the embedded MongoDB may be gone", ex);
		}
	}

	private synchronized boolean remember(Socket socket) {
		this.connection = socket;
		return this.closed.getCount() > 0;
	}

	@Override
	public synchronized void close() throws IOException {
		this.closed.countDown();
		if (this.connection != null) {
			this.connection.close();
		}
		if (this.server != null) {
			this.server.shutdownNow();
			this.server = null;
		}
	}

}
