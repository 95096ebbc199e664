package dev.dblock.sample.live;

import java.time.Instant;
import java.util.List;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.dblock.sample.live.LiveEvent.Kind;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerTest;
import org.junit.jupiter.api.Test;

import org.springframework.data.mongodb.core.MongoTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LiveStore}.
 */
@MongoServerTest
class LiveStoreTests {

	@Test
	void eventThatWasStoredBeforeKeepsNoOtherFromBeingStored(MongoServer server) {
		String database = server.freshDatabase();
		try (MongoClient client = MongoClients.create(server.uri(database))) {
			LiveStore store = new LiveStore(new MongoTemplate(client, database));
			LiveEvent stopping = LiveEvent.of("one", Kind.STOPPING, Instant.now(), null, null, null);
			LiveEvent stopped = LiveEvent.of("one", Kind.STOPPED, Instant.now(), null, null, null);
			store.insert(List.of(stopping));
			store.insert(List.of(stopping, stopped));
			assertThat(store.storedSince(Instant.EPOCH)).extracting(LiveEvent::kind)
				.containsExactlyInAnyOrder(Kind.STOPPING, Kind.STOPPED);
		}
	}

}
