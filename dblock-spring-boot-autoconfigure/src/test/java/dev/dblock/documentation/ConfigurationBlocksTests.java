package dev.dblock.documentation;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.dblock.autoconfigure.DblockProperties;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.core.io.ByteArrayResource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Checks the properties of dblock that the documentation and the applications of this
 * repository set: each key is in the metadata, and each value is valid.
 */
class ConfigurationBlocksTests {

	private static final Pattern OF_A_LOCK = Pattern
		.compile("dblock\\.locks(?:\\.[a-z0-9-]+|\\[[^\\]]+\\])\\.([a-z-]+)");

	private static final Pattern OURS = Pattern.compile("dblock\\b.*|management\\..*\\bdblock\\b.*");

	private static final Pattern NAME = Pattern
		.compile("(?:dblock|management\\.(?:endpoint|health)\\.dblock)\\.[a-z.-]*[a-z]");

	private static final Set<String> KNOWN = known();

	private static final Set<String> SETTINGS_OF_A_LOCK = Set.of("auto-renew", "label", "lease", "max-hold", "min-hold",
			"wait", "when-lost", "when-unavailable");

	private static Set<String> known() {
		Path ofTests = Markdown.ROOT
			.resolve("dblock-spring-boot-test/src/main/resources/META-INF/spring-configuration-metadata.json");
		try (InputStream json = DblockProperties.class
			.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
			return Stream.of(new String(json.readAllBytes(), StandardCharsets.UTF_8), Files.readString(ofTests))
				.flatMap((metadata) -> Document.parse(metadata).getList("properties", Document.class).stream())
				.map((property) -> property.getString("name"))
				.collect(Collectors.toSet());
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	static Stream<Arguments> blocks() throws IOException {
		Stream<Arguments> shown = Markdown.all()
			.stream()
			.flatMap((page) -> Stream.concat(
					page.blocks("yaml").stream().map((block) -> Arguments.of(page.toString(), yaml(block))),
					page.blocks("properties").stream().map((block) -> Arguments.of(page.toString(), lines(block)))));
		return Stream.concat(shown, applications());
	}

	private static Stream<Arguments> applications() throws IOException {
		try (Stream<Path> files = Files.walk(Markdown.ROOT, 5)) {
			List<Path> found = files.filter((file) -> file.getParent().endsWith("src/main/resources"))
				.filter((file) -> file.getFileName().toString().matches("application.*\\.yml"))
				.toList();
			return found.stream()
				.map((file) -> Arguments.of(Markdown.ROOT.relativize(file).toString(),
						yaml(Markdown.read(file).text())));
		}
	}

	@ParameterizedTest(name = "{0}: {1}")
	@MethodSource("blocks")
	void everythingThatIsSetCanBeSet(String place, Properties block) {
		assertThat(unknown(block)).as(place).isEmpty();
		bind(block);
	}

	@ParameterizedTest
	@MethodSource("dev.dblock.documentation.Markdown#all")
	void everyPropertyThatIsNamedExists(Markdown page) {
		assertThat(named(page)).isSubsetOf(Stream.concat(KNOWN.stream(), seen().stream()).toList());
	}

	private static Set<String> named(Markdown page) {
		return page.quoted()
			.map((code) -> code.replaceFirst("=.*", ""))
			.filter(NAME.asMatchPredicate())
			.collect(Collectors.toCollection(TreeSet::new));
	}

	/**
	 * The names of meters, traces and fields of the log, whose tables are compared with
	 * the code as well.
	 */
	private static Set<String> seen() {
		Markdown page = Markdown.read(Markdown.ROOT.resolve("docs/observability.md"));
		String tables = page.text().lines().filter((line) -> line.startsWith("|")).collect(Collectors.joining("\n"));
		return named(new Markdown(page.file(), tables));
	}

	@Test
	void theSampleIsAmongTheCheckedFiles() throws IOException {
		assertThat(blocks().map((block) -> block.get()[0])).contains("sample-app/src/main/resources/application.yml",
				"docs/configuration.md", "docs/scheduled-jobs.md");
	}

	@Test
	void unknownPropertiesAreFound() {
		assertThat(unknown(yaml("dblock: { leese: 30s, locks: { report: { lease: 5m, wate: 1s } } }")))
			.containsExactly("dblock.leese", "dblock.locks.report.wate");
		assertThat(unknown(lines("management.endpoint.dblock.acces=none"))).isNotEmpty();
		assertThat(unknown(yaml("dblock.locks: { '[order-*]': { when-lost: interrupt } }"))).isEmpty();
		assertThatExceptionOfType(BindException.class)
			.isThrownBy(() -> bind(yaml("dblock.locks: { '[order-*]': { when-lost: sometimes } }")));
		assertThatExceptionOfType(BindException.class).isThrownBy(() -> bind(lines("dblock.lease=soon")));
		assertThat(named(new Markdown(Markdown.ROOT, "`dblock.leese=5s`, `dblock.*`, `dblock.handoff.max-time`")))
			.containsExactly("dblock.handoff.max-time", "dblock.leese");
	}

	private static Set<String> unknown(Properties block) {
		return block.stringPropertyNames()
			.stream()
			.filter((key) -> OURS.matcher(key).matches() && !isKnown(key))
			.collect(Collectors.toCollection(TreeSet::new));
	}

	private static boolean isKnown(String key) {
		Matcher ofALock = OF_A_LOCK.matcher(key);
		return KNOWN.contains(key) || ofALock.matches() && SETTINGS_OF_A_LOCK.contains(ofALock.group(1));
	}

	private static void bind(Properties block) {
		new Binder(new MapConfigurationPropertySource(block)).bindOrCreate("dblock", DblockProperties.class);
	}

	private static Properties yaml(String text) {
		YamlPropertiesFactoryBean factory = new YamlPropertiesFactoryBean();
		factory.setResources(new ByteArrayResource(text.getBytes(StandardCharsets.UTF_8)));
		return factory.getObject();
	}

	private static Properties lines(String text) {
		Properties properties = new Properties();
		try {
			properties.load(new StringReader(text));
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
		return properties;
	}

}
