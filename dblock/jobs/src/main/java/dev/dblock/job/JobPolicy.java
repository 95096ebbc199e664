package dev.dblock.job;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Declares how a job runs. A job is a method with
 * {@link org.springframework.scheduling.annotation.Scheduled @Scheduled} and
 * {@link dev.dblock.DistributedLock @DistributedLock}. Without this annotation, the
 * defaults below apply. Start-up fails if the annotation is present on a method that is
 * not a job.
 */
@Documented
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
public @interface JobPolicy {

	/**
	 * The id of the job, under which its runs are recorded. Set it if several jobs have
	 * the same lock, so that they never overlap, or if several beans inherit the method.
	 * Can contain {@code ${placeholders}} and {@code #{expressions}}, which can use
	 * {@code beanName}, the name of the bean: {@code #{beanName}-import}. If another
	 * version of the application has another literal id for the same method of the same
	 * bean, each time of a cron expression or a trigger still runs once, as long as
	 * {@code spring.application.name} is set. The record with the pause, the history and
	 * the runs to repeat is another one.
	 * @return the id; empty for the name of the lock
	 */
	String id() default "";

	/**
	 * How to handle the planned time of a run whose instance crashed.
	 * {@code dblock.jobs.<id>.when-crashed} overrides it.
	 * @return the behavior
	 */
	WhenCrashed whenCrashed() default WhenCrashed.SKIP;

	/**
	 * How to handle planned times at which no instance was available to run the job.
	 * {@code dblock.jobs.<id>.when-missed} overrides it.
	 * @return the behavior
	 */
	WhenMissed whenMissed() default WhenMissed.SKIP;

	/**
	 * How long after its planned time, in seconds of the server's clock, a job can start:
	 * after an outage of the server, after another holder of its lock, and with
	 * {@link WhenMissed#RUN} after a time without instances. The period ends earlier with
	 * the next planned time. Defaults to an hour. {@code dblock.jobs.<id>.start-within}
	 * overrides it. Has no effect on fixed rates and fixed delays, which remain due.
	 * @return the time, more than zero
	 */
	long startWithinSeconds() default Long.MIN_VALUE;

	/**
	 * {@link #startWithinSeconds()} as text: accepts {@code ${placeholders}} and Spring's
	 * duration format ({@code "90s"}, {@code "5m"}, {@code "PT1H"}).
	 * @return the text; empty for none
	 */
	String startWithinString() default "";

	/**
	 * What a {@code cron} with fixed hours plans when the clocks of its time zone change.
	 * {@code dblock.jobs.<id>.when-clock-changes} overrides it.
	 * @return the behavior
	 */
	WhenClockChanges whenClockChanges() default WhenClockChanges.AS_PLANNED;

	/**
	 * How many shards each planned time has, from 1 to 1,000. The method is called once
	 * for each shard, on all instances that are up: one that has finished a shard takes
	 * the next one that is free. {@link JobRun#current()} has the number of the shard.
	 * Each shard has a lock of its own, such as {@code report (shard 3)}, with its own
	 * run record and fence. A planned time keeps its number of shards while instances
	 * with another one are started. Needs a cron expression or a trigger.
	 * @return the number; not set for a job without shards
	 */
	long shards() default Long.MIN_VALUE;

	/**
	 * {@link #shards()} as text: accepts {@code ${placeholders}}.
	 * @return the text; empty for none
	 */
	String shardsString() default "";

	/**
	 * How many shards an instance works on at the same time, each in a thread of the
	 * scheduler.
	 * @return the number, from 1 to 1,000; not set for one
	 */
	long concurrency() default Long.MIN_VALUE;

	/**
	 * Behavior for the planned time of a run whose instance crashed, or lost the lock
	 * before the run ended, and of a run that was interrupted.
	 */
	enum WhenCrashed {

		/**
		 * It is not run again; the job continues with its next planned time.
		 */
		SKIP,

		/**
		 * It is run again as soon as its lease has ended and an instance requests it, in
		 * at most three attempts. The work has to be repeatable.
		 */
		RERUN

	}

	/**
	 * What a cron expression plans on days on which the clocks of its time zone change.
	 * Expressions that repeat through the day, such as {@code 0 0/15 * * * *}, are
	 * intervals, and continue in any case.
	 */
	enum WhenClockChanges {

		/**
		 * What Spring plans: a time that the clocks omit is not run, and a time that they
		 * repeat is run twice in most time zones. The dates of the next thirteen months
		 * are logged at start-up.
		 */
		AS_PLANNED,

		/**
		 * Each local time once: a time that the clocks omit is run at the first moment
		 * after it, and a time that they repeat is run the first time.
		 */
		ONCE

	}

	/**
	 * Behavior for planned times at which no instance was available to run the job.
	 */
	enum WhenMissed {

		/**
		 * They are not run; the job continues with its next planned time.
		 */
		SKIP,

		/**
		 * The first instance that starts runs the latest of them, once, within
		 * {@link JobPolicy#startWithinSeconds() startWithin}. Missed times are counted
		 * from the last recorded run: only planned times after that one are missed. None
		 * is missed if no run was ever recorded, or if no schedule of the job plans the
		 * time of that run, because the schedule was changed. Times that were planned
		 * while the job was paused are not missed. A fixed rate or a fixed delay needs no
		 * such rule: it is due after its last run, regardless of the instance that
		 * starts.
		 */
		RUN

	}

}
