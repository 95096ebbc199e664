package dev.dblock.sample;

import java.time.Duration;

import dev.dblock.DistributedLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Service;

/**
 * Orders are settled side by side, but each of them by one instance at a time.
 */
@Service
class OrderService {

	private static final Logger logger = LoggerFactory.getLogger(OrderService.class);

	private final Duration work;

	OrderService(@Value("${sample.order.work}") Duration work) {
		this.work = work;
	}

	@DistributedLock(name = "order-#{#order}", waitString = "${sample.order.wait}")
	void settle(String order) throws InterruptedException {
		logger.info("WORKS     on the settlement of order {}", order);
		Thread.sleep(this.work.toMillis());
	}

}
