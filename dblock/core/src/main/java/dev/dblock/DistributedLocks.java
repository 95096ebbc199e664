package dev.dblock;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a method under several distributed locks, all or none. It is the container
 * annotation for repeated {@link DistributedLock @DistributedLock} annotations:
 *
 * <pre class="code">
 * &#64;DistributedLock(name = "account-#{#from}", waitSeconds = 5)
 * &#64;DistributedLock(name = "account-#{#to}", waitSeconds = 5)
 * void transfer(String from, String to, long amount) { … }
 * </pre>
 *
 * The locks are acquired in the order of their names, regardless of the order of
 * declaration, as by {@link LockOperations#acquireAll(java.util.Map)}. This rules out a
 * circular wait between calls. Each lock is held as its own annotation declares. Its wait
 * is that of its own annotation too, but all waits count from the beginning of the call.
 * Settings for its name ({@code dblock.locks}) take precedence, as for any other lock. A
 * lock whose condition is not met is omitted. If several locks of a call have the same
 * name, the one that is declared first applies.
 * <p>
 * If one of the locks is not available, none is held. The method is then skipped,
 * replaced by its fallback, or ends with a {@link LockUnavailableException}. This
 * behavior applies to the method as a whole: it is sufficient that one of the annotations
 * declares it, and those that do must agree. Annotations that contradict each other make
 * the application fail at startup.
 */
@Target({ ElementType.METHOD, ElementType.TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
public @interface DistributedLocks {

	/**
	 * The locks.
	 */
	DistributedLock[] value();

	/**
	 * Whether the locks that are declared on the class apply to the method as well. By
	 * default, the locks on a method replace those on its class. Has no effect on a
	 * class.
	 */
	boolean alsoOfClass() default false;

}
