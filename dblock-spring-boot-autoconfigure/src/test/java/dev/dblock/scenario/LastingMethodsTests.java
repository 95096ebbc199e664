package dev.dblock.scenario;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import dev.dblock.DistributedLock;
import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.LockUnavailableException;
import dev.dblock.WhenLost;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.MongoTransactionManager;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.event.TransactionPhase;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Locks of methods whose work continues after they return, as another process and the
 * server see them.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class LastingMethodsTests {

	private static final Duration LONG = Duration.ofSeconds(120);

	private static final LockOptions PATIENT = LockOptions.defaults().waitUpTo(LONG);

	private Instances instances;

	private Instance other;

	private ConfigurableApplicationContext application;

	private Orders orders;

	@BeforeEach
	void start(MongoServer server) {
		this.instances = new Instances(server);
		this.other = this.instances.start("other");
		this.application = this.instances.startApplication("application", OrdersConfiguration.class,
				"dblock.lease=12s");
		this.orders = this.application.getBean(Orders.class);
	}

	@AfterEach
	void stop() throws Exception {
		this.instances.close();
	}

	private boolean isHeld(String name) {
		Document document = this.instances.document(name);
		return document != null && document.containsKey("holder");
	}

	private void awaitRenewal(String name) {
		Object before = this.instances.document(name).get("updatedAt");
		Instances.eventually().until(() -> !before.equals(this.instances.document(name).get("updatedAt")));
	}

	@Test
	void futureIsRenewedUntilItHasCompletedAndReleasedBeforeItsCallerSeesIt() throws Exception {
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<String> result = this.orders.future(work);
		awaitRenewal("future");
		assertThat(this.other.locks().tryAcquire("future")).isEmpty();
		CompletableFuture<Boolean> free = result.thenApply((value) -> this.instances.isReleased("future"));
		work.complete("done");
		assertThat(free.get(120, TimeUnit.SECONDS)).isTrue();
		assertThat(this.other.locks().acquire("future").release()).isTrue();
	}

	@Test
	void asyncFutureIsHeldUntilItHasCompleted() throws Exception {
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<String> result = this.orders.async(work);
		Instances.eventually().until(() -> isHeld("async"));
		awaitRenewal("async");
		work.complete("done");
		assertThat(result.get(120, TimeUnit.SECONDS)).isEqualTo("done");
		assertThat(this.instances.isReleased("async")).isTrue();
	}

	@Test
	void futureThatIsOvertakenFails() {
		CompletableFuture<String> result = this.orders.future(new CompletableFuture<>());
		this.instances.expire("future");
		LockHandle taken = this.other.locks().acquire("future", PATIENT);
		assertThat(result).failsWithin(LONG).withThrowableThat().withCauseInstanceOf(LockLostException.class);
		assertThat(taken.release()).isTrue();
	}

	@Test
	void futureThatNeverCompletesIsGivenUpAfterItsMaximumHold() {
		CompletableFuture<String> result = this.orders.limited(new CompletableFuture<>());
		assertThat(result).failsWithin(LONG).withThrowableThat().withCauseInstanceOf(LockLostException.class);
		assertThat(this.other.locks().acquire("limited", PATIENT).release()).isTrue();
	}

	@Test
	void sequenceWaitsForAnotherProcessAndRunsUnderItsOwnLock() {
		LockHandle taken = this.other.locks().acquire("sequence", PATIENT);
		CompletableFuture<Boolean> held = this.orders.sequence(Mono.fromSupplier(() -> isHeld("sequence"))).toFuture();
		assertThat(held).isNotDone();
		taken.release();
		assertThat(held).succeedsWithin(LONG).isEqualTo(true);
		assertThat(this.instances.isReleased("sequence")).isTrue();
	}

	@Test
	void sequenceIsRenewedAndReleasedWhenItIsCancelled() throws Exception {
		CountDownLatch begun = new CountDownLatch(1);
		Disposable subscription = this.orders.sequence(Mono.never().doOnSubscribe((upstream) -> begun.countDown()))
			.subscribe();
		assertThat(begun.await(120, TimeUnit.SECONDS)).isTrue();
		awaitRenewal("sequence");
		subscription.dispose();
		Instances.eventually().until(() -> this.instances.isReleased("sequence"));
	}

	@Test
	void sequenceThatIsCancelledWhileItWaitsLeavesNothingBehind() throws Exception {
		LockHandle taken = this.other.locks().acquire("sequence", PATIENT);
		Disposable waiting = this.orders.sequence(Mono.just("never")).subscribe();
		CompletableFuture<String> next = this.orders.sequence(Mono.just("next")).toFuture();
		waiting.dispose();
		taken.release();
		assertThat(next.get(120, TimeUnit.SECONDS)).isEqualTo("next");
		Instances.eventually().until(() -> this.instances.isReleased("sequence"));
		assertThat(this.other.locks().acquire("sequence", PATIENT).release()).isTrue();
	}

	@Test
	void sequenceThatIsOvertakenIsCancelledWhereThatWasAskedFor() throws Exception {
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch cancelled = new CountDownLatch(1);
		CompletableFuture<Object> result = this.orders
			.interrupted(Mono.never().doOnSubscribe((upstream) -> begun.countDown()).doOnCancel(cancelled::countDown))
			.toFuture();
		assertThat(begun.await(120, TimeUnit.SECONDS)).isTrue();
		this.instances.expire("interrupted");
		LockHandle taken = this.other.locks().acquire("interrupted", PATIENT);
		assertThat(result).failsWithin(LONG).withThrowableThat().withCauseInstanceOf(LockLostException.class);
		assertThat(cancelled.await(120, TimeUnit.SECONDS)).isTrue();
		assertThat(taken.release()).isTrue();
	}

	@Test
	void refusedSequenceRunsNothing() {
		LockHandle taken = this.other.locks().acquire("impatient");
		assertThat(this.orders.impatient(Mono.error(new IllegalStateException("it ran"))).toFuture()).failsWithin(LONG)
			.withThrowableThat()
			.withCauseInstanceOf(LockUnavailableException.class);
		taken.release();
	}

	@Test
	void transactionThatIsBegunUnderAFutureIsItsOwnThreadsAlone() throws Exception {
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<String> result = this.orders.future(work);
		this.instances.expire("future");
		LockHandle taken = this.other.locks().acquire("future", PATIENT);
		assertThat(result).failsWithin(LONG).withThrowableThat().withCauseInstanceOf(LockLostException.class);
		inTransaction();
		assertThat(this.instances.collection("orders").countDocuments()).isOne();
		taken.release();
	}

	@Test
	void workInAnotherThreadHasItsTransactionsFenced() throws Exception {
		LockTemplate locks = this.application.getBean(LockTemplate.class);
		LockHandle handle = locks.acquire("handed", LockOptions.lease(Duration.ofMinutes(10)));
		this.instances.expire("handed");
		LockHandle taken = this.other.locks().acquire("handed", PATIENT);
		CompletableFuture<Void> elsewhere = CompletableFuture.runAsync(() -> locks.within(handle, () -> {
			inTransaction();
			return this;
		}));
		assertThat(elsewhere).failsWithin(LONG).withThrowableThat().withCauseInstanceOf(LockLostException.class);
		assertThat(this.instances.collection("orders").countDocuments()).isZero();
		taken.release();
		handle.release();
	}

	@Test
	void listenersOfATransactionAreLockedInEachPhase() {
		this.application.getBean(TransactionTemplate.class).executeWithoutResult((status) -> {
			this.application.getBean(MongoTemplate.class).insert(new Document(), "orders");
			this.application.publishEvent("placed");
		});
		assertThat(this.orders.events()).containsExactly("before commit, locked", "after commit, locked");
		assertThat(this.instances.isReleased("before-commit")).isTrue();
		assertThat(this.instances.isReleased("after-commit")).isTrue();
		assertThat(this.instances.collection("orders").countDocuments()).isOne();
	}

	private void inTransaction() {
		this.application.getBean(TransactionTemplate.class)
			.executeWithoutResult(
					(status) -> this.application.getBean(MongoTemplate.class).insert(new Document(), "orders"));
	}

	public static class Orders {

		private final List<String> events = new CopyOnWriteArrayList<>();

		private final MongoTemplate mongo;

		Orders(MongoTemplate mongo) {
			this.mongo = mongo;
		}

		public List<String> events() {
			return this.events;
		}

		@DistributedLock("future")
		public CompletableFuture<String> future(CompletableFuture<String> work) {
			return work;
		}

		@DistributedLock(name = "limited", maxHoldSeconds = 1)
		public CompletableFuture<String> limited(CompletableFuture<String> work) {
			return work;
		}

		@Async
		@DistributedLock("async")
		public CompletableFuture<String> async(CompletableFuture<String> work) {
			return work;
		}

		@DistributedLock(name = "sequence", waitSeconds = 120)
		public <T> Mono<T> sequence(Mono<T> work) {
			return work;
		}

		@DistributedLock(name = "interrupted", whenLost = WhenLost.INTERRUPT)
		public <T> Mono<T> interrupted(Mono<T> work) {
			return work;
		}

		@DistributedLock("impatient")
		public <T> Mono<T> impatient(Mono<T> work) {
			return work;
		}

		@TransactionalEventListener(phase = TransactionPhase.BEFORE_COMMIT)
		@DistributedLock("before-commit")
		public void beforeCommit(String event) {
			this.events.add("before commit" + locked("before-commit"));
		}

		@TransactionalEventListener
		@DistributedLock("after-commit")
		public void afterCommit(String event) {
			this.events.add("after commit" + locked("after-commit"));
		}

		private String locked(String name) {
			Document lock = this.mongo.getMongoDatabaseFactory()
				.getMongoDatabase()
				.getCollection("dblock_locks")
				.find(new Document("_id", name))
				.first();
			return lock.containsKey("holder") ? ", locked" : ", unlocked";
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableAsync
	@EnableTransactionManagement
	static class OrdersConfiguration {

		@Bean
		Orders orders(MongoTemplate mongo) {
			return new Orders(mongo);
		}

		@Bean
		MongoTransactionManager transactionManager(MongoDatabaseFactory factory) {
			return new MongoTransactionManager(factory);
		}

		@Bean
		TransactionTemplate transactionTemplate(MongoTransactionManager manager) {
			return new TransactionTemplate(manager);
		}

	}

}
