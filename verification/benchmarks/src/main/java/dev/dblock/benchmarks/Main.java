package dev.dblock.benchmarks;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.StartedServer;

/**
 * Starts the servers, runs the cases, prints the table, and stops the servers. Exits with
 * zero if every line reached its bound, and with one otherwise.
 */
final class Main {

	private Main() {
	}

	public static void main(String[] arguments) {
		Logging.configure();
		Arguments parsed;
		try {
			parsed = Arguments.parse(arguments);
		}
		catch (IllegalArgumentException ex) {
			System.err.println(ex.getMessage());
			System.exit(2);
			return;
		}
		System.exit(run(parsed, System.out, System.err) ? 0 : 1);
	}

	static boolean run(Arguments arguments, PrintStream out, PrintStream progress) {
		Optional<RedisServer> redis = RedisServer.start();
		if (redis.isEmpty()) {
			progress.println(RedisServer.MISSING);
		}
		try (StartedServer mongodb = StartedServer.start(MongoServerKind.REPLICA_SET_3)) {
			progress.println("MongoDB: " + mongodb);
			Addresses addresses = new Addresses(mongodb.server().uri(), "benchmarks",
					redis.map(RedisServer::uri).orElse(null));
			return run(arguments, addresses, out, progress);
		}
		finally {
			redis.ifPresent(RedisServer::close);
		}
	}

	static boolean run(Arguments arguments, Addresses addresses, PrintStream out, PrintStream progress) {
		try (Bench bench = new Bench(addresses, arguments.quick())) {
			Map<String, String> environment = Environment.before(addresses).describe(arguments);
			Path folder = arguments.output();
			List<Line> lines = new Suite(arguments.cases(), progress).run(bench,
					(soFar) -> new Report(environment, soFar).writeTo(folder));
			Report report = new Report(environment, lines);
			out.println();
			out.println(report.toMarkdown());
			progress.println("Written to " + folder.resolve("results.md") + " and " + folder.resolve("results.json"));
			return report.isReached();
		}
	}

}
