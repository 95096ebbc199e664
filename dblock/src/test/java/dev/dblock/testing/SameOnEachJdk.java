package dev.dblock.testing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.Tag;

/**
 * Tests that take long, most of them since they wait for servers, networks and leases,
 * and see of the JDK nothing that others do not. {@code .ci/run} leaves them out on its
 * second JDK.
 */
@Tag("same-on-each-jdk")
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface SameOnEachJdk {

}
