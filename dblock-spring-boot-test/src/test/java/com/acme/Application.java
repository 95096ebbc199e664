package com.acme;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/**
 * An application with locked methods and a database.
 */
@SpringBootApplication
class Application {

	@Bean
	Database database() {
		return new Database();
	}

}
