package dev.dblock.job;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * How a job runs, which is a method with
 * {@link org.springframework.scheduling.annotation.Scheduled @Scheduled} and
 * {@link dev.dblock.DistributedLock @DistributedLock}. Without it, the defaults below
 * apply.
 */
@Documented
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
public @interface JobPolicy {

	/**
	 * The id of the job, under which its runs are recorded. Give one if several jobs have
	 * the same lock, so that they never overlap. Can have {@code ${placeholders}}.
	 * @return the id; empty for the name of the lock
	 */
	String id() default "";

	/**
	 * What happens to the planned time of a run whose instance crashed.
	 * {@code dblock.jobs.<id>.when-crashed} overrides it.
	 * @return what happens
	 */
	WhenCrashed whenCrashed() default WhenCrashed.SKIP;

	/**
	 * What happens to planned times at which no instance was there to run the job.
	 * {@code dblock.jobs.<id>.when-missed} overrides it.
	 * @return what happens
	 */
	WhenMissed whenMissed() default WhenMissed.SKIP;

	/**
	 * How long after its planned time, in seconds of the server's clock, a job can start:
	 * after an outage of the server, after another holder of its lock, and with
	 * {@link WhenMissed#RUN} after a time without instances. It ends earlier with the
	 * next planned time. Defaults to an hour. {@code dblock.jobs.<id>.start-within}
	 * overrides it. Without effect on fixed rates and fixed delays, which stay due.
	 * @return the time, more than zero
	 */
	long startWithinSeconds() default Long.MIN_VALUE;

	/**
	 * {@link #startWithinSeconds()} as text: takes {@code ${placeholders}} and Spring's
	 * notation for durations ({@code "90s"}, {@code "5m"}, {@code "PT1H"}).
	 * @return the text; empty for none
	 */
	String startWithinString() default "";

}
