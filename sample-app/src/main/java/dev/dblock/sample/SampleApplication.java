package dev.dblock.sample;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.EnableScheduling;

/**
 * The sample application. Start it twice, the second time with another
 * {@code --server.port}, and see on {@code http://localhost:8080/} which instance holds
 * which lock.
 */
@SpringBootApplication
@EnableScheduling
public class SampleApplication {

	private static final Logger logger = LoggerFactory.getLogger(SampleApplication.class);

	public static void main(String[] args) {
		SpringApplication.run(SampleApplication.class, args);
	}

	@EventListener(ApplicationReadyEvent.class)
	void ready() {
		logger.info("STARTED   as process {}", ProcessHandle.current().pid());
	}

}
