package dev.dblock.documentation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The texts of the code that users see, as in the sources. Variable parts are an
 * ellipsis.
 */
final class Messages {

	static final String DIFFERS = "…";

	private static final String LITERAL = "\"((?:[^\"\\\\\\n]|\\\\.)*+)\"";

	private static final Pattern LITERALS = Pattern.compile(LITERAL);

	private static final Pattern COMMENT_OR_LITERAL = Pattern
		.compile("(?s)/\\*.*?\\*/|//[^\\n]*|\"\"\".*?\"\"\"|(" + LITERAL + ")");

	private static final Pattern PLACEHOLDER = Pattern.compile("\\{\\}|%(?:\\d+\\$)?[0-9]*[sdX]");

	private Messages() {
	}

	/**
	 * All texts of the main sources.
	 * @param modules the folders of the modules
	 */
	static List<String> literals(String... modules) {
		return sources(modules)
			.flatMap((source) -> LITERALS.matcher(source).results().map((literal) -> readable(literal.group(1))))
			.toList();
	}

	/**
	 * Returns the messages of the log.
	 * @param levels methods of the logger
	 * @param modules the folders of the modules
	 */
	static List<String> logged(List<String> levels, String... modules) {
		String methods = "\\s*\\.(?:" + String.join("|", levels) + ")\\(\\s*";
		Pattern call = Pattern
			.compile("(?:logger" + methods + "|FailureLog" + methods + "logger, ex,\\s*)(?:" + LITERAL + ")?");
		return sources(modules).flatMap((source) -> call.matcher(source).results()).map((found) -> {
			if (found.group(1) == null) {
				throw new AssertionError("A line of the log has no text of its own: " + found.group());
			}
			return readable(found.group(1));
		}).toList();
	}

	/**
	 * Returns the statements that pass an exception to the log, which adds its stack
	 * trace.
	 * @param level method of the logger
	 * @param modules the folders of the modules
	 */
	static List<String> loggedWithStackTrace(String level, String... modules) {
		Pattern call = Pattern.compile("logger\\s*\\." + level + "\\((?:[^\";]|" + LITERAL
				+ ")*,\\s*(?:ex|failure|cause|error|thrown|throwable|exception)\\)");
		return sources(modules).flatMap((source) -> call.matcher(source).results()).map(MatchResult::group).toList();
	}

	private static Stream<String> sources(String... modules) {
		return Stream.of(modules).flatMap((module) -> sources(Markdown.ROOT.resolve(module).resolve("src/main/java")));
	}

	private static Stream<String> sources(Path folder) {
		try (Stream<Path> files = Files.walk(folder)) {
			return files.filter((file) -> file.toString().endsWith(".java"))
				.map((file) -> joined(Markdown.read(file).text()))
				.toList()
				.stream();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String joined(String source) {
		return COMMENT_OR_LITERAL.matcher(source)
			.replaceAll((MatchResult part) -> (part.group(1) != null) ? Matcher.quoteReplacement(part.group(1)) : "")
			.replaceAll("\"\\s*\\+\\s*\"", "")
			.replaceAll("\"\\s*\\+\\s*[\\w.()]+\\s*\\+\\s*\"", DIFFERS);
	}

	private static String readable(String literal) {
		return PLACEHOLDER.matcher(literal).replaceAll(DIFFERS).replace("\\\"", "\"").replace("\\\\", "\\");
	}

}
