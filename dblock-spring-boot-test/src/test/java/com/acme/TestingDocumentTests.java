package com.acme;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whether {@code docs/testing.md} shows the code that is compiled here.
 */
class TestingDocumentTests {

	private static final Pattern SNIPPET = Pattern.compile("(?ms)^```java\n(.*?)^```$");

	@Test
	void everySnippetIsTakenFromTheseTests() throws IOException {
		List<String> snippets = SNIPPET.matcher(Files.readString(Path.of("../docs/testing.md")))
			.results()
			.map((found) -> trimmed(found.group(1)))
			.toList();
		List<String> sources = sources();
		assertThat(snippets).isNotEmpty()
			.allSatisfy((snippet) -> assertThat(sources).anyMatch((source) -> source.contains(snippet)));
	}

	private static List<String> sources() throws IOException {
		try (Stream<Path> files = Files.walk(Path.of("src/test/java/com/acme"))) {
			List<Path> found = files.filter(Files::isRegularFile).toList();
			return found.stream().map(TestingDocumentTests::read).toList();
		}
	}

	private static String read(Path file) {
		try {
			return trimmed(Files.readString(file));
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static String trimmed(String text) {
		return text.lines().map(String::strip).filter((line) -> !line.isEmpty()).collect(Collectors.joining("\n"));
	}

}
