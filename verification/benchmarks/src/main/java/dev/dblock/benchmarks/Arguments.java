package dev.dblock.benchmarks;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import joptsimple.OptionException;
import joptsimple.OptionParser;
import joptsimple.OptionSet;
import joptsimple.OptionSpec;

/**
 * Arguments of the command line.
 *
 * @param cases the cases to run
 * @param quick whether to run all code without measuring accurately
 * @param output the folder for the results
 */
record Arguments(List<BenchmarkCase> cases, boolean quick, Path output) {

	static Arguments parse(String... arguments) {
		OptionParser parser = new OptionParser();
		OptionSpec<Void> quick = parser.accepts("quick", "short rounds and small numbers: shows that all works");
		OptionSpec<String> cases = parser.accepts("cases", "which cases, such as P1,P4; all unless said")
			.withRequiredArg()
			.withValuesSeparatedBy(',');
		OptionSpec<String> output = parser
			.accepts("output", "folder for results.md and results.json; the last one counts")
			.withRequiredArg()
			.defaultsTo("target/benchmarks");
		try {
			OptionSet options = parser.parse(arguments);
			if (!options.nonOptionArguments().isEmpty()) {
				throw new IllegalArgumentException("Not understood: " + options.nonOptionArguments());
			}
			return new Arguments(choose(options.valuesOf(cases)), options.has(quick),
					Path.of(last(options.valuesOf(output))));
		}
		catch (OptionException ex) {
			throw new IllegalArgumentException(ex.getMessage() + "; there are --cases, --quick and --output", ex);
		}
	}

	private static String last(List<String> values) {
		return values.get(values.size() - 1);
	}

	private static List<BenchmarkCase> choose(List<String> ids) {
		if (ids.isEmpty()) {
			return Suite.ALL;
		}
		Set<String> wanted = ids.stream()
			.map((id) -> id.strip().toUpperCase(Locale.ROOT))
			.collect(Collectors.toCollection(TreeSet::new));
		List<BenchmarkCase> chosen = Suite.ALL.stream().filter((each) -> wanted.remove(each.id())).toList();
		if (!wanted.isEmpty()) {
			throw new IllegalArgumentException(
					"There is no case " + wanted + ", only " + Suite.ALL.stream().map(BenchmarkCase::id).toList());
		}
		return chosen;
	}

}
