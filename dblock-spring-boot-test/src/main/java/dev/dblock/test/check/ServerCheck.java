package dev.dblock.test.check;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import com.mongodb.MongoException;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.mongodb.MongoLockRepository;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.test.check.Contender.Place;
import dev.dblock.test.check.ServerReport.Result;
import dev.dblock.test.check.ServerReport.Row;
import dev.dblock.test.check.ServerReport.Verdict;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;

import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.dao.PermissionDeniedDataAccessException;
import org.springframework.util.FileSystemUtils;

/**
 * Checks whether locks exclude each other on a server, for about a minute, from two
 * processes of this machine. For a team's own CI:
 *
 * <pre class="code">
 * &#064;Test
 * void locksExcludeEachOther() {
 *     ServerCheck.of(System.getenv("MONGODB_URI")).run().assertExcludes();
 * }
 * </pre>
 *
 * The check has a collection of its own, {@code dblock_check} by default, and
 * {@code dblock_check.fences} beside it. It needs the privileges of dblock for both, and
 * {@code remove} and {@code dropCollection} to remove them again. No check proves that a
 * server always excludes: this one causes no election, and restarts no server.
 */
public final class ServerCheck {

	private static final String NAMES = "dblock-check/";

	private static final int MOST_DOCUMENTS = 10_000;

	private final String uri;

	private final String collection;

	private final Consumer<Row> report;

	private final UnaryOperator<MongoDatabase> change;

	private final Duration contention;

	private ServerCheck(String uri, String collection, Consumer<Row> report, UnaryOperator<MongoDatabase> change,
			Duration contention) {
		this.uri = uri;
		this.collection = collection;
		this.report = report;
		this.change = change;
		this.contention = contention;
	}

	/**
	 * Create a check.
	 * @param uri the connection string of the server, with the database; {@code test} if
	 * it names none
	 * @return the check
	 */
	public static ServerCheck of(String uri) {
		return new ServerCheck(uri, "dblock_check", (row) -> {
		}, CheckedServer::unnamed, Duration.ofSeconds(10));
	}

	/**
	 * Set the collection.
	 * @param collection its name; it must not exist, or be empty
	 * @return a copy with it
	 */
	public ServerCheck collection(String collection) {
		return new ServerCheck(this.uri, collection, this.report, this.change, this.contention);
	}

	/**
	 * Set a consumer of results.
	 * @param report receives each result as soon as it is known
	 * @return a copy with it
	 */
	public ServerCheck report(Consumer<Row> report) {
		return new ServerCheck(this.uri, this.collection, report, this.change, this.contention);
	}

	/**
	 * Disturb the requests of this process, but not those of the second one, and contend
	 * for another time.
	 */
	ServerCheck disturbed(UnaryOperator<MongoDatabase> change, Duration contention) {
		return new ServerCheck(this.uri, this.collection, this.report, change, contention);
	}

	/**
	 * Run the check, and remove what it has written.
	 * @return the report
	 * @throws IllegalArgumentException if the connection string or the name of the
	 * collection is invalid
	 * @throws IllegalStateException if nothing can be checked, with what to do: the
	 * server does not answer, refuses the user, or the collection is in use
	 */
	public ServerReport run() {
		try (CheckedServer server = CheckedServer.connect(this.uri)) {
			refuseUsedCollection(server);
			Path folder = Files.createTempDirectory("dblock-check");
			try {
				return new Run(server, folder).run();
			}
			finally {
				FileSystemUtils.deleteRecursively(folder);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Real locks must not meet a check. Documents of a check that was interrupted are
	 * left to the TTL index.
	 */
	private void refuseUsedCollection(CheckedServer server) {
		try {
			for (BsonDocument found : server.database()
				.getCollection(this.collection, BsonDocument.class)
				.find()
				.projection(new BsonDocument("_id", new BsonInt32(1)))
				.limit(MOST_DOCUMENTS)) {
				if (!(found.get("_id") instanceof BsonString id && id.getValue().startsWith(NAMES))) {
					throw new IllegalStateException(("The collection '%s' has documents that no check has written. Name"
							+ " another one (--collection)")
						.formatted(this.collection));
				}
			}
		}
		catch (MongoException ex) {
			throw new IllegalStateException(
					("The collection '%s' cannot be read. Give the user the role of docs/security.md for the collections"
							+ " '%s' and '%s.fences'")
						.formatted(this.collection, this.collection, this.collection),
					ex);
		}
	}

	/**
	 * One run of the check.
	 */
	private final class Run {

		private final CheckedServer server;

		private final Path folder;

		private final List<Row> rows = new ArrayList<>();

		private final List<String> settings = new ArrayList<>();

		private Run(CheckedServer server, Path folder) {
			this.server = server;
			this.folder = folder;
		}

		ServerReport run() throws IOException {
			Verdict verdict = Verdict.NOT_CHECKED;
			String description = this.server.describe();
			List<String> prefixes = new ArrayList<>();
			try {
				for (StatementDialect dialect : List.of(StatementDialect.AUTO, StatementDialect.CLASSIC)) {
					Place place = newPlace(dialect);
					prefixes.add(place.prefix());
					List<Row> results = new ArrayList<>();
					boolean pipeline = exclusion(place, results);
					verdict = verdict(results, dialect == StatementDialect.CLASSIC || !pipeline);
					if (verdict != Verdict.DOES_NOT_EXCLUDE || !pipeline) {
						break;
					}
				}
				features(prefixes.get(0));
			}
			finally {
				prefixes.forEach(this::remove);
			}
			if (verdict == Verdict.EXCLUDES_WITH_CLASSIC_DIALECT) {
				this.settings.add("dblock.mongodb.statements=classic");
			}
			if (verdict == Verdict.DOES_NOT_EXCLUDE) {
				this.settings.clear();
				this.settings.add("no setting helps: keep the locks on another server");
			}
			return new ServerReport(description, verdict, List.copyOf(this.rows), List.copyOf(this.settings));
		}

		private Place newPlace(StatementDialect dialect) throws IOException {
			String run = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt());
			return new Place(ServerCheck.this.collection, NAMES + run + "/", dialect,
					Files.createDirectory(this.folder.resolve(run)));
		}

		/**
		 * Check exclusion in one dialect.
		 * @return whether the requests had pipelines
		 */
		private boolean exclusion(Place place, List<Row> results) throws IOException {
			Optional<Row> refusal = accepted(place);
			if (refusal.filter((row) -> row.result() == Result.SKIPPED).isPresent()) {
				// A busy machine may load classes for longer than a request may take.
				refusal = accepted(place);
			}
			refusal.ifPresent((row) -> add(results, row));
			try (ExclusionChecks checks = new ExclusionChecks(this.server, ServerCheck.this.uri, place,
					ServerCheck.this.change, ServerCheck.this.contention)) {
				for (var check : checks.all().entrySet()) {
					add(results, attempt(check.getKey(), check.getValue()));
				}
				return checks.pipeline();
			}
			catch (RuntimeException ex) {
				add(results, new Row("second process", Result.FAILED, message(ex)));
				return false;
			}
		}

		/**
		 * Let dblock check the server as it does at the start of an application.
		 * @return the result, unless the server is accepted
		 */
		private Optional<Row> accepted(Place place) {
			MongoLockRepository repository = new MongoLockRepository(this.server.factory((database) -> database),
					place.settings());
			try (DefaultLockEngine engine = Contender.engine(repository, place, Contender.eager(), 0)) {
				engine.check();
				return Optional.empty();
			}
			catch (InvalidDataAccessResourceUsageException ex) {
				return Optional.of(new Row("accepted by dblock", Result.NO, message(ex)));
			}
			catch (PermissionDeniedDataAccessException ex) {
				throw new IllegalStateException(message(ex), ex);
			}
			catch (RuntimeException ex) {
				return Optional.of(new Row("check at start-up", Result.SKIPPED, message(ex)));
			}
		}

		private void features(String prefix) {
			FeatureChecks features = new FeatureChecks(this.server,
					new Place(ServerCheck.this.collection, prefix, StatementDialect.AUTO, this.folder),
					ServerCheck.this.change, this.settings);
			features.all().forEach((name, check) -> add(new ArrayList<>(), attempt(name, check)));
		}

		private Row attempt(String name, Supplier<Row> check) {
			try {
				return check.get();
			}
			catch (RuntimeException ex) {
				return new Row(name, Result.FAILED, message(ex));
			}
		}

		private void add(List<Row> results, Row row) {
			Row shown = new Row(row.check(), row.result(), this.server.withoutNames(row.seen()));
			results.add(shown);
			this.rows.add(shown);
			ServerCheck.this.report.accept(shown);
		}

		private String message(RuntimeException failure) {
			return this.server.withoutNames(CheckedServer.reason(failure)).replaceAll("\\s+", " ");
		}

		/**
		 * Remove the documents with a prefix, and collections that are empty then.
		 */
		private void remove(String prefix) {
			List<String> left = new ArrayList<>();
			remove(ServerCheck.this.collection, "_id", prefix, left);
			remove(ServerCheck.this.collection + ".fences", "_id.name", prefix, left);
			if (!left.isEmpty()) {
				add(new ArrayList<>(), new Row("clean-up", Result.NO, "left behind: " + String.join(", ", left)));
			}
		}

		private void remove(String name, String field, String prefix, List<String> left) {
			MongoCollection<BsonDocument> documents = this.server.database().getCollection(name, BsonDocument.class);
			try {
				documents.deleteMany(Filters.regex(field, "^" + prefix));
				if (documents.find().first() == null) {
					documents.drop();
				}
			}
			catch (MongoException ex) {
				boolean empty = documents.find().first() == null;
				left.add((empty ? "the empty collection " : "documents, which a TTL index removes, in ") + name);
			}
		}

	}

	/**
	 * Decide what single results mean together.
	 */
	static Verdict verdict(List<Row> results, boolean classic) {
		Function<Result, Boolean> any = (result) -> results.stream().anyMatch((row) -> row.result() == result);
		if (any.apply(Result.NO)) {
			return Verdict.DOES_NOT_EXCLUDE;
		}
		if (any.apply(Result.FAILED) || !any.apply(Result.YES)) {
			return Verdict.NOT_CHECKED;
		}
		return classic ? Verdict.EXCLUDES_WITH_CLASSIC_DIALECT : Verdict.EXCLUDES;
	}

}
