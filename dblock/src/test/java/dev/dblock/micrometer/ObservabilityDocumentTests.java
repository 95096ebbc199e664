package dev.dblock.micrometer;

import java.io.IOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.dblock.LossReason;
import dev.dblock.core.EngineState;
import dev.dblock.event.LockEvent;
import dev.dblock.event.LockListener;
import dev.dblock.job.event.JobListener;
import dev.dblock.job.micrometer.JobMeterDocumentation;
import dev.dblock.observation.LockObserver;
import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.docs.MeterDocumentation;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.bson.Document;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that {@code docs/observability.md}, the alerts and the dashboard agree with the
 * code.
 */
class ObservabilityDocumentTests {

	private static final Path DOCS = Path.of("..", "docs");

	private static final Pattern QUOTED = Pattern.compile("`([^`]+)`");

	private static final List<MeterDocumentation> OF_LOCKS = List.of(LockMeterDocumentation.values());

	private static final List<MeterDocumentation> OF_JOBS = List.of(JobMeterDocumentation.values());

	private final List<String> lines = Files.readAllLines(DOCS.resolve("observability.md"));

	ObservabilityDocumentTests() throws IOException {
	}

	/**
	 * The cells of the table whose first column has this title.
	 */
	private List<List<String>> table(String title) {
		int head = this.lines.indexOf(this.lines.stream()
			.filter((line) -> line.startsWith("| " + title + " |"))
			.findFirst()
			.orElseThrow(() -> new AssertionError("There is no table of each " + title)));
		return this.lines.stream()
			.skip(head + 2L)
			.takeWhile((line) -> line.startsWith("|"))
			.map((line) -> Arrays.asList(line.substring(1).split("\\|")))
			.toList();
	}

	private static Set<String> quoted(String cell) {
		Matcher matcher = QUOTED.matcher(cell);
		Set<String> found = new TreeSet<>();
		while (matcher.find()) {
			found.add(matcher.group(1));
		}
		return found;
	}

	private Set<String> column(String title) {
		return table(title).stream().flatMap((row) -> quoted(row.get(0)).stream()).collect(Collectors.toSet());
	}

	/**
	 * The code that the items of the list below a line begin with.
	 */
	private Set<String> listed(String above) {
		return this.lines.stream()
			.dropWhile((line) -> !line.equals(above))
			.skip(2)
			.takeWhile((line) -> line.startsWith("- "))
			.flatMap((line) -> quoted(line.split(": ")[0]).stream())
			.collect(Collectors.toSet());
	}

	private static Set<String> keys(KeyName[] names) {
		return Stream.of(names).map(KeyName::asString).collect(Collectors.toSet());
	}

	private static Set<String> lowerCase(Set<? extends Enum<?>> constants) {
		return constants.stream().map((one) -> one.name().toLowerCase(Locale.ROOT)).collect(Collectors.toSet());
	}

	@Test
	void everyObservationIsDocumentedWithItsTags() {
		Set<String> documented = Stream.of(LockObservationDocumentation.values())
			.map(LockObservationDocumentation::getName)
			.collect(Collectors.toSet());
		assertThat(column("observation")).isEqualTo(documented);
		for (LockObservationDocumentation one : LockObservationDocumentation.values()) {
			List<String> row = row("observation", one.getName());
			assertThat(quoted(row.get(2))).isEqualTo(keys(one.getLowCardinalityKeyNames()));
			assertThat(quoted(row.get(3))).isEqualTo(keys(one.getHighCardinalityKeyNames()));
		}
	}

	private List<String> row(String title, String name) {
		Predicate<List<String>> wanted = (row) -> quoted(row.get(0)).contains(name);
		return table(title).stream().filter(wanted).findFirst().orElseThrow();
	}

	@Test
	void everyOutcomeIsDocumented() {
		Set<String> outcomes = lowerCase(EnumSet.allOf(LockObserver.Outcome.class));
		outcomes.add("none");
		assertThat(listed("`outcome`:")).isEqualTo(outcomes);
	}

	@Test
	void everyMeterIsDocumentedWithItsTypeAndTags() {
		assertDocumented("meter", OF_LOCKS);
		assertDocumented("job meter", OF_JOBS);
	}

	private void assertDocumented(String title, List<MeterDocumentation> meters) {
		assertThat(column(title))
			.isEqualTo(meters.stream().map(MeterDocumentation::getName).collect(Collectors.toSet()));
		for (MeterDocumentation one : meters) {
			List<String> row = row(title, one.getName());
			assertThat(row.get(1).strip()).isEqualTo(one.getType().name().toLowerCase(Locale.ROOT));
			assertThat(quoted(row.get(2))).isEqualTo(keys(one.getKeyNames()));
		}
	}

	@Test
	void metersAreThoseThatAreDocumented() {
		MeterRegistry registry = new SimpleMeterRegistry();
		new LockMeters(() -> null).bindTo(registry);
		new PermitMeters(() -> registry).begin(LockObserver.Activity.HOLD,
				new LockObserver.Subject("export", "export", 1, 1, 3));
		Function<Meter, String> name = (meter) -> meter.getId().getName();
		assertThat(registry.getMeters().stream().map(name).collect(Collectors.toSet())).isEqualTo(column("meter"));
		for (MeterDocumentation one : OF_LOCKS) {
			assertThat(registry.get(one.getName()).meters()).allSatisfy((meter) -> {
				assertThat(meter.getId().getType()).isEqualTo(one.getType());
				assertThat(meter.getId().getTags().stream().map((tag) -> tag.getKey()).collect(Collectors.toSet()))
					.isEqualTo(keys(one.getKeyNames()));
			});
		}
	}

	@Test
	void everyReasonOfALossIsDocumented() {
		assertThat(listed("`reason`:")).isEqualTo(lowerCase(EnumSet.complementOf(EnumSet.of(LossReason.RELEASED))));
	}

	@Test
	void everyCauseOfAnAttemptIsDocumented() {
		assertThat(listed("`cause`:")).isEqualTo(EngineState.attempts().keySet());
	}

	@Test
	void everyEventIsDocumentedBesideTheMethodOfTheListener() {
		Set<String> expected = new ClassFileImporter().importPackagesOf(LockEvent.class, JobListener.class)
			.stream()
			.filter((found) -> found.isRecord() && found.isAssignableTo(LockEvent.class))
			.map(JavaClass::getSimpleName)
			.collect(Collectors.toCollection(TreeSet::new));
		Stream.of(LockListener.class, JobListener.class)
			.flatMap((listener) -> Stream.of(listener.getDeclaredMethods()))
			.filter((method) -> !method.isSynthetic() && !method.getName().equals("onNews")
					&& !Modifier.isStatic(method.getModifiers()))
			.forEach((method) -> expected.add(method.getName()));
		assertThat(listed(
				"A `LockListener` bean gets those of locks, a `JobListener` bean all. The thread is in brackets:"))
			.isEqualTo(expected);
		assertThat(String.join("\n", this.lines)).contains("`JobListener.publishingTo(context)`");
	}

	private static List<MeterDocumentation> meters() {
		return Stream.concat(OF_LOCKS.stream(), OF_JOBS.stream()).toList();
	}

	/**
	 * Prometheus's names of the meters: a timer is in seconds, a counter a total.
	 */
	private static Set<String> prometheusNames() {
		Set<String> names = new TreeSet<>();
		for (LockObservationDocumentation one : LockObservationDocumentation.values()) {
			for (String suffix : new String[] { "_seconds_count", "_seconds_sum", "_seconds_max" }) {
				names.add(one.getName().replace('.', '_') + suffix);
			}
		}
		for (MeterDocumentation one : meters()) {
			String name = one.getName().replace('.', '_');
			switch (one.getType()) {
				case TIMER ->
					names.addAll(List.of(name + "_seconds_count", name + "_seconds_sum", name + "_seconds_max"));
				case GAUGE -> names.add((one == JobMeterDocumentation.SINCE_SUCCESS) ? name + "_seconds" : name);
				default -> names.add(name + "_total");
			}
		}
		return names;
	}

	@Test
	void noTagHasTheNameOfALabelThatPrometheusSets() {
		Set<String> tags = new TreeSet<>();
		meters().forEach((meter) -> tags.addAll(keys(meter.getKeyNames())));
		Stream.of(LockObservationDocumentation.values())
			.forEach((one) -> tags.addAll(keys(one.getLowCardinalityKeyNames())));
		assertThat(tags).contains("job.id", "lock").doesNotContain("job", "instance", "le", "quantile");
	}

	@Test
	void alertsUseMetersThatExist() throws IOException {
		Set<String> used = new TreeSet<>();
		Files.readAllLines(DOCS.resolve("alerts.yml"))
			.stream()
			.filter((line) -> !line.contains("summary:") && !line.contains("description:"))
			.flatMap((line) -> Pattern.compile("dblock_[a-z_]+").matcher(line).results())
			.forEach((meter) -> used.add(meter.group()));
		assertThat(prometheusNames()).containsAll(used);
		assertThat(used).contains("dblock_leases_lost_total", "dblock_renewals_late_total", "dblock_job_missed_total",
				"dblock_job_since_success_seconds");
	}

	@Test
	void dashboardShowsEveryMeterAndNoOther() throws IOException {
		Document dashboard = Document.parse(Files.readString(DOCS.resolve("grafana-dashboard.json")));
		Set<String> shown = new TreeSet<>();
		for (Document panel : dashboard.getList("panels", Document.class)) {
			for (Document target : panel.getList("targets", Document.class, List.of())) {
				Matcher matcher = Pattern.compile("dblock_[a-z_]+").matcher(target.getString("expr"));
				while (matcher.find()) {
					shown.add(matcher.group());
				}
			}
		}
		assertThat(prometheusNames()).containsAll(shown);
		for (MeterDocumentation one : meters()) {
			assertThat(shown).anyMatch((name) -> name.startsWith(one.getName().replace('.', '_')));
		}
		for (LockObservationDocumentation one : LockObservationDocumentation.values()) {
			assertThat(shown).anyMatch((name) -> name.startsWith(one.getName().replace('.', '_') + "_seconds"));
		}
	}

}
