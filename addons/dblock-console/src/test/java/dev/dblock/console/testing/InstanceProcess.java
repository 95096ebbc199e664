package dev.dblock.console.testing;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import dev.dblock.testing.Ports;

/**
 * An instance of an application in a process of its own, which can be stopped and killed.
 */
public final class InstanceProcess implements AutoCloseable {

	private final int port;

	private final Process process;

	private InstanceProcess(int port, Process process) {
		this.port = port;
		this.process = process;
	}

	public static InstanceProcess start(Class<?> application, String name, String... arguments) throws IOException {
		int port = Ports.free(1).get(0);
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx192m",
						"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
						application.getName(), "--server.port=" + port, "--dblock.acquirer=" + name));
		command.addAll(List.of(arguments));
		return new InstanceProcess(port, new ProcessBuilder(command).inheritIO().start());
	}

	public String url() {
		return "http://127.0.0.1:" + this.port + "/";
	}

	public Process process() {
		return this.process;
	}

	@Override
	public void close() throws Exception {
		// Not asked first: one that is paused would not hear it
		this.process.destroyForcibly();
		this.process.waitFor(60, TimeUnit.SECONDS);
	}

}
