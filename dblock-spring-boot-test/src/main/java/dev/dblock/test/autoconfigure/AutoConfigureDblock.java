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
 * Configures a test, of the whole application or of a slice, to keep its locks in memory
 * ({@code dblock.mode=local}), so that it needs no MongoDB, and to have a
 * {@link TestLocks} bean. The engine is the same as in production.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration
@TestPropertySource(properties = "dblock.mode=local")
public @interface AutoConfigureDblock {

}
