package dev.dblock.faults;

import java.time.Instant;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Line of a log in which an instance reports planned times that no instance has run.
 * There is no event for those that were skipped.
 *
 * @param job the id of the job
 * @param skipped whether they were skipped, and not missed
 * @param from the first planned time
 * @param to the last planned time
 */
public record AccountLine(String job, boolean skipped, Instant from, Instant to) {

	private static final Pattern REPORT = Pattern
		.compile("The job '(.+?)' (skipped|missed) (?:its planned time (\\S+)|.+?, from (\\S+) to (\\S+)): ");

	/**
	 * Find a report in a line of a log.
	 */
	public static Optional<AccountLine> in(String line) {
		Matcher matcher = REPORT.matcher(line);
		if (!matcher.find()) {
			return Optional.empty();
		}
		boolean single = matcher.group(3) != null;
		return Optional.of(new AccountLine(matcher.group(1), matcher.group(2).equals("skipped"),
				Instant.parse(matcher.group(single ? 3 : 4)), Instant.parse(matcher.group(single ? 3 : 5))));
	}

}
