package dev.dblock.mongodb;

import java.time.Duration;

import dev.dblock.store.ReleaseFeed;
import org.junit.jupiter.api.Test;

import static org.mockito.ArgumentMatchers.contains;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.verifyNoMoreInteractions;

class ChangeStreamFeedTests {

	@Test
	void noChangeStreamIsOpenedInAShardedCluster() {
		ChangeStreamFeed feed = new ChangeStreamFeed(() -> {
			throw new AssertionError("a request was sent");
		}, () -> true);
		ReleaseFeed.Listener listener = mock(ReleaseFeed.Listener.class);
		feed.open(listener);
		verify(listener).unsupported(contains("in a sharded cluster"));
		feed.close(Duration.ofSeconds(60));
		verifyNoMoreInteractions(listener);
	}

}
