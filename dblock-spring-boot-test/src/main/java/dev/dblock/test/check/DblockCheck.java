package dev.dblock.test.check;

import java.io.IOException;
import java.io.PrintStream;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * {@code java -jar dblock-check.jar mongodb://…}: checks a server, and prints a report.
 * Exit codes: 0 if locks exclude each other, 1 if they do not, 2 if it could not be
 * checked.
 */
final class DblockCheck {

	private static final String USAGE = """
			Usage: java -jar dblock-check.jar [--collection NAME] mongodb://user:password@host:27017/database
			Checks for about a minute whether locks of dblock exclude each other on this server, in the collection
			NAME (dblock_check), which must be empty. Without an argument, the connection string is taken from the
			environment variable DBLOCK_CHECK_URI, so that no list of processes shows the password.
			Exit code: 0 excludes, 1 does not exclude, 2 could not be checked.""";

	private DblockCheck() {
	}

	/**
	 * Run the program.
	 * @param arguments the arguments
	 * @throws IOException if the pipe of the second process breaks
	 */
	public static void main(String[] arguments) throws IOException {
		if (arguments.length == 1 && arguments[0].equals(SecondProcess.ARGUMENT)) {
			SecondProcess.serve(System.in, System.out);
			System.exit(0);
		}
		System.exit(run(List.of(arguments), System.getenv("DBLOCK_CHECK_URI"), System.out));
	}

	static int run(List<String> arguments, @Nullable String environment, PrintStream out) {
		boolean named = arguments.size() > 1 && arguments.get(0).equals("--collection");
		List<String> rest = named ? arguments.subList(2, arguments.size()) : arguments;
		String uri = rest.isEmpty() ? environment : rest.get(0);
		if (uri == null || uri.startsWith("-") || rest.size() > 1) {
			out.println(USAGE);
			return ServerReport.Verdict.NOT_CHECKED.exitCode();
		}
		try {
			ServerCheck check = ServerCheck.of(uri).report((row) -> out.printf("%-24s%s%n", row.check(), row.result()));
			ServerReport report = (named ? check.collection(arguments.get(1)) : check).run();
			out.printf("%nPaste what follows into an issue. It contains neither credentials nor host names.%n%n%s",
					report);
			return report.verdict().exitCode();
		}
		catch (RuntimeException ex) {
			boolean known = ex instanceof IllegalStateException || ex instanceof IllegalArgumentException;
			out.println("Not checked: " + String.valueOf(known ? ex.getMessage() : ex).replaceAll("\\s+", " "));
			return ServerReport.Verdict.NOT_CHECKED.exitCode();
		}
	}

}
