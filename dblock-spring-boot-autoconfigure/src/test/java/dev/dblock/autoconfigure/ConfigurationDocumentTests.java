package dev.dblock.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.bson.Document;
import org.junit.jupiter.api.Test;

import org.springframework.boot.convert.DurationStyle;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that {@code docs/configuration.md} agrees with the metadata of each property,
 * and that its Java compiles.
 */
class ConfigurationDocumentTests {

	private static final Pattern JAVA = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

	private static final Pattern PROPERTY = Pattern.compile("(?m)^- `(dblock\\.[^`]+)`(?: \\(`([^`]*)`\\))?: \\S");

	private static final Path SNIPPETS = Path.of("src", "test", "java", "dev", "dblock", "autoconfigure",
			"ConfigurationSnippets.java");

	private final String text = Files.readString(Path.of("..", "docs", "configuration.md"));

	ConfigurationDocumentTests() throws IOException {
	}

	@Test
	void everyPropertyIsDocumentedWithItsDefault() {
		Map<String, String> documented = new TreeMap<>();
		PROPERTY.matcher(this.text)
			.results()
			.forEach((property) -> documented.put(property.group(1), Objects.toString(property.group(2), "")));
		Map<String, String> stated = new TreeMap<>();
		metadata().stream()
			.filter((property) -> property.getString("name").startsWith("dblock."))
			.forEach((property) -> stated.put(property.getString("name"),
					Objects.toString(property.get("defaultValue"), "")));
		assertThat(documented.keySet()).containsExactlyElementsOf(stated.keySet());
		assertThat(documented).allSatisfy(
				(name, value) -> assertThat(comparable(value)).as(name).isEqualTo(comparable(stated.get(name))));
	}

	@Test
	void everySettingOfASingleLockIsNamed() {
		String section = this.text.substring(this.text.indexOf("## Single locks"), this.text.indexOf("- **Names**"));
		assertThat(PropertyNameChecker.settings(DblockProperties.Lock.class)).isNotEmpty()
			.allSatisfy((setting) -> assertThat(section).contains("`" + setting + "`"));
	}

	@Test
	void everySnippetIsCompiled() throws IOException {
		String compiled = lines(Files.readString(SNIPPETS));
		Matcher snippets = JAVA.matcher(this.text);
		assertThat(snippets.results().map((snippet) -> lines(snippet.group(1)))).isNotEmpty()
			.allSatisfy((snippet) -> assertThat(compiled).contains(snippet));
	}

	private static String lines(String source) {
		return source.lines().map(String::strip).collect(Collectors.joining("\n"));
	}

	/**
	 * Durations in any unit.
	 */
	private static Object comparable(String value) {
		return value.matches("\\d+(ms|s|m|h|d)") ? DurationStyle.detectAndParse(value) : value;
	}

	static List<Document> metadata() {
		Map<String, Document> properties = new LinkedHashMap<>();
		read("properties").forEach((property) -> properties.put(property.getString("name"), property));
		return List.copyOf(properties.values());
	}

	static List<Document> read(String part) {
		try (InputStream json = DblockProperties.class
			.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
			return Document.parse(new String(json.readAllBytes(), StandardCharsets.UTF_8))
				.getList(part, Document.class, List.of());
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
