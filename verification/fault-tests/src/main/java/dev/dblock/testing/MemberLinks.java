package dev.dblock.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

import org.jspecify.annotations.NullMarked;

/**
 * Network between the members of a replica set, which can delay what one member sends to
 * another. Nothing is lost, as if packets were retransmitted until they get through.
 * Toxiproxy cannot be used here, because it does not know which member connects. This
 * class finds the owner of a socket through Linux.
 */
@NullMarked
final class MemberLinks implements AutoCloseable {

	private static final int NO_MEMBER = -1;

	private final List<MongodProcess> members;

	private final List<Integer> ports;

	private final List<ServerSocket> listeners = new ArrayList<>();

	private final boolean[][] stalled;

	private volatile boolean closed;

	MemberLinks(List<MongodProcess> members, List<Integer> ports) {
		this.members = members;
		this.ports = ports;
		this.stalled = new boolean[members.size()][members.size()];
	}

	void open() {
		for (int member = 0; member < this.members.size(); member++) {
			listen(member, this.ports.get(member));
		}
	}

	private void listen(int member, int port) {
		try {
			ServerSocket listener = new ServerSocket();
			listener.bind(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), port));
			this.listeners.add(listener);
			start("accept-" + member, () -> accept(listener, member));
		}
		catch (BindException ex) {
			throw new MongodProcess.PortTakenException(port);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static void start(String name, Runnable work) {
		Thread thread = new Thread(work, "link-" + name);
		thread.setDaemon(true);
		thread.start();
	}

	private void accept(ServerSocket listener, int to) {
		while (!this.closed) {
			try {
				Socket client = listener.accept();
				start("connect-" + to, () -> connect(client, to, listener.getLocalPort()));
			}
			catch (IOException ex) {
				// The listener is closed, or the connection is already gone
				Thread.onSpinWait();
			}
		}
	}

	private void connect(Socket client, int to, int announced) {
		Socket server = new Socket();
		try {
			int from = owner(client.getPort(), announced);
			client.setTcpNoDelay(true);
			server.setTcpNoDelay(true);
			awaitFlow(from, to);
			server.connect(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), this.members.get(to).port()));
			start(from + "-" + to, () -> pump(client, server, from, to));
			start(to + "-" + from, () -> pump(server, client, to, from));
		}
		catch (IOException ex) {
			close(client);
			close(server);
		}
	}

	private void pump(Socket source, Socket target, int from, int to) {
		byte[] buffer = new byte[16 * 1024];
		try (InputStream in = source.getInputStream(); OutputStream out = target.getOutputStream()) {
			for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
				awaitFlow(from, to);
				out.write(buffer, 0, count);
			}
		}
		catch (IOException ex) {
			// One side has closed the connection; the other side is closed below
			Thread.onSpinWait();
		}
		finally {
			close(source);
			close(target);
		}
	}

	private static void close(Socket socket) {
		try {
			socket.close();
		}
		catch (IOException ex) {
			// Already closed
			Thread.onSpinWait();
		}
	}

	private synchronized void awaitFlow(int from, int to) {
		while (from != NO_MEMBER && to != NO_MEMBER && this.stalled[from][to] && !this.closed) {
			try {
				wait();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				return;
			}
		}
	}

	synchronized void stall(int from, int to) {
		this.stalled[from][to] = true;
	}

	synchronized void heal() {
		for (boolean[] from : this.stalled) {
			Arrays.fill(from, false);
		}
		notifyAll();
	}

	/**
	 * Return the member at the other end of a connection.
	 */
	private int owner(int port, int announced) throws IOException {
		String link = "socket:[" + inode(port, announced) + "]";
		for (int member = 0; member < this.members.size(); member++) {
			if (this.members.get(member).isAlive() && hasOpen(this.members.get(member).pid(), link)) {
				return member;
			}
		}
		return NO_MEMBER;
	}

	private static String inode(int port, int announced) throws IOException {
		String local = String.format(Locale.ROOT, "0100007F:%04X", port);
		String remote = String.format(Locale.ROOT, "0100007F:%04X", announced);
		try (Stream<String> lines = Files.lines(Path.of("/proc/net/tcp"))) {
			return lines.map((line) -> line.trim().split("\\s+"))
				.filter((fields) -> fields[1].equals(local) && fields[2].equals(remote))
				.map((fields) -> fields[9])
				.findFirst()
				.orElse("none");
		}
	}

	private static boolean hasOpen(long pid, String link) {
		try (Stream<Path> files = Files.list(Path.of("/proc", Long.toString(pid), "fd"))) {
			return files.anyMatch((file) -> leadsTo(file, link));
		}
		catch (IOException ex) {
			return false;
		}
	}

	private static boolean leadsTo(Path file, String link) {
		try {
			return Files.readSymbolicLink(file).toString().equals(link);
		}
		catch (IOException ex) {
			return false;
		}
	}

	@Override
	public void close() {
		this.closed = true;
		heal();
		for (ServerSocket listener : this.listeners) {
			try {
				listener.close();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
	}

}
