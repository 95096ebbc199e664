package dev.dblock.faults;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Commands, each with the options that it supports.
 */
enum Command {

	RUN("every fault at least once, in an order of chance", "duration", "seed", "only", "workers"),

	LONG("a million sections, then 31 minutes of faults", "sections", "processes", "threads", "duration", "seed",
			"only", "workers"),

	JUDGE("judges the records of a run again"),

	APART("what lies outside of what is promised; counted, not judged", "seed", "only", "workers"),

	MUTANTS("dblock broken in eight ways, each of which the judge must see", "seed", "only", "trial"),

	MILLION("a million sections in four processes, undisturbed", "sections", "processes", "threads"),

	SHEDLOCK("ten thousand sections of old instances with ShedLock and new ones with both", "sections", "processes",
			"threads"),

	JOBS("scheduled jobs on five instances whose clocks differ, through faults", "duration", "seed", "only", "jobs",
			"sharded"),

	UPGRADE("rolling upgrades of the servers under contenders and jobs", "seed", "jobs");

	private static final String FOLDER = "folder";

	/** The options that are not numbers. */
	private static final List<String> TEXTS = List.of(FOLDER, "only", "trial");

	private static final String USAGE = """
			usage: scripts/faults COMMAND [--OPTION VALUE ...]

			%s
			Each knows --folder as well, below which its logs and records go; for "judge" they are in it.""";

	private final String description;

	private final List<String> options;

	Command(String description, String... options) {
		this.description = description;
		this.options = List.of(options);
	}

	/**
	 * Read the command line.
	 * @param args the command line, which begins with the command
	 * @return the command
	 */
	static Command of(String... args) {
		String name = (args.length > 0) ? args[0] : "";
		return Arrays.stream(values())
			.filter((command) -> command.toString().equals(name))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException(
					name.isEmpty() ? "It is not said what to run" : "There is no command '" + name + "'"));
	}

	/**
	 * Read the rest of the command line.
	 * @param args the command line, which begins with the command
	 * @return the options
	 */
	Options options(String... args) {
		Options options = Options.parse(args, 1);
		for (String name : options.values().keySet()) {
			if (!this.options.contains(name) && !name.equals(FOLDER)) {
				throw new IllegalArgumentException("'" + this + "' knows no option '--" + name + "'");
			}
			if (!TEXTS.contains(name)) {
				options.number(name, 0);
			}
		}
		return options;
	}

	static String usage() {
		return USAGE.formatted(Arrays.stream(values()).map(Command::line).collect(Collectors.joining()));
	}

	private String line() {
		String names = this.options.stream().map((name) -> " --" + name).collect(Collectors.joining());
		return "  %-8s %s%n".formatted(this, this.description)
				+ (names.isEmpty() ? "" : "          %s%n".formatted(names));
	}

	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT);
	}

}
