package dev.dblock.recipes;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import com.mongodb.client.MongoCollection;
import dev.dblock.testing.MongoServer;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.bson.Document;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Instances of an application on one database.
 */
final class Instances implements AutoCloseable {

	private final List<ConfigurableApplicationContext> started = new ArrayList<>();

	private final MongoServer server;

	private final String database;

	Instances(MongoServer server) {
		this.server = server;
		this.database = server.freshDatabase();
	}

	static ConditionFactory eventually() {
		return Awaitility.await().atMost(Duration.ofSeconds(120)).pollInterval(Duration.ofMillis(20));
	}

	/**
	 * Start an instance.
	 * @param name its name in its locks
	 * @param application the configuration of the application
	 * @param properties further properties
	 */
	ConfigurableApplicationContext start(String name, Class<?> application, String... properties) {
		Stream<String> own = Stream.of("spring.mongodb.uri=" + this.server.uri(this.database),
				"dblock.acquirer=" + name, "dblock.check-at-startup=false");
		ConfigurableApplicationContext context = new SpringApplicationBuilder(application).web(WebApplicationType.NONE)
			.registerShutdownHook(false)
			.run(Stream.concat(own, Stream.of(properties)).map("--"::concat).toArray(String[]::new));
		synchronized (this.started) {
			this.started.add(context);
		}
		return context;
	}

	CompletableFuture<ConfigurableApplicationContext> startInBackground(String name, Class<?> application,
			String... properties) {
		return CompletableFuture.supplyAsync(() -> start(name, application, properties));
	}

	MongoCollection<Document> collection(String name) {
		return this.server.client().getDatabase(this.database).getCollection(name);
	}

	/**
	 * End a lease by the server's clock, as if its holder had crashed.
	 * @param lock the name of the lock
	 */
	void expire(String lock) {
		collection("dblock_locks").updateOne(new Document("_id", lock), List
			.of(new Document("$set", new Document("expiresAt", new Document("$subtract", List.of("$$NOW", 1))))));
	}

	@Override
	public void close() {
		this.started.forEach(ConfigurableApplicationContext::close);
	}

}
