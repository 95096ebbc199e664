package dev.dblock;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.core.annotation.AliasFor;

/**
 * Runs a method under a distributed lock. The lock is acquired before the call, renewed
 * while the method runs, and released when it ends.
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
 * Can be declared on methods, classes and interfaces, and as a meta-annotation:
 * <ul>
 * <li>On a class, it applies to each method that other objects can call. Private and
 * static methods, final methods that are not public, and methods that create a bean are
 * excluded. Public methods that are inherited from classes without the annotation are
 * included.</li>
 * <li>On an interface, it also applies to the methods that the interface inherits, even
 * if a lambda expression or a proxy implements it.</li>
 * </ul>
 * An annotation on a method takes precedence over that of its class, and an annotation on
 * an implementation over that of its interface.
 * <p>
 * Calls from within the same object do not pass through the proxy and are not locked. A
 * method that is called in a thread that already works under the same lock re-enters the
 * lock. The lease then lasts at least as long as that method requires, and is renewed
 * while the method runs if the method requires that. The minimum and maximum hold are
 * those of the outermost call.
 * <p>
 * If the annotation is repeated, or combined with a custom annotation that has it as a
 * meta-annotation, the method runs under several locks, all or none. See
 * {@link DistributedLocks}, which can also combine the locks of a method with those of
 * its class.
 * <p>
 * Each numeric attribute has a {@code …String} counterpart that accepts
 * {@code ${placeholders}} and, for a duration, Spring's format ({@code "90s"},
 * {@code "5m"}, {@code "PT1H"}). A duration without a unit means seconds. Only one of the
 * two can be set. An attribute that is not set defaults to {@code dblock.*}.
 */
@Target({ ElementType.METHOD, ElementType.TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@Repeatable(DistributedLocks.class)
public @interface DistributedLock {

	/**
	 * The value of a numeric attribute that is not set.
	 */
	long NOT_SET = Long.MIN_VALUE;

	/**
	 * Alias for {@link #name()}.
	 */
	@AliasFor("name")
	String value() default "";

	/**
	 * The name of the lock: text, {@code ${placeholders}}, and expressions in
	 * {@code #{…}}. Expressions can refer to the arguments by name ({@code #order}) or
	 * index ({@code #a0}, {@code #p0}), and to {@code #root} ({@code method},
	 * {@code target}, {@code targetClass}, {@code methodName}, {@code args}). An
	 * expression that evaluates to {@code null} or to an empty text is rejected. Defaults
	 * to the class and the method.
	 */
	@AliasFor("value")
	String name() default "";

	/**
	 * The name of the {@code MongoDatabaseFactory} bean for the database that stores the
	 * lock, in an application with several databases. Can contain
	 * {@code ${placeholders}}. Defaults to {@code dblock.mongodb.database-factory}, or
	 * else to the primary or only bean.
	 */
	String databaseFactory() default "";

	/**
	 * The lease, in seconds of the server's clock: how long the server keeps the lock
	 * without hearing from its holder.
	 */
	long leaseSeconds() default NOT_SET;

	/**
	 * {@link #leaseSeconds()} as text.
	 */
	String leaseString() default "";

	/**
	 * How long, in seconds, to wait while another holder has the lock. With zero, the
	 * lock is requested once.
	 */
	long waitSeconds() default NOT_SET;

	/**
	 * {@link #waitSeconds()} as text.
	 */
	String waitString() default "";

	/**
	 * The minimum hold: how long, in seconds from the grant, the lock remains unavailable
	 * to others even if the method ends sooner. Must not be longer than the lease.
	 */
	long minHoldSeconds() default NOT_SET;

	/**
	 * {@link #minHoldSeconds()} as text.
	 */
	String minHoldString() default "";

	/**
	 * The maximum hold: for how long, in seconds from the grant, the lease is renewed at
	 * most. Zero means no limit.
	 */
	long maxHoldSeconds() default NOT_SET;

	/**
	 * {@link #maxHoldSeconds()} as text.
	 */
	String maxHoldString() default "";

	/**
	 * How many holders the lock can have at the same time, from 1 to 1,000, in all
	 * instances together. Each of them holds one permit, with a lease and a fencing token
	 * of its own. By default, the lock has one holder. A method that runs once for each
	 * planned time, or again on request, has no permits.
	 */
	long permits() default NOT_SET;

	/**
	 * {@link #permits()} as text.
	 */
	String permitsString() default "";

	/**
	 * Whether the lease is renewed automatically while the method runs.
	 */
	boolean autoRenew() default true;

	/**
	 * The condition for locking: an expression that can refer to the same variables as
	 * those in {@link #name()}, without {@code #{…}} around it, such as
	 * {@code "#order.total > 100"}. If it is false, the method runs without the lock. If
	 * it evaluates to neither true nor false, or cannot be evaluated, the method does not
	 * run. By default, the method is always locked.
	 */
	String condition() default "";

	/**
	 * How the method behaves if the lock is not available within the wait.
	 */
	WhenUnavailable whenUnavailable() default WhenUnavailable.DEFAULT;

	/**
	 * The name of a method of the same class that is called instead of this one if the
	 * lock is not available within the wait. It has the same parameters, optionally
	 * followed by a {@link LockUnavailableException}. It returns the type of this method
	 * or a subtype, and declares no checked exception that this method does not declare.
	 * It can be private. It is called on the bean itself, without a lock and without the
	 * advice of other annotations. By default, {@link #whenUnavailable()} applies; only
	 * one of the two can be set.
	 */
	String fallback() default "";

	/**
	 * The effect on the thread if the lease is lost while the method runs.
	 */
	WhenLost whenLost() default WhenLost.NOTIFY;

}
