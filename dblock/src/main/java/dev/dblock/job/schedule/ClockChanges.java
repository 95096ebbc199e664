package dev.dblock.job.schedule;

import java.time.Clock;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.Period;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.zone.ZoneOffsetTransition;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.dblock.job.JobPolicy.WhenClockChanges;
import dev.dblock.job.schedule.JobMethod.Declaration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.TriggerContext;
import org.springframework.scheduling.support.CronExpression;
import org.springframework.scheduling.support.CronTrigger;

/**
 * What a cron expression plans on days on which the clocks of its time zone change. An
 * expression has fixed hours unless it repeats through the day, that is, unless its hours
 * contain {@code *} or are a step without an end ({@code 0/2}).
 */
final class ClockChanges {

	private static final Logger logger = LoggerFactory.getLogger(ClockChanges.class);

	/** Every date of a year has come, with time to prepare for it. */
	private static final Period FORESEEN = Period.ofMonths(13);

	private static final int HOURS = 2;

	private static final int MOST_OFFSET_MINUTES = 18 * 60;

	/** Those that triggers were found to have, which others are likely to have. */
	private static final Set<ZoneId> KNOWN = ConcurrentHashMap.newKeySet();

	private ClockChanges() {
	}

	/**
	 * Return the trigger by which a job is scheduled. If it is the one that the
	 * application declared, the next dates are logged on which it omits or repeats times.
	 * @param declared the trigger that the application declared
	 * @param methods the job; several if several beans have its class
	 * @param own the scheduler's clock
	 */
	static Trigger adapt(Trigger declared, Collection<JobMethod> methods, Clock own) {
		// A subclass plans by rules of its own
		if (declared.getClass() != CronTrigger.class) {
			return declared;
		}
		CronTrigger trigger = (CronTrigger) declared;
		if (!hasFixedHours(trigger.getExpression())) {
			return declared;
		}
		ZoneId zone = zoneOf(trigger, own);
		if (zone == null || zone.getRules().isFixedOffset()) {
			return declared;
		}
		Once once = new Once(trigger.getExpression(), zone);
		JobMethod method = methods.iterator().next();
		if (isOnce(method)) {
			return once;
		}
		List<String> changes = once.changes(own.instant());
		if (!changes.isEmpty()) {
			logger.warn(
					"The job '{}' is planned by cron {} in {}. When the clocks change there, it {}. Choose hours that the"
							+ " clocks neither omit nor repeat, set zone = \"UTC\", or set @JobPolicy(whenClockChanges ="
							+ " ONCE)",
					method.id(), trigger.getExpression(), zone, String.join(" and ", changes));
		}
		return declared;
	}

	private static boolean isOnce(JobMethod method) {
		try {
			Declaration declaration = method.declaration();
			return declaration.whenClockChanges() == WhenClockChanges.ONCE;
		}
		catch (IllegalArgumentException ex) {
			// The startup fails because of the declaration
			return false;
		}
	}

	static boolean hasFixedHours(String expression) {
		String hours = expression.trim().split("\\s+")[HOURS];
		return !hours.contains("*")
				&& Stream.of(hours.split(",")).noneMatch((part) -> part.contains("/") && !part.contains("-"));
	}

	/**
	 * Return the time zone of a trigger, which it reveals only when it is compared with
	 * another one.
	 * @return the zone; {@code null} if it is none that can be found
	 */
	static @Nullable ZoneId zoneOf(CronTrigger trigger, Clock own) {
		if (trigger instanceof Once once) {
			return once.zone;
		}
		String expression = trigger.getExpression();
		if (trigger.equals(new CronTrigger(expression))) {
			return own.getZone();
		}
		ZoneId found = Stream
			.of(KNOWN.stream(), ZoneId.getAvailableZoneIds().stream().map(ZoneId::of), offsets("", "UTC", "GMT", "UT"))
			.flatMap((zones) -> zones)
			.filter((zone) -> trigger.equals(new CronTrigger(expression, zone)))
			.findFirst()
			.orElse(null);
		if (found != null) {
			KNOWN.add(found);
		}
		return found;
	}

	private static Stream<ZoneId> offsets(String... prefixes) {
		return IntStream.rangeClosed(-MOST_OFFSET_MINUTES / 15, MOST_OFFSET_MINUTES / 15)
			.mapToObj((quarters) -> ZoneOffset.ofTotalSeconds(quarters * 15 * 60))
			.flatMap((offset) -> Stream.of(prefixes).map((prefix) -> ZoneId.ofOffset(prefix, offset)));
	}

	/**
	 * Plans each local time of an expression once. A time that the clocks omit is planned
	 * for the first moment after it, together with others that they omit, and a time that
	 * they repeat for the first of both.
	 */
	static final class Once extends CronTrigger {

		private final CronExpression expression;

		private final ZoneId zone;

		Once(String expression, ZoneId zone) {
			super(expression, zone);
			this.expression = CronExpression.parse(expression);
			this.zone = zone;
		}

		@Override
		public @Nullable Instant nextExecution(TriggerContext context) {
			Instant last = context.lastCompletion();
			Instant scheduled = context.lastScheduledExecution();
			// As in the superclass: not a second time for a time that came too early
			if (last != null && scheduled != null && last.isBefore(scheduled)) {
				last = scheduled;
			}
			return next((last != null) ? last : context.getClock().instant());
		}

		@Nullable Instant next(Instant after) {
			LocalDateTime local = LocalDateTime.ofInstant(after, this.zone);
			for (local = this.expression.next(local); local != null; local = this.expression.next(local)) {
				Instant planned = instant(local);
				// Otherwise the clocks have repeated it
				if (planned.isAfter(after)) {
					return planned;
				}
			}
			return null;
		}

		private Instant instant(LocalDateTime local) {
			List<ZoneOffset> offsets = this.zone.getRules().getValidOffsets(local);
			return offsets.isEmpty() ? this.zone.getRules().getTransition(local).getInstant()
					: local.toInstant(offsets.get(0));
		}

		/**
		 * Return how the plan without this class differs from this one in the next
		 * thirteen months, as text.
		 */
		List<String> changes(Instant now) {
			List<LocalDate> omitted = new ArrayList<>();
			List<LocalDate> repeated = new ArrayList<>();
			Instant end = now.atZone(this.zone).plus(FORESEEN).toInstant();
			ZoneOffsetTransition change = this.zone.getRules().nextTransition(now);
			while (change != null && change.getInstant().isBefore(end)) {
				LocalDate day = change.isGap() ? change.getDateTimeBefore().toLocalDate()
						: change.getDateTimeAfter().toLocalDate();
				long difference = difference(day, change);
				if (difference != 0) {
					((difference < 0) ? omitted : repeated).add(day);
				}
				change = this.zone.getRules().nextTransition(change.getInstant());
			}
			List<String> changes = new ArrayList<>();
			if (!omitted.isEmpty()) {
				changes.add("does not run at the omitted time on " + dates(omitted));
			}
			if (!repeated.isEmpty()) {
				changes.add("runs twice at the repeated time on " + dates(repeated));
			}
			return changes;
		}

		private static String dates(List<LocalDate> dates) {
			return dates.stream().map(LocalDate::toString).collect(Collectors.joining(" and "));
		}

		/**
		 * Return how many more times Spring plans around a change of the clocks.
		 */
		private long difference(LocalDate day, ZoneOffsetTransition change) {
			ZonedDateTime from = day.atStartOfDay(this.zone).minusNanos(1);
			Instant until = change.getInstant()
				.atZone(this.zone)
				.toLocalDate()
				.plusDays(1)
				.atStartOfDay(this.zone)
				.toInstant();
			long difference = 0;
			ZonedDateTime planned = this.expression.next(from);
			while (planned != null && planned.toInstant().isBefore(until)) {
				difference++;
				planned = this.expression.next(planned);
			}
			Instant once = next(from.toInstant());
			while (once != null && once.isBefore(until)) {
				difference--;
				once = next(once);
			}
			return difference;
		}

		@Override
		public boolean equals(@Nullable Object other) {
			return other instanceof Once && super.equals(other);
		}

		@Override
		public int hashCode() {
			return super.hashCode();
		}

	}

}
