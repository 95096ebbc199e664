package dev.dblock.faults;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The command line: what to run, then options.
 */
public final class FaultTests {

	private static final long LONG_SECONDS = 1860;

	private FaultTests() {
	}

	/**
	 * Run what is asked for, and end with 0 if it passed.
	 * @param args what to run, and its options
	 * @throws Exception when it could not be run
	 */
	public static void main(String[] args) throws Exception {
		String command = (args.length > 0) ? args[0] : "";
		Options options = Options.parse(args, Math.min(1, args.length));
		if (command.equals("judge")) {
			end(new Report(new HistoryFolder(Path.of(options.text("folder", "."))).read(), System.out).print());
		}
		Path mongod = mongod();
		Path folder = Path.of(options.text("folder", "target/faults")).toAbsolutePath();
		Files.createDirectories(folder);
		folder = Files.createTempDirectory(folder, command + "-");
		System.err.println("logs and records: " + folder);
		boolean passed = switch (command) {
			case "million" -> MillionSections.run(mongod, folder, options);
			case "run" -> new FaultRun(mongod, toxiproxy(), folder, options, (int) options.number("workers", 3)).run();
			case "long" -> runLong(mongod, folder, options);
			case "apart" -> runApart(mongod, folder, options);
			case "mutants" -> new Mutants(mongod, toxiproxy(), folder, options).run();
			default -> throw new IllegalArgumentException("Nothing known to run in " + Arrays.toString(args)
					+ "; there are: million, run, long, judge, apart, mutants");
		};
		end(passed);
	}

	private static void end(boolean passed) {
		System.out.println(passed ? "PASSED" : "FAILED");
		System.exit(passed ? 0 : 1);
	}

	private static boolean runLong(Path mongod, Path folder, Options options) throws Exception {
		boolean million = MillionSections.run(mongod, folder.resolve("million"), options);
		Path records = Files.createDirectories(folder.resolve("run"));
		Options longer = options.orElse("duration", LONG_SECONDS);
		return new FaultRun(mongod, toxiproxy(), records, longer, (int) options.number("workers", 3)).run() && million;
	}

	private static boolean runApart(Path mongod, Path folder, Options options) throws Exception {
		for (Fault fault : OperatorFaults.all(FakeTime.find(folder).isPresent())) {
			if (fault.kind().contains(options.text("only", ""))) {
				Path records = Files.createDirectories(folder.resolve(fault.kind().replaceAll("[^a-z]+", "-")));
				new FaultRun(mongod, toxiproxy(), records, options, (int) options.number("workers", 3)).runApart(fault);
			}
		}
		return true;
	}

	private static Path mongod() {
		return binary("DBLOCK_TEST_MONGOD");
	}

	private static Path toxiproxy() {
		return binary("DBLOCK_TEST_TOXIPROXY");
	}

	private static Path binary(String variable) {
		String binary = System.getenv(variable);
		if (binary == null || !Files.isExecutable(Path.of(binary))) {
			throw new IllegalStateException(variable + " names no binary; scripts/faults sets it");
		}
		return Path.of(binary);
	}

}
