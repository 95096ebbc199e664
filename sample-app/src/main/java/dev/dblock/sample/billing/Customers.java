package dev.dblock.sample.billing;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

import dev.dblock.job.RunsOnEveryInstance;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.core.env.Environment;
import org.springframework.http.MediaType;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestClientException;

/**
 * Simulated customers, who place an order now and then. Each instance has its own, which
 * use HTTP as if they were remote.
 */
@Component
@ConditionalOnBooleanProperty("sample.customers.enabled")
class Customers {

	private static final Logger logger = LoggerFactory.getLogger(Customers.class);

	private static final List<String> NAMES = List.of("alder", "birch", "cedar", "elm", "hazel");

	private final RestClient client = RestClient.create();

	private final Environment environment;

	Customers(Environment environment) {
		this.environment = environment;
	}

	@RunsOnEveryInstance
	@Scheduled(initialDelayString = "1s", fixedDelayString = "${sample.customers.every}")
	void buy() {
		ThreadLocalRandom random = ThreadLocalRandom.current();
		String customer = NAMES.get(random.nextInt(NAMES.size()));
		try {
			this.client.post()
				.uri("http://127.0.0.1:{port}/orders", this.environment.getRequiredProperty("local.server.port"))
				.contentType(MediaType.APPLICATION_JSON)
				.body(new BillingController.NewOrder(customer, random.nextLong(100, 100_000)))
				.retrieve()
				.toBodilessEntity();
		}
		catch (RestClientException ex) {
			logger.debug("The order of {} was not stored: the application is stopping, or its server is unreachable",
					customer, ex);
		}
	}

}
