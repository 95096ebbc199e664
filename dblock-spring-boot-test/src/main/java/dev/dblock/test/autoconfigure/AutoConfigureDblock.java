package dev.dblock.test.autoconfigure;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.test.context.TestPropertySource;

/**
 * Has a test, of the whole application or of a slice, take its locks in memory
 * ({@code dblock.mode=local}), with no MongoDB to be found, and have a {@link TestLocks}
 * bean. Locks are taken by the same engine as ever.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration
@TestPropertySource(properties = "dblock.mode=local")
public @interface AutoConfigureDblock {

}
