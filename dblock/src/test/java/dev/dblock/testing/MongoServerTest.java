package dev.dblock.testing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives the tests of a class, or one test, a MongoDB server, which they take as a
 * parameter of type {@link MongoServer} or {@link MongoReplicaSet}. A test that needs a
 * real server is skipped, with the reason, where none can be had.
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ExtendWith(MongoServerExtension.class)
@Tag("mongodb")
public @interface MongoServerTest {

	/**
	 * The kind of server.
	 * @return the kind
	 */
	MongoServerKind kind() default MongoServerKind.ANY;

	/**
	 * Whether the annotated class or method has a server of its own, started for it and
	 * stopped after it, in place of the one that all tests of the kind share.
	 * @return whether the server is private
	 */
	boolean fresh() default false;

	/**
	 * Whether the test kills, pauses or counts on the server or makes its commands fail,
	 * so that only processes started by the tests will do. Implied by a parameter of type
	 * {@link MongoReplicaSet}. After each test that disturbed a server, it is mended.
	 * @return whether the test needs to control the server
	 */
	boolean faults() default false;

}
