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
 * Ports that somebody else takes before the servers do.
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
