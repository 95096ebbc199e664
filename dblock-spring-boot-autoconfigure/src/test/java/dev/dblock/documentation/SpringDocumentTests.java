package dev.dblock.documentation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every test that {@code verification/compatibility/README.md} names exists in one of the
 * modules.
 */
class SpringDocumentTests {

	private static final Pattern ROW = Pattern.compile("(?m)^\\| ([^|]+) \\|.*(?<!\\\\)\\| ?([^|]*)\\|$");

	private static final Pattern TEST = Pattern.compile("`(\\w+(?:Tests|IT))(?:#(\\w+))?`");

	private static final Pattern PROGRAM = Pattern.compile("`([a-z]+/[a-z/]+)`");

	private static final String NOTHING_TO_COMPARE_WITH = "Published API compared with the last release";

	private final Markdown page = Markdown.read(Markdown.ROOT.resolve("verification/compatibility/README.md"));

	private final List<Path> sources = sources();

	@Test
	void everyTestThatItNamesExists() {
		List<MatchResult> named = TEST.matcher(this.page.text()).results().toList();
		assertThat(named.size()).isGreaterThan(90);
		assertThat(named.stream().filter((test) -> !exists(test.group(1), test.group(2))).map(MatchResult::group))
			.isEmpty();
	}

	@Test
	void everyRowNamesWhatShowsIt() {
		List<MatchResult> rows = ROW.matcher(this.page.text()).results().skip(1).toList();
		assertThat(rows).hasSize((int) this.page.text().lines().filter((line) -> line.startsWith("| ")).count() - 1);
		assertThat(rows.stream().filter((row) -> !isShown(row.group(2))).map((row) -> row.group(1)))
			.containsExactly(NOTHING_TO_COMPARE_WITH);
	}

	private static boolean isShown(String cell) {
		return TEST.matcher(cell).find() || PROGRAM.matcher(cell)
			.results()
			.anyMatch((program) -> Files.exists(Markdown.ROOT.resolve(program.group(1))));
	}

	/**
	 * Other modules' tests are not on the class path of this one, so it is their sources
	 * that are looked at.
	 */
	private boolean exists(String type, String method) {
		return this.sources.stream()
			.filter((source) -> source.endsWith(type + ".java"))
			.anyMatch((source) -> method == null || declares(Markdown.read(source).text(), method));
	}

	private static boolean declares(String source, String method) {
		return Pattern
			.compile("(?m)^\\t@(?:Test|ParameterizedTest|TestFactory)\\b.*\\n(?:\\t.*\\n)*?\\tvoid " + method + "\\(")
			.matcher(source)
			.find();
	}

	private static List<Path> sources() {
		try (Stream<Path> folders = Files.walk(Markdown.ROOT, 3)) {
			return folders.map((folder) -> folder.resolve("src/test/java"))
				.filter(Files::isDirectory)
				.flatMap(SpringDocumentTests::files)
				.toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static Stream<Path> files(Path folder) {
		try (Stream<Path> files = Files.walk(folder)) {
			return files.filter((file) -> file.toString().endsWith(".java")).toList().stream();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
