package dev.dblock.sample;

import java.io.IOException;
import java.time.Duration;
import java.util.stream.Stream;

import dev.dblock.testing.Ports;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link EmbeddedMongo}.
 */
class EmbeddedMongoTests {

	private final int port = Ports.free(1).get(0);

	@Test
	void firstOneHosts() throws IOException {
		try (EmbeddedMongo first = start(); EmbeddedMongo second = start()) {
			assertThat(first.isHost()).isTrue();
			assertThat(second.isHost()).isFalse();
		}
	}

	@Test
	void whenTheHostIsGoneOneOfTheOthersHosts() throws IOException {
		EmbeddedMongo first = start();
		try (EmbeddedMongo second = start(); EmbeddedMongo third = start()) {
			first.close();
			eventually()
				.untilAsserted(() -> assertThat(Stream.of(second, third).filter(EmbeddedMongo::isHost)).hasSize(1));
			// As a list, since the next one may host before the stream looks at it
			Stream.of(second, third).filter(EmbeddedMongo::isHost).toList().forEach(EmbeddedMongoTests::close);
			eventually()
				.untilAsserted(() -> assertThat(Stream.of(second, third).filter(EmbeddedMongo::isHost)).hasSize(1));
		}
	}

	@Test
	void oneThatIsClosedNeverHosts() throws IOException {
		EmbeddedMongo first = start();
		EmbeddedMongo second = start();
		second.close();
		eventually().until(() -> Thread.getAllStackTraces()
			.keySet()
			.stream()
			.noneMatch((thread) -> thread.getName().equals("embedded-mongodb-watch")));
		first.close();
		assertThat(second.isHost()).isFalse();
	}

	private static ConditionFactory eventually() {
		return Awaitility.await().atMost(Duration.ofSeconds(60));
	}

	private EmbeddedMongo start() {
		return EmbeddedMongo.hostOrFind(this.port);
	}

	private static void close(EmbeddedMongo mongo) {
		try {
			mongo.close();
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
