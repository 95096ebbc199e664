package dev.dblock;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * Runs a method under several distributed locks, all or none. It stands there by itself
 * when {@link DistributedLock @DistributedLock} is repeated:
 *
 * <pre class="code">
 * &#64;DistributedLock(name = "account-#{#from}", waitSeconds = 5)
 * &#64;DistributedLock(name = "account-#{#to}", waitSeconds = 5)
 * void transfer(String from, String to, long amount) { … }
 * </pre>
 *
 * Whatever order they are declared in, the locks are acquired in the order of their
 * names, as by {@link LockOperations#acquireAll(java.util.Map)}, so that calls cannot
 * wait for each other in a circle. Each is held the way its own annotation says, and
 * waited for as long as that says, counted from the beginning for all of them; what is
 * set for its name ({@code dblock.locks}) comes before that, as for any other lock. A
 * lock whose condition is not met is left out. Of locks that turn out to have the same
 * name in a call, the one that is declared first counts.
 * <p>
 * When one is not available, none is held, and the method is skipped, replaced, or ends
 * in a {@link LockUnavailableException}. That is declared for the method: it is enough
 * that one of the annotations says so, and those that do must agree. Annotations that
 * contradict each other stop the start of the application.
 */
@Target({ ElementType.METHOD, ElementType.TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@Reflective(DistributedLockReflectiveProcessor.class)
public @interface DistributedLocks {

	/**
	 * The locks.
	 */
	DistributedLock[] value();

	/**
	 * Whether a method is locked by what its class says as well. Otherwise what stands on
	 * a method comes in the place of what stands on its class. Means nothing on a class.
	 */
	boolean alsoOfClass() default false;

}
