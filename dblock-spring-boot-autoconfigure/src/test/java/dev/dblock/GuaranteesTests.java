package dev.dblock;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The tests that {@code verification/fault-tests/README.md} names for what it promises.
 */
class GuaranteesTests {

	private static final Path PAGE = Path.of("../verification/fault-tests/README.md");

	private static final List<Path> SOURCES = List.of(Path.of("src/test/java"), Path.of("../dblock/src/test/java"),
			Path.of("../sample-app/src/test/java"));

	private static final Pattern TEST = Pattern.compile("`(\\w+)#(\\w+)`");

	/**
	 * Nothing between an annotation and its method ends a statement, and no call is void.
	 */
	private static final String TEST_NAMED = "@(Test|ParameterizedTest|TestFactory)\\b[^;]*\\s(void|Stream<\\w+>) %s\\(";

	private static final Pattern PROMISE = Pattern.compile("(?ms)^### ([^\n]+)\n(.*?)(?=^##|\\z)");

	@Test
	void everyTestThatTheyNameExists() throws IOException {
		List<String> missing = TEST.matcher(Files.readString(PAGE))
			.results()
			.filter((named) -> !isTest(named.group(1), named.group(2)))
			.map((named) -> named.group(1) + "#" + named.group(2))
			.toList();
		assertThat(missing).as("named in " + PAGE + ", and no test").isEmpty();
	}

	@Test
	void everyPromiseNamesATest() throws IOException {
		Matcher promises = PROMISE.matcher(Files.readString(PAGE));
		int count = 0;
		for (; promises.find(); count++) {
			assertThat(promises.group(2)).as(promises.group(1)).containsPattern(TEST);
		}
		assertThat(count).isPositive();
	}

	private static boolean isTest(String type, String method) {
		Pattern test = Pattern.compile(TEST_NAMED.formatted(method));
		return sources(type).anyMatch((source) -> test.matcher(source).find());
	}

	private static Stream<String> sources(String type) {
		return SOURCES.stream().flatMap((folder) -> sources(folder, type));
	}

	private static Stream<String> sources(Path folder, String type) {
		try (Stream<Path> files = Files.walk(folder)) {
			List<Path> found = files.filter((file) -> file.endsWith(type + ".java")).toList();
			return found.stream().map(GuaranteesTests::read);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String read(Path source) {
		try {
			return Files.readString(source);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
