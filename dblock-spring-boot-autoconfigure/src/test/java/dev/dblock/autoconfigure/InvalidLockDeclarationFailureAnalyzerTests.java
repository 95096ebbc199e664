package dev.dblock.autoconfigure;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.invocation.InvalidLockDeclarationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@ExtendWith(OutputCaptureExtension.class)
class InvalidLockDeclarationFailureAnalyzerTests {

	@Test
	void failedStartReportsProblemPlaceAndRemedy(CapturedOutput output) {
		SpringApplicationBuilder application = new SpringApplicationBuilder(Application.class)
			.web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.logStartupInfo(false)
			.properties("spring.mongodb.uri=mongodb://127.0.0.1:1/test?serverSelectionTimeoutMS=100");
		assertThatExceptionOfType(InvalidLockDeclarationException.class).isThrownBy(application::run);
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Locked methods cannot work as declared:")
			.contains("    - bean 'orders', " + Orders.class.getName()
					+ "#settle(String): the name 'order-#{#order.}' has an expression that cannot be parsed: ")
			.contains("    - bean 'orders', " + Orders.class.getName()
					+ "#cancel(): is final, so no proxy can lock it; make it neither private nor final")
			.contains("Fix each @DistributedLock")
			.doesNotContain("\tat ");
	}

	static class Orders {

		@DistributedLock("order-#{#order.}")
		public void settle(String order) {
		}

		@DistributedLock
		public final void cancel() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Orders orders() {
			return new Orders();
		}

	}

}
