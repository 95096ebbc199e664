package dev.dblock.benchmarks.startup;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;

/**
 * An application that does nothing, and knows nothing of locks: whether dblock is beside
 * it is a matter of the class path. It says when it has started.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class BareApplication {

	/**
	 * The last line of output before the end.
	 */
	static final String READY = "ready";

	public static void main(String[] args) {
		start(BareApplication.class, args);
	}

	static void start(Class<?> application, String[] args) {
		SpringApplication.run(application, args);
		System.out.println(READY);
	}

}
