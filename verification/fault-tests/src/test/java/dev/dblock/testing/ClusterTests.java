package dev.dblock.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Servers that start: on ports that others take, and in place of older ones.
 */
class ClusterTests {

	/** As a server ends whose port is taken. */
	private static final String PORT_TAKEN = """
			#!/bin/sh
			echo "$@" >>"$0.calls"
			exit 48
			""";

	@TempDir
	private Path folder;

	@Test
	void otherPortsAreTriedWhenOneIsTaken() throws IOException {
		Path binary = Files.writeString(this.folder.resolve("mongod"), PORT_TAKEN);
		assertThat(binary.toFile().setExecutable(true)).isTrue();
		assertThatExceptionOfType(MongodProcess.PortTakenException.class).isThrownBy(() -> Cluster.start(binary));
		assertThat(Files.readAllLines(this.folder.resolve("mongod.calls"))).doesNotHaveDuplicates()
			.hasSizeGreaterThanOrEqualTo(5);
	}

	@Test
	void anotherVersionIsStartedWithTheSameArgumentsOnceTheServerHasShutDown() throws IOException {
		Path older = server("older");
		MongodProcess process = new MongodProcess(older, this.folder, 1, List.of("--replSet", "set"));
		process.start();
		process.awaitListening();
		long pid = process.pid();
		Path newer = server("newer");
		process.replace(newer);
		try {
			assertThat(process.pid()).isNotEqualTo(pid);
			List<String> calls = Files.readAllLines(Path.of(older + ".calls"));
			assertThat(calls).hasSize(2).last().isEqualTo("shut down");
			assertThat(Files.readAllLines(Path.of(newer + ".calls"))).containsExactly(calls.get(0));
			assertThat(this.folder).isNotEmptyDirectory();
		}
		finally {
			process.kill();
		}
	}

	/**
	 * A server that ends orderly when it is asked to.
	 */
	private Path server(String name) throws IOException {
		Path binary = Files.writeString(this.folder.resolve(name), """
				#!/bin/sh
				echo "$@" >>"$0.calls"
				trap 'echo "shut down" >>"$0.calls"; exit 0' TERM
				echo "Waiting for connections"
				while :; do sleep 0.05; done
				""");
		assertThat(binary.toFile().setExecutable(true)).isTrue();
		return binary;
	}

	@Test
	void whoeverAnswersOnATakenPortIsNotTakenForTheServer() throws IOException {
		Path binary = Files.writeString(this.folder.resolve("mongod"), """
				#!/bin/sh
				sleep 1
				exit 48
				""");
		assertThat(binary.toFile().setExecutable(true)).isTrue();
		try (ServerSocket other = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"))) {
			MongodProcess late = new MongodProcess(binary, this.folder, other.getLocalPort(), List.of());
			late.start();
			assertThatExceptionOfType(MongodProcess.PortTakenException.class).isThrownBy(late::awaitListening);
		}
	}

	@Test
	void portOfALinkThatIsTakenIsTold() throws IOException {
		try (Socket other = new Socket()) {
			other.bind(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0));
			MongodProcess member = new MongodProcess(Path.of("mongod"), this.folder, 1, List.of());
			try (MemberLinks links = new MemberLinks(List.of(member), List.of(other.getLocalPort()))) {
				assertThatExceptionOfType(MongodProcess.PortTakenException.class).isThrownBy(links::open)
					.withMessageContaining(Integer.toString(other.getLocalPort()));
			}
		}
	}

}
