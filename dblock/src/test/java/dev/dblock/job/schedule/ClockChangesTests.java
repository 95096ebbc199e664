package dev.dblock.job.schedule;

import java.time.Clock;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;

import dev.dblock.job.schedule.ClockChanges.Once;
import dev.dblock.job.trigger.JobTrigger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.scheduling.support.CronTrigger;
import org.springframework.scheduling.support.SimpleTriggerContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ClockChanges}.
 */
class ClockChangesTests {

	private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

	private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

	private static final Instant END = Instant.parse("2031-01-01T00:00:00Z");

	private static final List<LocalTime> TIMES = Stream
		.of("00:00", "00:20", "01:00", "01:30", "01:59:59", "02:00", "02:15", "02:30", "03:00", "03:10", "12:00",
				"23:30")
		.map(LocalTime::parse)
		.toList();

	/**
	 * One time zone for each different set of rules that change the clocks.
	 */
	static Stream<ZoneId> zones() {
		Map<List<ZoneOffsetTransition>, ZoneId> zones = new LinkedHashMap<>();
		for (String id : new TreeSet<>(ZoneId.getAvailableZoneIds())) {
			zones.putIfAbsent(changes(ZoneId.of(id).getRules()), ZoneId.of(id));
		}
		return zones.values().stream();
	}

	private static List<ZoneOffsetTransition> changes(ZoneRules rules) {
		List<ZoneOffsetTransition> changes = new ArrayList<>();
		ZoneOffsetTransition next = rules.nextTransition(START);
		while (next != null && next.getInstant().isBefore(END)) {
			changes.add(next);
			next = rules.nextTransition(next.getInstant());
		}
		return changes;
	}

	/**
	 * Return the first instant at which the clocks of a zone show a time or a later one.
	 */
	private static Instant shown(LocalDateTime time, ZoneRules rules) {
		Instant from = START.minusSeconds(86_400);
		for (ZoneOffsetTransition change : changes(rules)) {
			Instant reached = time.toInstant(rules.getOffset(from));
			if (reached.isBefore(change.getInstant())) {
				return reached.isBefore(from) ? from : reached;
			}
			from = change.getInstant();
		}
		Instant reached = time.toInstant(rules.getOffset(from));
		return reached.isBefore(from) ? from : reached;
	}

	private static String cron(LocalTime... times) {
		StringBuilder hours = new StringBuilder();
		for (LocalTime time : times) {
			hours.append(hours.isEmpty() ? "" : ",").append(time.getHour());
		}
		return "%d %d %s * * *".formatted(times[0].getSecond(), times[0].getMinute(), hours);
	}

	@ParameterizedTest
	@MethodSource("zones")
	void eachLocalTimeIsPlannedOnceInEachZone(ZoneId zone) {
		ZoneRules rules = zone.getRules();
		for (LocalTime time : TIMES) {
			Once trigger = new Once(cron(time), zone);
			Instant planned = trigger.next(shown(LocalDateTime.parse("2026-01-01T00:00:00"), rules).minusMillis(1));
			for (LocalDate day = LocalDate.parse("2026-01-01"); day.getYear() < 2031; day = day.plusDays(1)) {
				Instant expected = shown(day.atTime(time), rules);
				assertThat(planned).as("%s on %s in %s", time, day, zone).isEqualTo(expected);
				planned = trigger.next(expected);
			}
		}
	}

	@ParameterizedTest
	@MethodSource("zones")
	void severalTimesOfADayAreEachPlannedOnce(ZoneId zone) {
		ZoneRules rules = zone.getRules();
		LocalTime[] times = { LocalTime.of(0, 30), LocalTime.of(1, 30), LocalTime.of(2, 30), LocalTime.of(3, 30) };
		TreeSet<Instant> expected = new TreeSet<>();
		for (LocalDate day = LocalDate.parse("2026-01-01"); day.getYear() < 2031; day = day.plusDays(1)) {
			for (LocalTime time : times) {
				expected.add(shown(day.atTime(time), rules));
			}
		}
		Once trigger = new Once(cron(times), zone);
		Instant planned = expected.first().minusMillis(1);
		for (Instant each : expected) {
			planned = trigger.next(planned);
			assertThat(planned).as("in %s", zone).isEqualTo(each);
		}
	}

	@Test
	void theNextTimeIsFoundFromAnyMoment() {
		Once trigger = new Once("0 30 2 * * *", BERLIN);
		assertThat(trigger.next(Instant.parse("2027-03-27T12:00:00Z"))).isEqualTo("2027-03-28T01:00:00Z");
		assertThat(trigger.next(Instant.parse("2027-03-28T00:59:59.999Z"))).isEqualTo("2027-03-28T01:00:00Z");
		assertThat(trigger.next(Instant.parse("2027-03-28T01:00:00Z"))).isEqualTo("2027-03-29T00:30:00Z");
		assertThat(trigger.next(Instant.parse("2026-10-25T00:29:59Z"))).isEqualTo("2026-10-25T00:30:00Z");
		assertThat(trigger.next(Instant.parse("2026-10-25T00:30:00Z"))).isEqualTo("2026-10-26T01:30:00Z");
		assertThat(trigger.next(Instant.parse("2026-10-25T01:10:00Z"))).isEqualTo("2026-10-26T01:30:00Z");
	}

	@Test
	void severalTimesThatTheClocksOmitAreOne() {
		Once trigger = new Once("0 0/15 2 * * *", BERLIN);
		Instant first = trigger.next(Instant.parse("2027-03-27T12:00:00Z"));
		assertThat(first).isEqualTo("2027-03-28T01:00:00Z");
		assertThat(trigger.next(Instant.parse("2027-03-28T01:00:00Z"))).isEqualTo("2027-03-29T00:00:00Z");
	}

	@Test
	void aTimeThatWasRunTooEarlyIsNotPlannedAgain() {
		Once trigger = new Once("0 0 2 * * *", BERLIN);
		Instant planned = Instant.parse("2026-10-25T00:00:00Z");
		SimpleTriggerContext context = new SimpleTriggerContext(
				Clock.fixed(Instant.parse("2026-10-24T12:00:00Z"), ZoneOffset.UTC));
		assertThat(trigger.nextExecution(context)).isEqualTo(planned);
		context.update(planned, planned.minusMillis(5), planned.minusMillis(1));
		assertThat(trigger.nextExecution(context)).isEqualTo("2026-10-26T01:00:00Z");
	}

	@Test
	void anExpressionWithoutFurtherTimesEnds() {
		assertThat(new Once("0 0 2 31 2 *", BERLIN).next(START)).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "0 0 2 * * *", "0 0/15 2 * * *", "0 30 0,12 * * MON-FRI", "0 0 8-18 * * *",
			"0 0 8-18/2 * * *", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "0 30 2/24 * * *",
			"0 0 2/12 * * *", "0 0 0,12 * * *", "0 0 0-22 * * *" })
	void hoursAreFixed(String expression) {
		assertThat(ClockChanges.hasFixedHours(new CronTrigger(expression).getExpression())).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "0 0/15 * * * *", "0 0 */2 * * *", "0 0 0/6 * * *", "0 0 0-23 * * *", "0 0 0-23/2 * * *",
			"0 0 1/4 * * *", "0 0 0,6,12,18 * * *", "@hourly", "* * * * * *" })
	void expressionRepeatsThroughTheDay(String expression) {
		assertThat(ClockChanges.hasFixedHours(new CronTrigger(expression).getExpression())).isFalse();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			0 0 2 * * *   | Europe/Berlin       | 2026-05-01 | omitted 2027-03-28, repeated 2026-10-25
			0 0 2 * * *   | Europe/Berlin       | 2026-11-01 | omitted 2027-03-28, repeated 2027-10-31
			0 0 4 * * *   | Europe/Berlin       | 2026-05-01 | none
			0 0 2 * * SUN | America/New_York    | 2026-05-01 | omitted 2027-03-14
			0 0 2 * * MON | Europe/Berlin       | 2026-05-01 | none
			0 0 1 * * *   | America/New_York    | 2026-05-01 | repeated 2026-11-01
			0 0 2 1 * *   | Europe/Berlin       | 2026-05-01 | none
			""")
	void datesOfTheNextThirteenMonthsAreFound(String expression, ZoneId zone, LocalDate from, String expected) {
		List<String> changes = new Once(expression, zone).changes(from.atStartOfDay(zone).toInstant());
		StringBuilder text = new StringBuilder();
		for (String change : changes) {
			text.append(text.isEmpty() ? "" : ", ")
				.append(change.startsWith("does not run") ? "omitted" : "repeated")
				.append(change.substring(change.lastIndexOf(" on ") + " on".length()));
		}
		assertThat(text.isEmpty() ? "none" : text.toString()).isEqualTo(expected);
	}

	@ParameterizedTest
	@MethodSource("zones")
	void datesAreThoseOnWhichSpringPlansMoreOrFewerTimes(ZoneId zone) {
		Instant now = Instant.parse("2026-02-01T00:00:00Z");
		for (LocalTime time : TIMES) {
			Instant end = now.atZone(zone).plusMonths(13).toInstant();
			List<String> changes = new Once(cron(time), zone).changes(now);
			long expected = 0;
			Once once = new Once(cron(time), zone);
			CronTrigger trigger = new CronTrigger(cron(time), zone);
			for (Instant at = next(trigger, now); at.isBefore(end); at = next(trigger, at)) {
				expected++;
			}
			for (Instant at = once.next(now); at.isBefore(end); at = once.next(at)) {
				expected--;
			}
			long omitted = dates(changes, "does not run");
			long repeated = dates(changes, "runs twice");
			assertThat(repeated - omitted).as("%s in %s: %s", time, zone, changes).isEqualTo(expected);
		}
	}

	private static Instant next(CronTrigger trigger, Instant after) {
		return JobTrigger.laterThan(after, (asked) -> {
			SimpleTriggerContext context = new SimpleTriggerContext();
			context.update(asked, asked, asked);
			return trigger.nextExecution(context);
		});
	}

	private static long dates(List<String> changes, String what) {
		return changes.stream()
			.filter((change) -> change.startsWith(what))
			.flatMap((change) -> Stream.of(change.split(" and | on ")))
			.filter((word) -> word.matches("\\d{4}-.*"))
			.count();
	}

	@ParameterizedTest
	@ValueSource(strings = { "Europe/Berlin", "UTC", "GMT", "Z", "+05:45", "UTC+1", "GMT-03:30", "America/Havana" })
	void zoneOfATriggerIsFound(String zone) {
		Clock own = Clock.system(ZoneId.of("Asia/Tokyo"));
		assertThat(ClockChanges.zoneOf(new CronTrigger("0 0 2 * * *", ZoneId.of(zone)), own))
			.isEqualTo(ZoneId.of(zone));
		assertThat(ClockChanges.zoneOf(new CronTrigger("0 0 2 * * *"), own)).isEqualTo(own.getZone());
	}

}
