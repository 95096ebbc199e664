package com.acme;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.EnableScheduling;

/**
 * An application with locked methods and a database.
 */
@SpringBootApplication
@EnableScheduling
class Application {

	@Bean
	Database database() {
		return new Database();
	}

}
