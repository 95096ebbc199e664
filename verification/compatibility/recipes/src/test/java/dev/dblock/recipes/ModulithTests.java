package dev.dblock.recipes;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import dev.dblock.DistributedLock;
import dev.dblock.LockHandle;
import dev.dblock.LockTemplate;
import dev.dblock.WhenUnavailable;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.modulith.events.ApplicationModuleListener;
import org.springframework.modulith.events.IncompleteEventPublications;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Event publications of Spring Modulith that are not complete.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class ModulithTests {

	private static final List<String> HANDLED = new CopyOnWriteArrayList<>();

	private static final AtomicBoolean FAILING = new AtomicBoolean();

	private static final AtomicInteger PRESENT = new AtomicInteger();

	private static final AtomicInteger MOST_PRESENT = new AtomicInteger();

	private static CountDownLatch second;

	private Instances instances;

	@BeforeEach
	void start(MongoServer server) {
		HANDLED.clear();
		FAILING.set(false);
		PRESENT.set(0);
		MOST_PRESENT.set(0);
		second = new CountDownLatch(1);
		this.instances = new Instances(server);
	}

	@AfterEach
	void stop() {
		this.instances.close();
	}

	@Test
	void oneInstanceAtATimeResubmitsThemInTheirOrder() {
		FAILING.set(true);
		ApplicationContext one = start("one");
		List<String> orders = IntStream.range(0, 5).mapToObj(String::valueOf).toList();
		orders.forEach((id) -> publish(one, new OrderPlaced(id)));
		start("two");
		assertThat(HANDLED).isEmpty();
		FAILING.set(false);
		publishedAnHourEarlier();
		Instances.eventually().until(() -> incomplete() == 0);
		assertThat(HANDLED).isEqualTo(orders);
		assertThat(MOST_PRESENT).hasValue(1);
	}

	@Test
	void listenerWhoseLockIsHeldIsCalledAgainUnlessItIsSkipped() {
		ApplicationContext one = start("one");
		ApplicationContext two = start("two");
		LockHandle held = two.getBean(LockTemplate.class).acquire("stock");
		publish(one, new OrderShipped("1"));
		Instances.eventually().until(() -> failed() == 1 && incomplete() == 1);
		assertThat(HANDLED).isEmpty();
		held.release();
		publishedAnHourEarlier();
		Instances.eventually().until(() -> incomplete() == 0);
		assertThat(HANDLED).containsExactly("1");
	}

	private ApplicationContext start(String name) {
		return this.instances.start(name, Application.class, "events.resubmit-delay=100ms",
				"spring.mongodb.representation.uuid=standard");
	}

	private static void publish(ApplicationContext instance, Object event) {
		instance.getBean(TransactionTemplate.class).executeWithoutResult((status) -> instance.publishEvent(event));
	}

	private void publishedAnHourEarlier() {
		this.instances.collection("event_publication")
			.updateMany(new Document(), List.of(new Document("$set", new Document("publicationDate",
					new Document("$subtract", List.of("$publicationDate", Duration.ofHours(1).toMillis()))))));
	}

	private long failed() {
		return this.instances.collection("event_publication").countDocuments(new Document("status", "FAILED"));
	}

	private long incomplete() {
		return this.instances.collection("event_publication").countDocuments(new Document("completionDate", null));
	}

	private record OrderPlaced(String id) {
	}

	private record OrderShipped(String id) {
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class Application {

		@Bean
		Resubmission resubmission(IncompleteEventPublications publications) {
			return new Resubmission(publications);
		}

		@Bean
		Invoices invoices() {
			return new Invoices();
		}

		@Bean
		Stock stock() {
			return new Stock();
		}

	}

	static class Resubmission {

		private final IncompleteEventPublications publications;

		Resubmission(IncompleteEventPublications publications) {
			this.publications = publications;
		}

		@Scheduled(fixedDelayString = "${events.resubmit-delay}")
		@DistributedLock("resubmit-events")
		void resubmit() {
			this.publications.resubmitIncompletePublicationsOlderThan(Duration.ofMinutes(10));
		}

	}

	/**
	 * Its listener is called in the thread that resubmits, and gives another instance
	 * time to be there as well.
	 */
	static class Invoices {

		@TransactionalEventListener
		void on(OrderPlaced event) throws InterruptedException {
			if (FAILING.get()) {
				throw new IllegalStateException("Not yet");
			}
			int present = PRESENT.incrementAndGet();
			MOST_PRESENT.accumulateAndGet(present, Math::max);
			if (present == 2) {
				second.countDown();
			}
			if (HANDLED.isEmpty()) {
				second.await(1, TimeUnit.SECONDS);
			}
			HANDLED.add(event.id());
			PRESENT.decrementAndGet();
		}

	}

	static class Stock {

		@ApplicationModuleListener
		@DistributedLock("stock")
		void reserve(OrderShipped event) {
			HANDLED.add(event.id());
		}

		@ApplicationModuleListener
		@DistributedLock(name = "stock", whenUnavailable = WhenUnavailable.SKIP)
		void count(OrderShipped event) {
			HANDLED.add("counted " + event.id());
		}

	}

}
