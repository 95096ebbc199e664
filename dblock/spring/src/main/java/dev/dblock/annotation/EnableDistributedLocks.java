package dev.dblock.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.context.annotation.Import;

/**
 * Locks methods with {@link dev.dblock.DistributedLock @DistributedLock} in an
 * application without Spring Boot. The application declares a {@code LockEngine} bean,
 * such as a {@link dev.dblock.core.DefaultLockEngine}. With the module
 * {@code dblock-jobs}, each planned time of a method that is scheduled as well runs at
 * most once, as with Spring Boot; without it, scheduled calls only exclude each other.
 * Properties ({@code dblock.*}) are not read.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Import({ DistributedLockConfiguration.class, DistributedLockConfiguration.Jobs.class,
		DistributedLockConfiguration.InfrastructureRegistrar.class })
public @interface EnableDistributedLocks {

	/**
	 * The order of the lock among the advisors of a method.
	 * @return the order, by default inside of retries and outside of transactions
	 */
	int order() default DistributedLockAdvisor.DEFAULT_ORDER;

	/**
	 * Whether locked beans are proxied by subclasses, also where they have interfaces.
	 * @return whether they are
	 */
	boolean proxyTargetClass() default true;

}
