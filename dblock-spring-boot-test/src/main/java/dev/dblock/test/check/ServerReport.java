package dev.dblock.test.check;

import java.util.List;
import java.util.stream.Collectors;

/**
 * What a {@link ServerCheck} has found. {@link #toString()} is a report in Markdown,
 * without credentials and host names.
 *
 * @param server the product, version and topology, as the server reports them
 * @param verdict whether locks on the server exclude each other
 * @param rows the result of each single check
 * @param settings the properties that an application should set for the server; empty if
 * the defaults are right
 */
public record ServerReport(String server, Verdict verdict, List<Row> rows, List<String> settings) {

	/**
	 * Return this report if locks exclude each other, in whichever dialect.
	 * @return this report
	 * @throws AssertionError if they do not, or if it could not be checked; its message
	 * is the report
	 */
	public ServerReport assertExcludes() {
		if (this.verdict != Verdict.EXCLUDES && this.verdict != Verdict.EXCLUDES_WITH_CLASSIC_DIALECT) {
			throw new AssertionError(this);
		}
		return this;
	}

	@Override
	public String toString() {
		String version = ServerReport.class.getPackage().getImplementationVersion();
		StringBuilder text = new StringBuilder(
				"dblock %s, Java %s on %s, server %s%n%n".formatted((version != null) ? version : "(unknown version)",
						Runtime.version().feature(), System.getProperty("os.name"), this.server));
		text.append("| check | result | what was seen |%n|---|---|---|%n".formatted());
		this.rows.forEach((row) -> text.append(row).append(System.lineSeparator()));
		String skipped = this.rows.stream()
			.filter((row) -> row.result() == Result.SKIPPED)
			.map(Row::check)
			.collect(Collectors.joining(", "));
		text.append("%nVerdict: **%s**%s%n%nSettings to use: ".formatted(this.verdict,
				skipped.isEmpty() ? "" : " (not checked: " + skipped + ")"));
		text.append(this.settings.isEmpty() ? "none, the defaults are right" : String.join("; ", this.settings));
		return text.append(System.lineSeparator()).toString();
	}

	/**
	 * Whether locks on a server exclude each other.
	 */
	public enum Verdict {

		/** Locks exclude each other with the default settings. */
		EXCLUDES("excludes", 0),

		/** Locks exclude each other with classic update operators. */
		EXCLUDES_WITH_CLASSIC_DIALECT("excludes with the classic dialect", 0),

		/** Several holders had one lock. */
		DOES_NOT_EXCLUDE("does not exclude", 1),

		/** No violation was found, but a check failed. */
		NOT_CHECKED("could not be checked", 2);

		private final String text;

		private final int exitCode;

		Verdict(String text, int exitCode) {
			this.text = text;
			this.exitCode = exitCode;
		}

		int exitCode() {
			return this.exitCode;
		}

		@Override
		public String toString() {
			return this.text;
		}

	}

	/**
	 * The result of a single check.
	 *
	 * @param check what was checked
	 * @param result the result
	 * @param seen what was seen
	 */
	public record Row(String check, Result result, String seen) {

		@Override
		public String toString() {
			return "| %s | %s | %s |".formatted(this.check, this.result,
					this.seen.replace('|', '/').replaceAll("\\s+", " "));
		}

	}

	/**
	 * The result of a single check.
	 */
	public enum Result {

		/** As it should be. */
		YES("yes"),

		/** Not as it should be, or not supported. */
		NO("NO"),

		/** The check itself failed. */
		FAILED("check failed"),

		/** Left out, with the reason. */
		SKIPPED("skipped"),

		/** A measurement. */
		MEASURED("measured");

		private final String text;

		Result(String text) {
			this.text = text;
		}

		@Override
		public String toString() {
			return this.text;
		}

	}

}
