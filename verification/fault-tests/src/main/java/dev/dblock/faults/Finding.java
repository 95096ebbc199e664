package dev.dblock.faults;

import java.io.PrintStream;
import java.util.List;
import java.util.Locale;

/**
 * Result of one check of the judge.
 *
 * @param what the description of the check
 * @param count how often the rule was broken
 * @param rule whether a broken rule fails the run; otherwise the count is only reported
 * @param examples some of the cases
 */
record Finding(String what, long count, boolean rule, List<String> examples) {

	private static final int EXAMPLES = 3;

	static Finding rule(String what, List<String> cases) {
		return new Finding(what, cases.size(), true, first(cases));
	}

	static Finding figure(String what, List<String> cases) {
		return new Finding(what, cases.size(), false, first(cases));
	}

	private static List<String> first(List<String> cases) {
		return List.copyOf(cases.subList(0, Math.min(EXAMPLES, cases.size())));
	}

	boolean passed() {
		return !this.rule || this.count == 0;
	}

	void print(PrintStream out) {
		String verdict = !this.rule ? "figure" : passed() ? "ok    " : "FAILED";
		out.printf(Locale.ROOT, "%s  %s: %,d%n", verdict, this.what, this.count);
		this.examples.forEach((example) -> out.println(example.indent(10).stripTrailing()));
	}

}
