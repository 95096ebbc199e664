package dev.dblock;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;

import org.springframework.core.annotation.AnnotatedElementUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The tests that {@code docs/guarantees.md} names for what it promises.
 */
class GuaranteesTests {

	private static final Path PAGE = Path.of("../docs/guarantees.md");

	private static final Path SOURCES = Path.of("src/test/java");

	private static final Pattern TEST = Pattern.compile("`(\\w+)#(\\w+)`");

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
		return types(type).flatMap((found) -> Arrays.stream(found.getDeclaredMethods()))
			.filter((declared) -> declared.getName().equals(method))
			.anyMatch(GuaranteesTests::isTest);
	}

	private static boolean isTest(Method method) {
		return Stream.of(Test.class, ParameterizedTest.class, TestFactory.class)
			.anyMatch((kind) -> AnnotatedElementUtils.isAnnotated(method, kind));
	}

	private static Stream<Class<?>> types(String name) {
		try (Stream<Path> files = Files.walk(SOURCES)) {
			List<Path> found = files.filter((file) -> file.endsWith(name + ".java")).toList();
			return found.stream().map(GuaranteesTests::load);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static Class<?> load(Path source) {
		String path = SOURCES.relativize(source).toString();
		String name = path.substring(0, path.length() - ".java".length())
			.replace(source.getFileSystem().getSeparator(), ".");
		try {
			return Class.forName(name, false, GuaranteesTests.class.getClassLoader());
		}
		catch (ClassNotFoundException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
