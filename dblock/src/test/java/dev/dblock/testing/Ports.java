package dev.dblock.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for servers that must come back on the same one. They lie below those that
 * systems give to outgoing connections, or a client that knocks while its server is down
 * might be given the server's own port.
 */
public final class Ports {

	private static final int LOWEST = 20_000;

	private static final int BEYOND = 32_000;

	private Ports() {
	}

	/**
	 * Finds ports without a listener. Another process may take one before it is used.
	 * @param count how many
	 * @return as many different ports
	 */
	public static List<Integer> free(int count) {
		Set<Integer> ports = new LinkedHashSet<>();
		while (ports.size() < count) {
			int port = ThreadLocalRandom.current().nextInt(LOWEST, BEYOND);
			if (isFree(port)) {
				ports.add(port);
			}
		}
		return List.copyOf(ports);
	}

	private static boolean isFree(int port) {
		try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
			return socket.isBound();
		}
		catch (IOException ex) {
			return false;
		}
	}

}
