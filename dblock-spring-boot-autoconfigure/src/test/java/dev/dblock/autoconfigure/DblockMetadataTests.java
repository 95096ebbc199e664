package dev.dblock.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the generated metadata of {@link DblockProperties}.
 */
class DblockMetadataTests {

	private static final List<String> PROPERTIES = List.of("dblock.acquirer", "dblock.advisor-order",
			"dblock.check-at-startup", "dblock.clock-allowance", "dblock.handoff.max-time", "dblock.jobs",
			"dblock.jobs.unlocked", "dblock.lease", "dblock.locks", "dblock.max-hold", "dblock.mode",
			"dblock.mongodb.collection", "dblock.mongodb.create-indexes", "dblock.mongodb.database-factory",
			"dblock.mongodb.fence-transactions", "dblock.mongodb.retention", "dblock.mongodb.statements",
			"dblock.mongodb.timeout", "dblock.name-prefix", "dblock.once-per-planned-time", "dblock.poll-interval",
			"dblock.release-feed", "dblock.shedlock.beside", "dblock.shedlock.keep-alive", "dblock.strict",
			"dblock.wait", "dblock.web.problem-details");

	private static final Set<String> MAPS = Set.of("dblock.jobs", "dblock.locks");

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
		this.metadata.keySet().removeAll(MAPS);
		assertThat(this.metadata).allSatisfy((name, property) -> assertThat(property.get("defaultValue"))
			.isEqualTo(asMetadata(Component.of(name).value(), property.get("defaultValue"))));
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
		Map<String, List<String>> hinted = ConfigurationDocumentTests.read("hints")
			.stream()
			.collect(Collectors.toMap((hint) -> hint.getString("name"),
					(hint) -> hint.getList("values", Document.class, List.of())
						.stream()
						.map((value) -> Objects.toString(value.get("value")))
						.toList()));
		assertThat(this.metadata.keySet())
			.filteredOn((name) -> !MAPS.contains(name) && Component.of(name).value() instanceof Enum<?>)
			.isNotEmpty()
			.allSatisfy((name) -> assertThat(hinted.get(name)).as(name)
				.containsExactlyInAnyOrderElementsOf(
						Arrays.stream(Component.of(name).value().getClass().getEnumConstants())
							.map((constant) -> ((Enum<?>) constant).name().toLowerCase())
							.toList()));
	}

	@ParameterizedTest
	@MethodSource("durations")
	void durationWithoutAUnitIsInSeconds(String property, Class<?> type) {
		String prefix = (type != DblockProperties.class) ? property.substring(0, property.lastIndexOf('.')) : "dblock";
		Object bound = new Binder(new MapConfigurationPropertySource(Map.of(property, "7"))).bind(prefix, type).get();
		assertThat(Component.of(bound, property.substring(prefix.length() + 1)).value())
			.isEqualTo(Duration.ofSeconds(7));
	}

	static Stream<Arguments> durations() {
		return Stream
			.of(read().entrySet()
				.stream()
				.filter((property) -> Duration.class.getName().equals(property.getValue().get("type")))
				.map((property) -> Arguments.of(property.getKey(), DblockProperties.class)),
					durations("dblock.locks.report.", DblockProperties.Lock.class),
					durations("dblock.jobs.report.", DblockProperties.Job.class))
			.flatMap((properties) -> properties);
	}

	private static Stream<Arguments> durations(String prefix, Class<?> entry) {
		return Stream.of(entry.getDeclaredConstructors()[0].getParameters())
			.filter((parameter) -> parameter.getType() == Duration.class)
			.map((parameter) -> Arguments.of(prefix + PropertyNameChecker.name(parameter), entry));
	}

	@Test
	void durationsOfAllKindsAreTried() {
		assertThat(durations().map((arguments) -> arguments.get()[0])).contains("dblock.lease",
				"dblock.mongodb.timeout", "dblock.locks.report.wait", "dblock.jobs.report.start-within");
	}

	/**
	 * A component of the properties, by the name of its property.
	 */
	private record Component(Object value) {

		static Component of(String name) {
			return of(new Binder().bindOrCreate("dblock", DblockProperties.class), name.substring("dblock.".length()));
		}

		static Component of(Object record, String name) {
			Object value = record;
			for (String element : name.split("\\.")) {
				int index = names(value.getClass()).indexOf(element);
				assertThat(index).as(name).isNotNegative();
				value = ReflectionUtils.invokeMethod(value.getClass().getRecordComponents()[index].getAccessor(),
						value);
			}
			return new Component(value);
		}

		private static List<String> names(Class<?> type) {
			return Stream.of(type.getDeclaredConstructors()[0].getParameters()).map(PropertyNameChecker::name).toList();
		}

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
