package dev.dblock.mongodb.client;

import com.mongodb.ClientSessionOptions;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import org.jspecify.annotations.Nullable;

import org.springframework.data.mongodb.MongoDatabaseFactory;

/**
 * Determines the client of a factory. Spring Data has no method for it that all of its
 * supported versions share, but a session names the client that started it. Starting one
 * sends no request.
 */
final class FactoryClient {

	private FactoryClient() {
	}

	static @Nullable MongoClient of(MongoDatabaseFactory factory) {
		try (ClientSession session = factory.getSession(ClientSessionOptions.builder().build())) {
			return (session.getOriginator() instanceof MongoClient client) ? client : null;
		}
		catch (IllegalStateException | UnsupportedOperationException ex) {
			// The client is closed, or the factory has no sessions
			return null;
		}
	}

}
