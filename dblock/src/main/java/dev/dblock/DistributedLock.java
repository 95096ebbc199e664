package dev.dblock;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;
import org.springframework.core.annotation.AliasFor;

/**
 * Runs a method under a distributed lock: acquired before the call, renewed while it
 * runs, released at its end.
 *
 * <pre class="code">
 * &#64;Scheduled(cron = "0 0 2 * * *")
 * &#64;DistributedLock(name = "nightly-invoices", leaseSeconds = 60)
 * void invoice() { … }
 *
 * &#64;DistributedLock(name = "order-#{#order.id}", leaseSeconds = 30, waitSeconds = 5)
 * void settle(Order order) { … }
 * </pre>
 *
 * Works on methods, on classes (for each method that others can call: neither private nor
 * static, nor final without being public, nor one that makes a bean; and for the public
 * ones that are inherited from classes without the annotation) and on interfaces (for
 * what they inherit, too, even if a lambda or a proxy implements them), and as a
 * meta-annotation. A method's own annotation comes before that of its class, an
 * implementation's before that of its interface. Calls from within the same object do not
 * pass the proxy and are not locked. A method that is called in a thread that works under
 * the same lock already re-enters it: the lease then lasts at least as long as that
 * method asks for, and is renewed while it runs if it asks for that, but the minimum and
 * maximum hold are those of the outermost call.
 * <p>
 * Repeated, or together with an annotation of the application's own that has it, it locks
 * by several names, all or none: see {@link DistributedLocks}, which also has a method be
 * locked by what its class says as well.
 * <p>
 * Each number has a {@code …String} twin that takes {@code ${placeholders}} and Spring's
 * notation for durations ({@code "90s"}, {@code "5m"}, {@code "PT1H"}); a number without
 * a unit means seconds. Only one of the two may be given. What is left out comes from
 * {@code dblock.*}.
 */
@Target({ ElementType.METHOD, ElementType.TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@Reflective(DistributedLockReflectiveProcessor.class)
@Repeatable(DistributedLocks.class)
public @interface DistributedLock {

	/**
	 * What stands for "left out" in the attributes that are numbers.
	 */
	long LEFT_OUT = Long.MIN_VALUE;

	/**
	 * The name of the lock, see {@link #name()}.
	 */
	@AliasFor("name")
	String value() default "";

	/**
	 * The name of the lock: text, {@code ${placeholders}}, and expressions in
	 * {@code #{…}} on the arguments by name ({@code #order}), by index ({@code #a0},
	 * {@code #p0}), and on {@code #root} ({@code method}, {@code target},
	 * {@code targetClass}, {@code methodName}, {@code args}). Left out, the class and the
	 * method. A part that evaluates to {@code null} or to nothing is refused.
	 */
	@AliasFor("value")
	String name() default "";

	/**
	 * The database that has the lock, in an application with several: the name of a
	 * {@code MongoDatabaseFactory} bean. Takes {@code ${placeholders}}. Left out, the one
	 * that {@code dblock.mongodb.database-factory} names, or the primary or only one.
	 */
	String databaseFactory() default "";

	/**
	 * How long, in seconds of the server's clock, the lock is kept for a holder that the
	 * server hears nothing from.
	 */
	long leaseSeconds() default LEFT_OUT;

	/**
	 * {@link #leaseSeconds()} as text.
	 */
	String leaseString() default "";

	/**
	 * How long, in seconds, to wait while somebody else holds the lock. Zero asks once.
	 */
	long waitSeconds() default LEFT_OUT;

	/**
	 * {@link #waitSeconds()} as text.
	 */
	String waitString() default "";

	/**
	 * How long, in seconds from the grant, the name stays taken even if the method ends
	 * sooner. Not longer than the lease.
	 */
	long minHoldSeconds() default LEFT_OUT;

	/**
	 * {@link #minHoldSeconds()} as text.
	 */
	String minHoldString() default "";

	/**
	 * How long, in seconds from the grant, the lease is renewed at most. Zero means
	 * without end.
	 */
	long maxHoldSeconds() default LEFT_OUT;

	/**
	 * {@link #maxHoldSeconds()} as text.
	 */
	String maxHoldString() default "";

	/**
	 * Whether the lease is renewed by itself while the method runs.
	 */
	boolean autoRenew() default true;

	/**
	 * Whether to lock at all: an expression on the same things as those in
	 * {@link #name()}, without {@code #{…}} around it, such as
	 * {@code "#order.total > 100"}. Where it is false the method runs without the lock;
	 * where it gives neither true nor false, or cannot be evaluated, the method does not
	 * run. Left out, always.
	 */
	String condition() default "";

	/**
	 * What the method does when the lock is not available within the wait.
	 */
	WhenUnavailable whenUnavailable() default WhenUnavailable.DEFAULT;

	/**
	 * The name of a method of the same class that is called in place of this one when the
	 * lock is not available within the wait. It takes the same arguments, or in addition
	 * the {@link LockUnavailableException} as the last, returns the type of this method
	 * or a subtype, and declares no checked exception that this method does not declare.
	 * It is called on the bean itself, without a lock and without what other annotations
	 * would put around it; it may be private. Left out, {@link #whenUnavailable()} says
	 * what happens; only one of the two may be given.
	 */
	String fallback() default "";

	/**
	 * What happens to the thread when the lease is lost while the method runs.
	 */
	WhenLost whenLost() default WhenLost.NOTIFY;

}
