package dev.dblock.job;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Declares that every instance runs a method with
 * {@link org.springframework.scheduling.annotation.Scheduled @Scheduled}, such as one
 * that refreshes data in memory, or one that acquires a lock itself. Other scheduled
 * methods without a lock are reported at start-up ({@code dblock.jobs.unlocked}).
 * <p>
 * On a class, it applies to all its scheduled methods. A bean of a class that cannot be
 * changed can have it on its {@code @Bean} method. Has no effect on methods with a lock.
 */
@Documented
@Target({ ElementType.METHOD, ElementType.TYPE })
@Retention(RetentionPolicy.RUNTIME)
public @interface RunsOnEveryInstance {

}
