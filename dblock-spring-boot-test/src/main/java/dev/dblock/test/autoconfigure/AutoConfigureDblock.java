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
 * <p>
 * Schedules of locked jobs do not run, so that only the test decides when a job is called
 * ({@link TestLocks#job(String)}); {@code dblock.test.run-schedules=true} has them run.
 * Methods with {@code @Scheduled} alone are not affected.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration
@TestPropertySource(properties = "dblock.mode=local")
public @interface AutoConfigureDblock {

}
