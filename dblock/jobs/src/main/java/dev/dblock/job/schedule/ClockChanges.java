package dev.dblock.job.schedule;

import java.lang.reflect.Field;
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
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

import dev.dblock.job.JobPolicy.WhenClockChanges;
import dev.dblock.job.trigger.JobTrigger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.TriggerContext;
import org.springframework.scheduling.support.CronExpression;
import org.springframework.scheduling.support.CronTrigger;
import org.springframework.util.ReflectionUtils;

/**
 * What a cron expression plans on days on which the clocks of its time zone change. An
 * expression whose hours are spread evenly over the day, such as {@code *} or
 * {@code 0/2}, is an interval; others have fixed hours.
 */
final class ClockChanges {

	private static final Logger logger = LoggerFactory.getLogger(ClockChanges.class);

	/** Every date of a year has come, with time to prepare for it. */
	private static final Period FORESEEN = Period.ofMonths(13);

	private static final int HOURS = 2;

	/** In hours. */
	private static final int DAY = 24;

	private static final LocalDate ANY_DAY = LocalDate.EPOCH;

	/** The plan of the days before decides which of two equal local times comes. */
	private static final int DAYS_BEFORE = 2;

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
		ZoneId zone = hasFixedHours(trigger.getExpression()) ? zoneOf(trigger, own) : null;
		if (zone == null || zone.getRules().isFixedOffset()) {
			return declared;
		}
		Once once = new Once(trigger.getExpression(), zone);
		JobMethod method = methods.iterator().next();
		WhenClockChanges set = set(method);
		if (set != null) {
			return (set == WhenClockChanges.ONCE) ? once : declared;
		}
		List<String> changes = once.changes(own.instant());
		if (!changes.isEmpty()) {
			logger.warn(
					"The job '{}' is planned by cron {} in {}. When the clocks change there, it {}. Choose hours that the"
							+ " clocks neither omit nor repeat, set zone = \"UTC\", or set @JobPolicy(whenClockChanges ="
							+ " ONCE). If it may be so, set dblock.jobs.<id>.when-clock-changes=as-planned",
					method.id(), trigger.getExpression(), zone, String.join(" and ", changes));
		}
		return declared;
	}

	private static @Nullable WhenClockChanges set(JobMethod method) {
		try {
			return method.declaration().whenClockChanges();
		}
		catch (IllegalArgumentException ex) {
			// The startup fails because of the declaration
			return WhenClockChanges.AS_PLANNED;
		}
	}

	/**
	 * Whether the hours of an expression are not spread evenly over the day, at intervals
	 * of less than half a day.
	 */
	static boolean hasFixedHours(String expression) {
		CronExpression atFullHours = CronExpression
			.parse("0 0 %s * * *".formatted(expression.trim().split("\\s+")[HOURS]));
		SortedSet<Integer> hours = new TreeSet<>();
		LocalDateTime time = atFullHours.next(ANY_DAY.atStartOfDay().minusNanos(1));
		for (; time != null && time.toLocalDate().equals(ANY_DAY); time = atFullHours.next(time)) {
			hours.add(time.getHour());
		}
		int distance = DAY / hours.size();
		boolean even = distance * hours.size() == DAY
				&& hours.stream().allMatch((hour) -> (hour - hours.first()) % distance == 0);
		return !even || distance >= DAY / 2;
	}

	/**
	 * Return the time zone of a trigger, which has no method for it.
	 * @return the zone; {@code null} if it cannot be read
	 */
	static @Nullable ZoneId zoneOf(CronTrigger trigger, Clock own) {
		Field field = ReflectionUtils.findField(CronTrigger.class, "zoneId", ZoneId.class);
		if (field == null || !field.trySetAccessible()) {
			return null;
		}
		ZoneId zone = (ZoneId) ReflectionUtils.getField(field, trigger);
		return (zone != null) ? zone : own.getZone();
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
			Instant from = day.atStartOfDay(this.zone).toInstant();
			Instant until = change.getInstant()
				.atZone(this.zone)
				.toLocalDate()
				.plusDays(1)
				.atStartOfDay(this.zone)
				.toInstant();
			long difference = 0;
			Instant planned = planned(day.minusDays(DAYS_BEFORE).atStartOfDay(this.zone).toInstant());
			for (; planned != null && planned.isBefore(until); planned = planned(planned)) {
				difference += planned.isBefore(from) ? 0 : 1;
			}
			Instant once = next(from.minusNanos(1));
			for (; once != null && once.isBefore(until); once = next(once)) {
				difference--;
			}
			return difference;
		}

		/**
		 * Return what Spring plans after an instant, as {@link JobTrigger} asks for it.
		 */
		private @Nullable Instant planned(Instant after) {
			return JobTrigger.laterThan(after, (asked) -> {
				ZonedDateTime next = this.expression.next(asked.atZone(this.zone));
				return (next != null) ? next.toInstant() : null;
			});
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
