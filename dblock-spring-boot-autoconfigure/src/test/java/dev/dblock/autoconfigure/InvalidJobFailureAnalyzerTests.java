package dev.dblock.autoconfigure;

import dev.dblock.DistributedLock;
import dev.dblock.job.schedule.InvalidJobException;
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
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@ExtendWith(OutputCaptureExtension.class)
class InvalidJobFailureAnalyzerTests {

	@Test
	void startThatFailsReportsEveryJobAndTheRemedy(CapturedOutput output) {
		SpringApplicationBuilder application = new SpringApplicationBuilder(Application.class)
			.web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.logStartupInfo(false)
			.properties("spring.mongodb.uri=mongodb://127.0.0.1:1/test?serverSelectionTimeoutMS=100");
		assertThatExceptionOfType(InvalidJobException.class).isThrownBy(application::run);
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Jobs cannot run as declared:")
			.contains("    - bean 'orders', " + Orders.class.getName() + "#settle(): its minimum hold of 20s is longer"
					+ " than the 10s between two planned times")
			.contains("    - bean 'orders', " + Orders.class.getName() + "#cancel() and bean 'orders', "
					+ Orders.class.getName() + "#settle() are different jobs with the same id 'orders'")
			.contains("Fix each job as its line above describes.")
			.doesNotContain("\tat ");
	}

	static class Orders {

		@Scheduled(cron = "*/10 * * * * *")
		@DistributedLock(name = "orders", minHoldSeconds = 20)
		void settle() {
		}

		@Scheduled(initialDelay = 3_600_000, fixedDelay = 60_000)
		@DistributedLock(name = "orders")
		void cancel() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class Application {

		@Bean
		Orders orders() {
			return new Orders();
		}

	}

}
