package dev.dblock.faults;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Command line of the fault tests: a command followed by its options.
 */
public final class FaultTests {

	private static final long LONG_SECONDS = 1860;

	private FaultTests() {
	}

	/**
	 * Run a command, and exit with 0 if it passed.
	 * @param args the command and its options
	 * @throws Exception if the command could not be run
	 */
	public static void main(String[] args) throws Exception {
		if (List.of(args).contains("--help")) {
			System.out.println(Command.usage());
			return;
		}
		Command command;
		Options options;
		try {
			command = Command.of(args);
			options = command.options(args);
			if (command == Command.JUDGE) {
				records(options).requireThere();
			}
		}
		catch (IllegalArgumentException ex) {
			System.err.println(ex.getMessage());
			System.err.println(Command.usage());
			System.exit(2);
			return;
		}
		end(run(command, options));
	}

	private static boolean run(Command command, Options options) throws Exception {
		return switch (command) {
			case RUN -> faultRun(folder(command, options), options).run();
			case LONG -> runLong(folder(command, options), options);
			case JUDGE -> new Report(records(options).read(), System.out).print();
			case APART -> runApart(folder(command, options), options);
			case MUTANTS -> new Mutants(mongod(), toxiproxy(), folder(command, options), options).run();
			case MILLION -> MillionSections.run(mongod(), folder(command, options), options);
			case SHEDLOCK -> ShedLockSections.run(mongod(), folder(command, options), options);
			case JOBS -> new JobFaults(mongod(), toxiproxy(), folder(command, options), options).run();
			case UPGRADE -> new Upgrade(mongods(), toxiproxy(), folder(command, options), options).run();
		};
	}

	private static HistoryFolder records(Options options) {
		return new HistoryFolder(Path.of(options.text("folder", ".")));
	}

	private static Path folder(Command command, Options options) throws IOException {
		Path parent = Files.createDirectories(Path.of(options.text("folder", "target/faults")).toAbsolutePath());
		Path folder = Files.createTempDirectory(parent, command + "-");
		System.err.println("logs and records: " + folder);
		return folder;
	}

	private static void end(boolean passed) {
		System.out.println(passed ? "PASSED" : "FAILED");
		System.exit(passed ? 0 : 1);
	}

	private static boolean runLong(Path folder, Options options) throws Exception {
		boolean million = MillionSections.run(mongod(), folder.resolve("million"), options);
		Path records = Files.createDirectories(folder.resolve("run"));
		return faultRun(records, options.orElse("duration", LONG_SECONDS)).run() && million;
	}

	private static boolean runApart(Path folder, Options options) throws Exception {
		for (Fault fault : OperatorFaults.all(FakeTime.find(folder).isPresent())) {
			if (fault.kind().contains(options.text("only", ""))) {
				Path records = Files.createDirectories(folder.resolve(fault.kind().replaceAll("[^a-z]+", "-")));
				faultRun(records, options).runApart(fault);
			}
		}
		return true;
	}

	private static FaultRun faultRun(Path folder, Options options) {
		return new FaultRun(mongod(), toxiproxy(), folder, options, (int) options.number("workers", 3));
	}

	private static Path mongod() {
		return binary("DBLOCK_TEST_MONGOD");
	}

	/**
	 * Return the binaries of the versions of an upgrade, in its order.
	 */
	private static List<Path> mongods() {
		String binaries = System.getenv("DBLOCK_TEST_UPGRADE");
		if (binaries == null) {
			throw new IllegalStateException("DBLOCK_TEST_UPGRADE names no binaries; scripts/faults sets it");
		}
		return Stream.of(binaries.split(File.pathSeparator)).map(Path::of).toList();
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
