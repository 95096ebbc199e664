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

}
