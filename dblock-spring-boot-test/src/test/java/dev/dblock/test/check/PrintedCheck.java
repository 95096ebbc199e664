package dev.dblock.test.check;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Runs of {@link DblockCheck}, with what they print.
 */
final class PrintedCheck {

	private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

	/**
	 * Run the check.
	 * @return its exit code
	 */
	int run(String... arguments) {
		return DblockCheck.run(List.of(arguments), null, new PrintStream(this.printed, true, StandardCharsets.UTF_8));
	}

	String printed() {
		return this.printed.toString(StandardCharsets.UTF_8).strip();
	}

	void reset() {
		this.printed.reset();
	}

}
