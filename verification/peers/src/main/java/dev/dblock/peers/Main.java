package dev.dblock.peers;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToLongFunction;

import dev.dblock.peers.Results.Summary;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.StartedServer;

/**
 * Starts MongoDB, runs the rounds, and prints the table. {@code verification/peers/run}
 * starts it.
 */
final class Main {

	/** Runs that are this much early or late are on time, for a clock of milliseconds. */
	private static final long ON_TIME = 20;

	private Main() {
	}

	public static void main(String[] arguments) throws Exception {
		Path faketime = Path.of("");
		Path output = Path.of("");
		String postgresql = "";
		int rounds = 1;
		List<Duration> skews = List.of(Duration.ofMillis(350), Duration.ofSeconds(3), Duration.ofSeconds(12));
		for (int i = 0; i + 1 < arguments.length; i += 2) {
			switch (arguments[i]) {
				case "--faketime" -> faketime = Path.of(arguments[i + 1]);
				case "--postgresql" -> postgresql = arguments[i + 1];
				case "--output" -> output = Path.of(arguments[i + 1]);
				case "--rounds" -> rounds = Integer.parseInt(arguments[i + 1]);
				case "--skews" -> skews = Arrays.stream(arguments[i + 1].split(","))
					.map((milliseconds) -> Duration.ofMillis(Long.parseLong(milliseconds)))
					.toList();
				default -> throw new IllegalArgumentException("Unknown option " + arguments[i]);
			}
		}
		Map<Duration, List<Results>> results = new LinkedHashMap<>();
		try (StartedServer mongodb = StartedServer.start(MongoServerKind.REPLICA_SET_1)) {
			Round round = new Round(faketime, mongodb.server().uri(), postgresql);
			for (int i = 1; i <= rounds; i++) {
				for (Duration skew : skews) {
					System.err.println(
							"peers: round " + i + " of " + rounds + ", clocks differ by " + seconds(skew.toMillis()));
					String name = "peers-" + i + "-" + skew.toMillis();
					Results result = round.run(skew, name);
					Files.write(output.resolve(name + ".tsv"), result.runs().stream().map(Run::toLine).toList());
					results.computeIfAbsent(skew, (key) -> new ArrayList<>()).add(result);
				}
			}
		}
		print(results);
		System.exit(0);
	}

	private static void print(Map<Duration, List<Results>> results) {
		StringBuilder head = new StringBuilder("| |");
		results.keySet().forEach((skew) -> head.append(" ±").append(seconds(skew.toMillis())).append(" |"));
		System.out.println(head);
		System.out.println("|---|" + "---|".repeat(results.size()));
		for (String peer : Peers.ALL) {
			StringBuilder row = new StringBuilder("| ").append(peer).append(" |");
			results.values()
				.forEach((rounds) -> row.append(' ')
					.append(cell(rounds.stream().map((round) -> round.of(peer)).toList()))
					.append(" |"));
			System.out.println(row);
		}
	}

	private static String cell(List<Summary> rounds) {
		List<String> parts = new ArrayList<>();
		parts.add(range(rounds, Summary::repeated) + " of " + rounds.get(0).planned() + " twice");
		parts.add(max(rounds, Summary::early) <= ON_TIME ? "never early"
				: "up to " + seconds(max(rounds, Summary::early)) + " early");
		if (max(rounds, Summary::missing) > 0) {
			parts.add(range(rounds, Summary::missing) + " not run");
		}
		parts.add("up to " + seconds(max(rounds, Summary::late)) + " late");
		return String.join(", ", parts);
	}

	private static long max(List<Summary> rounds, ToLongFunction<Summary> value) {
		return rounds.stream().mapToLong(value).max().orElse(0);
	}

	private static String range(List<Summary> rounds, ToLongFunction<Summary> value) {
		long least = rounds.stream().mapToLong(value).min().orElse(0);
		long most = max(rounds, value);
		return (least == most) ? Long.toString(least) : least + " to " + most;
	}

	private static String seconds(long milliseconds) {
		return String.format(Locale.ROOT, "%.2f", milliseconds / 1000.0).replaceFirst("\\.?0+$", "") + " s";
	}

}
