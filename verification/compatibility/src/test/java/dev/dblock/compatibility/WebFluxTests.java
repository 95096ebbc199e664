package dev.dblock.compatibility;

import java.time.Duration;

import dev.dblock.LockRefusal;
import dev.dblock.autoconfigure.DblockAutoConfiguration;
import dev.dblock.autoconfigure.DblockWebAutoConfiguration;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.config.EnableWebFlux;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What dblock does for applications with WebFlux.
 */
class WebFluxTests {

	@Test
	void requestWhoseLockIsNotAvailableGetsAConflict() {
		new ReactiveWebApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DblockAutoConfiguration.class, DblockWebAutoConfiguration.class))
			.withPropertyValues("dblock.mode=local")
			.withUserConfiguration(Refusing.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				WebTestClient.bindToApplicationContext(context)
					.build()
					.get()
					.uri("/refused")
					.exchange()
					.expectStatus()
					.isEqualTo(HttpStatus.CONFLICT)
					.expectHeader()
					.contentType(MediaType.APPLICATION_PROBLEM_JSON);
			});
	}

	@RestController
	@EnableWebFlux
	static class Refusing {

		@GetMapping("/refused")
		String refused() {
			throw new LockRefusal("order-1", null, Duration.ZERO).toException();
		}

	}

}
