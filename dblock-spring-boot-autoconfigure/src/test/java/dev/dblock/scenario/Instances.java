package dev.dblock.scenario;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import com.mongodb.client.MongoCollection;
import dev.dblock.settings.EngineSettings;
import dev.dblock.testing.MongoServer;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.bson.Document;

import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * The instances of an application, some as bare engines and some as application contexts,
 * that share the locks in one database of a test's server.
 */
final class Instances implements AutoCloseable {

	private static final Duration CLOCK_ALLOWANCE = Duration.ofMillis(500);

	private final MongoServer server;

	private final String database;

	private final List<AutoCloseable> started = new ArrayList<>();

	Instances(MongoServer server) {
		this.server = server;
		this.database = server.freshDatabase();
	}

	static ConditionFactory eventually() {
		return Awaitility.await().atMost(Duration.ofSeconds(180)).pollInterval(Duration.ofMillis(20));
	}

	Instance start(String name) {
		return start(name, CLOCK_ALLOWANCE);
	}

	Instance start(String name, Duration clockAllowance) {
		return started(name, new Instance(name, this.server.uri(), this.database, clockAllowance));
	}

	Instance start(String name, EngineSettings.Poll poll, EngineSettings.HandOff handOff) {
		return started(name, new Instance(name, this.server.uri(), this.database, CLOCK_ALLOWANCE, poll, handOff));
	}

	private Instance started(String name, Instance instance) {
		this.started.add(0, instance);
		// Connected, the dialect found out and the index made before anything is timed
		instance.locks().acquire("first of " + name).release();
		return instance;
	}

	/**
	 * Start an application with everything that the module's auto-configuration brings.
	 * @param name its name in its locks
	 * @param configuration the application's own configuration
	 * @param properties further properties
	 */
	ConfigurableApplicationContext startApplication(String name, Class<?> configuration, String... properties) {
		Stream<String> own = Stream.of("spring.mongodb.uri=" + uri(), "dblock.acquirer=" + name);
		ConfigurableApplicationContext context = new SpringApplicationBuilder(configuration)
			.web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.registerShutdownHook(false)
			.logStartupInfo(false)
			// Tests count the commands of an application
			.properties("dblock.check-at-startup=false")
			.run(Stream.concat(own, Stream.of(properties)).map("--"::concat).toArray(String[]::new));
		this.started.add(0, context);
		return context;
	}

	/**
	 * Start an application below another one, whose beans it sees.
	 */
	ConfigurableApplicationContext startChild(ConfigurableApplicationContext parent, Class<?> configuration) {
		ConfigurableApplicationContext child = new SpringApplicationBuilder(configuration).parent(parent)
			.web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.registerShutdownHook(false)
			.logStartupInfo(false)
			.properties("dblock.check-at-startup=false")
			.run();
		this.started.add(0, child);
		return child;
	}

	String uri() {
		return this.server.uri(this.database);
	}

	MongoCollection<Document> collection(String name) {
		return this.server.client().getDatabase(this.database).getCollection(name);
	}

	MongoCollection<Document> documents() {
		return collection(Instance.COLLECTION);
	}

	Document document(String lock) {
		return documents().find(new Document("_id", lock)).first();
	}

	Instant instant(String lock, String field) {
		return document(lock).getDate(field).toInstant();
	}

	/**
	 * Return the commands that the server executes on a collection at present, including
	 * those that a fail point blocks.
	 */
	List<Document> running(String command, String collection) {
		return this.server.client()
			.getDatabase("admin")
			.aggregate(List.of(new Document("$currentOp", new Document()),
					new Document("$match",
							new Document("command." + command, collection).append("command.$db", this.database)
								.append("active", true))))
			.into(new ArrayList<>());
	}

	boolean isReleased(String lock) {
		Document document = document(lock);
		return document != null && document.get("releasedAt") != null && !document.containsKey("holder");
	}

	/**
	 * Let a lease end by the server's clock, now and unnoticed by its holder.
	 * @param lock the name of the lock
	 */
	void expire(String lock) {
		documents().updateOne(new Document("_id", lock), List
			.of(new Document("$set", new Document("expiresAt", new Document("$subtract", List.of("$$NOW", 1))))));
	}

	@Override
	public void close() throws Exception {
		for (AutoCloseable instance : this.started) {
			instance.close();
		}
	}

}
