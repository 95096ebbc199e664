package dev.dblock.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

import org.bson.Document;
import org.junit.jupiter.api.Test;

import org.springframework.beans.BeanWrapper;
import org.springframework.beans.BeanWrapperImpl;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the generated metadata of {@link DblockProperties}.
 */
class DblockMetadataTests {

	private static final List<String> PROPERTIES = List.of("dblock.acquirer", "dblock.advisor-order",
			"dblock.clock-allowance", "dblock.enabled", "dblock.handoff.max-count", "dblock.handoff.max-time",
			"dblock.jobs.once-per-planned-time", "dblock.lease", "dblock.locks", "dblock.max-hold", "dblock.min-hold",
			"dblock.mode", "dblock.mongodb.collection", "dblock.mongodb.create-indexes",
			"dblock.mongodb.database-factory", "dblock.mongodb.dedicated-client", "dblock.mongodb.fence-transactions",
			"dblock.mongodb.retention", "dblock.mongodb.statements", "dblock.mongodb.timeout", "dblock.name-prefix",
			"dblock.poll.max-interval", "dblock.poll.min-interval", "dblock.release-feed", "dblock.wait",
			"dblock.web.problem-details");

	private final Map<String, Document> metadata = read();

	@Test
	void everyPropertyIsListed() {
		assertThat(this.metadata.keySet()).containsExactlyInAnyOrderElementsOf(PROPERTIES);
	}

	@Test
	void everyPropertyIsDescribedInOneSentence() {
		assertThat(this.metadata).allSatisfy((name, property) -> {
			assertThat(property.get("description")).asString().matches("[A-Z][^.]+\\.");
			if (property.get("type").equals(Boolean.class.getName())) {
				assertThat(property.get("description")).asString().startsWith("Whether ");
			}
		});
	}

	@Test
	void everyDefaultIsThatOfTheCode() {
		this.metadata.remove("dblock.locks");
		BeanWrapper defaults = new BeanWrapperImpl(new DblockProperties());
		assertThat(this.metadata).allSatisfy((name, property) -> assertThat(property.get("defaultValue"))
			.isEqualTo(asMetadata(defaults.getPropertyValue(path(name)), property.get("defaultValue"))));
	}

	@Test
	void everyHintIsOfAKnownPropertyAndNamesAKnownType() {
		List<Document> hints = ConfigurationDocumentTests.read("hints");
		assertThat(hints).isNotEmpty().allSatisfy((hint) -> {
			assertThat(this.metadata).containsKey(hint.getString("name").replace(".keys", ""));
			for (Document provider : hint.getList("providers", Document.class, List.of())) {
				if (provider.getString("name").equals("spring-bean-reference")) {
					String target = provider.get("parameters", Document.class).getString("target");
					assertThat(ClassUtils.isPresent(target, getClass().getClassLoader())).as(target).isTrue();
				}
			}
			assertThat(hint.getList("values", Document.class, List.of()))
				.allSatisfy((value) -> assertThat(value.getString("description")).isNotBlank());
		});
	}

	@Test
	void everyValueOfAnEnumIsHintedAt() {
		BeanWrapper defaults = new BeanWrapperImpl(new DblockProperties());
		Map<String, List<String>> hinted = ConfigurationDocumentTests.read("hints")
			.stream()
			.collect(Collectors.toMap((hint) -> hint.getString("name"),
					(hint) -> hint.getList("values", Document.class, List.of())
						.stream()
						.map((value) -> Objects.toString(value.get("value")))
						.toList()));
		assertThat(this.metadata.keySet())
			.filteredOn((name) -> !name.equals("dblock.locks") && defaults.getPropertyType(path(name)).isEnum())
			.isNotEmpty()
			.allSatisfy((name) -> assertThat(hinted.get(name)).as(name)
				.containsExactlyInAnyOrderElementsOf(
						Arrays.stream(defaults.getPropertyType(path(name)).getEnumConstants())
							.map((constant) -> ((Enum<?>) constant).name().toLowerCase())
							.toList()));
	}

	private static String path(String name) {
		StringBuilder path = new StringBuilder();
		for (int i = "dblock.".length(); i < name.length(); i++) {
			path.append((name.charAt(i) == '-') ? Character.toUpperCase(name.charAt(++i)) : name.charAt(i));
		}
		return path.toString();
	}

	/**
	 * The default in the form of the metadata; a duration in the unit that is used there.
	 */
	private static Object asMetadata(Object value, Object stated) {
		if (value instanceof Duration duration) {
			boolean same = duration.equals(DurationStyle.detectAndParse(Objects.toString(stated)));
			return same ? stated : duration;
		}
		return (value instanceof Enum<?> constant) ? constant.name().toLowerCase() : value;
	}

	private static Map<String, Document> read() {
		try (InputStream json = DblockProperties.class
			.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
			return Document.parse(new String(json.readAllBytes(), StandardCharsets.UTF_8))
				.getList("properties", Document.class)
				.stream()
				.filter((property) -> property.getString("name").startsWith("dblock."))
				.collect(Collectors.toMap((property) -> property.getString("name"), (property) -> property));
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
