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
import java.util.stream.Stream;

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

	private static final Path SNIPPETS = Path.of("src", "test", "java", "dev", "dblock", "autoconfigure",
			"ConfigurationSnippets.java");

	private final String text = Files.readString(Path.of("..", "docs", "configuration.md"));

	ConfigurationDocumentTests() throws IOException {
	}

	@Test
	void everyPropertyHasARowWithItsDefault() {
		Map<String, String> documented = new TreeMap<>();
		table("property").forEach((cells) -> documented.put(unquoted(cells[0]), unquoted(cells[1])));
		Map<String, String> stated = new TreeMap<>();
		metadata().forEach((property) -> stated.put(property.getString("name"),
				Objects.toString(property.get("defaultValue"), "")));
		assertThat(documented.keySet()).containsExactlyElementsOf(stated.keySet());
		assertThat(documented).allSatisfy(
				(name, value) -> assertThat(comparable(value)).as(name).isEqualTo(comparable(stated.get(name))));
		assertThat(table("property")).allSatisfy((cells) -> assertThat(cells[2]).isNotBlank());
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

	private Stream<String[]> table(String title) {
		return this.text.lines()
			.dropWhile((line) -> !line.startsWith("| " + title + " |"))
			.skip(2)
			.takeWhile((line) -> line.startsWith("|"))
			.map((line) -> line.substring(1).split("\\|"));
	}

	private static String unquoted(String cell) {
		return cell.strip().replace("`", "");
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
