package dev.dblock.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

import org.bson.Document;
import org.junit.jupiter.api.Test;

import org.springframework.beans.BeanWrapper;
import org.springframework.beans.BeanWrapperImpl;
import org.springframework.boot.convert.DurationStyle;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the generated metadata of {@link DblockProperties}.
 */
class DblockMetadataTests {

	private static final List<String> PROPERTIES = List.of("dblock.acquirer", "dblock.advisor-order",
			"dblock.clock-allowance", "dblock.enabled", "dblock.handoff.max-count", "dblock.handoff.max-time",
			"dblock.lease", "dblock.locks", "dblock.max-hold", "dblock.min-hold", "dblock.mode",
			"dblock.mongodb.collection", "dblock.mongodb.create-indexes", "dblock.mongodb.dedicated-client",
			"dblock.mongodb.fence-transactions", "dblock.mongodb.retention", "dblock.mongodb.statements",
			"dblock.mongodb.timeout", "dblock.name-prefix", "dblock.poll.max-interval", "dblock.poll.min-interval",
			"dblock.wait");

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

	private static String path(String name) {
		StringBuilder path = new StringBuilder();
		for (int i = "dblock.".length(); i < name.length(); i++) {
			path.append((name.charAt(i) == '-') ? Character.toUpperCase(name.charAt(++i)) : name.charAt(i));
		}
		return path.toString();
	}

	/**
	 * The default as the metadata would have it; a duration in whatever unit is used
	 * there.
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
