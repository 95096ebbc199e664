package dev.dblock.faults;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The command line: what to run, then options.
 */
public final class FaultTests {

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
		Path mongod = mongod();
		Path folder = Path.of(options.text("folder", "target/faults")).toAbsolutePath();
		Files.createDirectories(folder);
		folder = Files.createTempDirectory(folder, command + "-");
		System.err.println("logs and records: " + folder);
		boolean passed = switch (command) {
			case "million" -> MillionSections.run(mongod, folder, options);
			default -> throw new IllegalArgumentException(
					"Nothing known to run in " + Arrays.toString(args) + "; there is: million");
		};
		System.out.println(passed ? "PASSED" : "FAILED");
		System.exit(passed ? 0 : 1);
	}

	private static Path mongod() {
		String binary = System.getenv("DBLOCK_TEST_MONGOD");
		if (binary == null || !Files.isExecutable(Path.of(binary))) {
			throw new IllegalStateException("DBLOCK_TEST_MONGOD names no mongod binary; scripts/faults sets it");
		}
		return Path.of(binary);
	}

}
