package dev.dblock.sample;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import dev.dblock.LockHandle;
import dev.dblock.LockInfo;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.sample.billing.Reports;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.Stubborn;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.data.mongodb.core.query.Criteria;
import org.springframework.data.mongodb.core.query.Query;
import org.springframework.web.filter.ShallowEtagHeaderFilter;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An instance that is told to end while a request works under a lock, or waits for one.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class GracefulShutdownTests {

	private static final Duration LONG_ENOUGH = Duration.ofMinutes(2);

	private static final String PATIENT = "4m";

	private String uri;

	private Instance ending;

	private Instance other;

	private LockTemplate locks;

	@BeforeEach
	void start(MongoServer server) {
		this.uri = server.uri(server.freshDatabase());
		this.other = start(SampleApplication.class, "other", PATIENT);
		this.locks = this.other.context().getBean(LockTemplate.class);
	}

	private Instance start(Class<?> application, String name, String grace) {
		return start(application, name, grace, "20s");
	}

	private Instance start(Class<?> application, String name, String grace, String lease) {
		return Instance.start(application, name, "--spring.mongodb.uri=" + this.uri, "--dblock.lease=" + lease,
				"--spring.lifecycle.timeout-per-shutdown-phase=" + grace,
				"--spring.task.scheduling.shutdown.await-termination=false");
	}

	@AfterEach
	void stop() {
		this.other.close();
		this.ending.close();
	}

	@Test
	void requestThatIsUnderWayKeepsItsLockToItsEnd() throws Exception {
		this.ending = start(WithWholeResponses.class, "ending", PATIENT);
		StubbornRequests requests = this.ending.context().getBean(StubbornRequests.class);
		CompletableFuture<HttpResponse<String>> working = this.ending.posting("/stubborn");
		Awaitility.await().atMost(LONG_ENOUGH).until(() -> held().isPresent());
		LockInfo before = held().orElseThrow();
		CompletableFuture<Void> closed = CompletableFuture.runAsync(this.ending::close);
		Awaitility.await().atMost(LONG_ENOUGH).until(() -> {
			assertThat(held()).hasValueSatisfying((now) -> assertThat(now.holder()).isEqualTo(before.holder()));
			// Renewed twice
			return held().orElseThrow().updatedAt().isAfter(before.updatedAt().plusSeconds(10));
		});
		assertThat(closed).isNotDone();
		requests.end.countDown();
		assertThat(working.get(120, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
		assertThat(requests.outcome).isCompletedWithValue("held to the end");
		closed.get(120, TimeUnit.SECONDS);
		assertThat(this.locks.inspect(Reports.LOCK)).hasValueSatisfying((lock) -> {
			assertThat(lock.held()).isFalse();
			assertThat(lock.releasedAt()).isNotNull();
			assertThat(lock.acquiredAt()).isEqualTo(before.acquiredAt());
		});
	}

	@Test
	void requestThatOutlivesItsGraceIsToldAndItsLeaseEndsTheLock() throws Exception {
		this.ending = start(WithStubbornRequests.class, "ending", "100ms", "10s");
		StubbornRequests requests = this.ending.context().getBean(StubbornRequests.class);
		this.ending.posting("/stubborn");
		Awaitility.await().atMost(LONG_ENOUGH).until(() -> held().isPresent());
		LockInfo before = held().orElseThrow();
		this.ending.close();
		LockInfo left = this.locks.inspect(Reports.LOCK).orElseThrow();
		assertThat(left.holder()).isEqualTo(before.holder());
		assertThat(left.releasedAt()).isNull();
		LockHandle next = this.locks.acquire(Reports.LOCK, LockOptions.defaults().waitUpTo(LONG_ENOUGH));
		LockInfo taken = held().orElseThrow();
		assertThat(taken.acquiredAt()).as("nothing renewed it, and nobody released it")
			.isAfterOrEqualTo(left.expiresAt());
		requests.end.countDown();
		assertThat(requests.outcome.get(60, TimeUnit.SECONDS)).isEqualTo("lost at the end: SHUTDOWN");
		assertThat(held()).hasValueSatisfying((now) -> assertThat(now.holder()).isEqualTo(taken.holder()));
		assertThat(next.release()).isTrue();
	}

	/**
	 * Left to wait, it would do so for longer than the web server does.
	 */
	@Test
	void requestThatWaitsForALockIsRefusedAtOnce() throws Exception {
		this.ending = start(WithWholeResponses.class, "ending", PATIENT);
		LockHandle taken = this.locks.acquire(Reports.LOCK);
		CompletableFuture<HttpResponse<String>> waiting = this.ending.posting("/report?wait=10m");
		Awaitility.await().atMost(LONG_ENOUGH).until(() -> isWaiting("ending"));
		this.ending.close();
		HttpResponse<String> refused = waiting.get(60, TimeUnit.SECONDS);
		assertThat(refused.statusCode()).isEqualTo(503);
		assertThat(refused.body()).contains("The lock 'report' was not acquired").contains("is closing");
		assertThat(taken.release()).isTrue();
	}

	private Optional<LockInfo> held() {
		return this.locks.inspect(Reports.LOCK).filter(LockInfo::held);
	}

	/**
	 * Whether an instance says so to the others.
	 */
	private boolean isWaiting(String instance) {
		return this.other.context()
			.getBean(MongoTemplate.class)
			.exists(Query.query(Criteria.where("_id").is(instance).and("waiting.name").is(Reports.LOCK)),
					"live_instances");
	}

	/**
	 * The sample with responses that are sent before Tomcat counts their requests as
	 * ended. Otherwise, a shutdown can close the connection before the last part of a
	 * response is sent.
	 */
	@Import(SampleApplication.class)
	static class WithWholeResponses extends WithStubbornRequests {

		@Bean
		ShallowEtagHeaderFilter wholeResponses() {
			return new ShallowEtagHeaderFilter();
		}

	}

	/**
	 * The sample, which looks for components of its own only.
	 */
	@Import(SampleApplication.class)
	static class WithStubbornRequests {

		@Bean
		StubbornRequests stubbornRequests(LockTemplate locks) {
			return new StubbornRequests(locks);
		}

		@Bean
		RouterFunction<ServerResponse> stubborn(StubbornRequests requests) {
			return RouterFunctions.route().POST("/stubborn", (request) -> {
				requests.work();
				return ServerResponse.ok().build();
			}).build();
		}

	}

	/**
	 * A web server interrupts what it has no more patience for; these go on.
	 */
	static class StubbornRequests {

		final CountDownLatch end = new CountDownLatch(1);

		final CompletableFuture<String> outcome = new CompletableFuture<>();

		private final LockTemplate locks;

		StubbornRequests(LockTemplate locks) {
			this.locks = locks;
		}

		void work() {
			try {
				this.locks.execute(Reports.LOCK, () -> Stubborn.await(this.end));
				this.outcome.complete("held to the end");
			}
			catch (LockLostException ex) {
				this.outcome.complete("lost at the end: " + ex.reason());
			}
		}

	}

}
