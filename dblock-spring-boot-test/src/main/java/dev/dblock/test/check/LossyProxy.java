package dev.dblock.test.check;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import com.mongodb.ServerAddress;

/**
 * Passes messages to one server and back, and loses some answers to writes: the server
 * has applied the request, and the client sees a broken connection.
 */
final class LossyProxy implements AutoCloseable {

	private static final int EACH = 8;

	private final ServerAddress target;

	private final ServerSocket listener;

	private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

	private final AtomicInteger writes = new AtomicInteger();

	private final AtomicInteger lost = new AtomicInteger();

	LossyProxy(ServerAddress target) throws IOException {
		this.target = target;
		this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		start(this::accept);
	}

	ServerAddress address() {
		return new ServerAddress(this.listener.getInetAddress().getHostAddress(), this.listener.getLocalPort());
	}

	int lost() {
		return this.lost.get();
	}

	private void accept() throws IOException {
		while (true) {
			Socket client = this.listener.accept();
			this.sockets.add(client);
			start(() -> connect(client));
		}
	}

	private void connect(Socket client) throws IOException {
		try (client; Socket server = new Socket(this.target.getHost(), this.target.getPort())) {
			this.sockets.add(server);
			client.setTcpNoDelay(true);
			server.setTcpNoDelay(true);
			AtomicBoolean loses = new AtomicBoolean();
			start(() -> pump(client, server, (request) -> loses.set(isLost(request))));
			pump(server, client, (answer) -> {
				if (loses.get()) {
					this.lost.incrementAndGet();
					throw new IOException("The answer is lost");
				}
			});
		}
	}

	private boolean isLost(byte[] request) {
		String text = new String(request, StandardCharsets.ISO_8859_1);
		return (text.contains("findAndModify") || text.contains("update\0"))
				&& this.writes.incrementAndGet() % EACH == 0;
	}

	/**
	 * Pass messages on until one of the connections ends; then end both.
	 */
	private void pump(Socket from, Socket to, Filter filter) throws IOException {
		try (from; to) {
			DataInputStream in = new DataInputStream(from.getInputStream());
			OutputStream out = to.getOutputStream();
			while (true) {
				int length = Integer.reverseBytes(in.readInt());
				byte[] message = new byte[length];
				ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN).putInt(length);
				in.readFully(message, Integer.BYTES, length - Integer.BYTES);
				filter.see(message);
				out.write(message);
			}
		}
		finally {
			this.sockets.remove(from);
			this.sockets.remove(to);
		}
	}

	private static void start(Task task) {
		Thread thread = new Thread(() -> {
			try {
				task.run();
			}
			catch (IOException ex) {
				// The connection has ended, which its client notices
			}
		}, "dblock-check-proxy");
		thread.setDaemon(true);
		thread.start();
	}

	@Override
	public void close() throws IOException {
		this.listener.close();
		for (Socket socket : this.sockets) {
			socket.close();
		}
	}

	@FunctionalInterface
	private interface Task {

		void run() throws IOException;

	}

	@FunctionalInterface
	private interface Filter {

		void see(byte[] message) throws IOException;

	}

}
