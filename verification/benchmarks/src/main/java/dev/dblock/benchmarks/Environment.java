package dev.dblock.benchmarks;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.security.CodeSource;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import net.javacrumbs.shedlock.provider.mongo.MongoLockProvider;
import org.bson.Document;
import org.openjdk.jmh.runner.Runner;
import org.redisson.Redisson;

/**
 * Environment of a run: machine, servers and libraries.
 *
 * @param started when the run began
 * @param load the load average of the machine before the run
 * @param mongodb the version of the server, and its number of members
 * @param redis whether there is a Redis server
 */
record Environment(ZonedDateTime started, double load, String mongodb, boolean redis) {

	static Environment before(Addresses addresses) {
		return new Environment(ZonedDateTime.now(ZoneOffset.UTC).truncatedTo(ChronoUnit.SECONDS),
				ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(), mongodb(addresses),
				addresses.redis() != null);
	}

	private static String mongodb(Addresses addresses) {
		try (MongoClient client = MongoClients.create(addresses.mongodb())) {
			String version = client.getDatabase("admin").runCommand(new Document("buildInfo", 1)).getString("version");
			List<?> hosts = client.getDatabase("admin")
				.runCommand(new Document("hello", 1))
				.getList("hosts", String.class, List.of());
			return "MongoDB %s, replica set of %d, write concern majority".formatted(version, hosts.size());
		}
	}

	Map<String, String> describe(Arguments arguments) {
		Map<String, String> text = new LinkedHashMap<>();
		text.put("command", "verification/benchmarks/run" + (arguments.quick() ? " --quick" : "") + cases(arguments));
		text.put("run", "began %s; load of the machine before it %s".formatted(this.started,
				String.format(Locale.ROOT, "%.1f", this.load)));
		text.put("machine", "%d processors, %s".formatted(Runtime.getRuntime().availableProcessors(),
				System.getProperty("os.arch")));
		text.put("JVM", System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"));
		text.put("servers", this.mongodb + (this.redis ? "; Redis without persistence" : "; no Redis"));
		text.put("libraries",
				List.of(MongoClients.class, MongoLockProvider.class, Redisson.class, Runner.class)
					.stream()
					.map(Environment::jar)
					.collect(Collectors.joining(", ")));
		return text;
	}

	private static String cases(Arguments arguments) {
		return (arguments.cases().size() == Suite.ALL.size()) ? ""
				: arguments.cases().stream().map(BenchmarkCase::id).collect(Collectors.joining(",", " --cases ", ""));
	}

	/**
	 * The name of the file that a class was loaded from contains the version in use.
	 */
	private static String jar(Class<?> type) {
		CodeSource source = type.getProtectionDomain().getCodeSource();
		return Path.of(source.getLocation().getPath()).getFileName().toString().replaceFirst("\\.jar$", "");
	}

}
