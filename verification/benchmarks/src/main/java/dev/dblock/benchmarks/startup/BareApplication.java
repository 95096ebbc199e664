package dev.dblock.benchmarks.startup;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;

/**
 * Application that does nothing and does not use locks. The class path decides whether
 * dblock is present. Prints a line once it has started.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class BareApplication {

	/**
	 * Last line of output before shutdown.
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
