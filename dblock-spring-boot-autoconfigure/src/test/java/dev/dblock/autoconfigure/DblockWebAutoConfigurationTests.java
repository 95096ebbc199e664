package dev.dblock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import dev.dblock.DistributedLock;
import dev.dblock.LockException;
import dev.dblock.LockInfo;
import dev.dblock.LockRefusal;
import dev.dblock.LockShutdownException;
import dev.dblock.LockTemplate;
import dev.dblock.reactive.ReactiveLockTemplate;
import dev.dblock.store.BusyStoreException;
import dev.dblock.store.StoreFailureException;
import dev.dblock.store.StoreLoginException;
import dev.dblock.store.StoreTimeoutException;
import org.bson.Document;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.mongodb.autoconfigure.DataMongoAutoConfiguration;
import org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.AbstractApplicationContextRunner;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.test.web.servlet.client.MockMvcWebTestClient;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.reactive.config.EnableWebFlux;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link DblockWebAutoConfiguration}, with requests to Spring MVC and WebFlux.
 */
@ExtendWith(OutputCaptureExtension.class)
class DblockWebAutoConfigurationTests {

	private static final AutoConfigurations ALL = AutoConfigurations.of(DblockAutoConfiguration.class,
			DblockAopAutoConfiguration.class, DblockReactiveAutoConfiguration.class, DblockWebAutoConfiguration.class);

	enum Web {

		MVC(new WebApplicationContextRunner().withUserConfiguration(Mvc.class)),

		WEBFLUX(new ReactiveWebApplicationContextRunner().withUserConfiguration(WebFlux.class));

		private final AbstractApplicationContextRunner<?, ?, ?> runner;

		Web(AbstractApplicationContextRunner<?, ?, ?> runner) {
			this.runner = runner.withConfiguration(ALL)
				.withPropertyValues("dblock.mode=local", "dblock.lease=1h")
				.withUserConfiguration(Orders.class);
		}

		WebTestClient client(ApplicationContext context) {
			return (this == MVC)
					? MockMvcWebTestClient.bindToApplicationContext((WebApplicationContext) context).build()
					: WebTestClient.bindToApplicationContext(context).build();
		}

		void run(Consumer<WebTestClient> test, Class<?>... configurations) {
			this.runner.withUserConfiguration(configurations).run((context) -> {
				assertThat(context).hasNotFailed();
				test.accept(client(context));
			});
		}

	}

	private static WebTestClient.ResponseSpec get(WebTestClient client, String path) {
		return client.get().uri(path).exchange();
	}

	@ParameterizedTest
	@EnumSource
	void requestWhoseLockIsHeldGetsAConflictWithTheTimeToWait(Web web) {
		web.run((client) -> get(client, "/held").expectStatus()
			.isEqualTo(HttpStatus.CONFLICT)
			.expectHeader()
			.contentType(MediaType.APPLICATION_PROBLEM_JSON)
			.expectHeader()
			.valueMatches("Retry-After", "3[56]\\d\\d")
			.expectBody()
			.jsonPath("$.status")
			.isEqualTo(409)
			.jsonPath("$.title")
			.isEqualTo("Conflict")
			.jsonPath("$.instance")
			.isEqualTo("/held")
			.jsonPath("$.detail")
			.value(String.class, (detail) -> assertThat(detail).doesNotContain("secret", "thread")));
	}

	@ParameterizedTest
	@EnumSource
	void secondsAreRoundedUp(Web web) {
		web.run((client) -> {
			get(client, "/refused/1").expectHeader().valueEquals("Retry-After", "1");
			get(client, "/refused/2000").expectHeader().valueEquals("Retry-After", "2");
			get(client, "/refused/2001").expectHeader().valueEquals("Retry-After", "3");
		});
	}

	@ParameterizedTest
	@EnumSource
	void withoutAKnownTimeThereIsNoHeader(Web web) {
		web.run((client) -> {
			get(client, "/later").expectStatus()
				.isEqualTo(HttpStatus.CONFLICT)
				.expectHeader()
				.doesNotExist("Retry-After");
			get(client, "/refused/0").expectHeader().doesNotExist("Retry-After");
		});
	}

	@ParameterizedTest
	@EnumSource
	void handlerOfAnAdviceOfTheApplicationWins(Web web) {
		web.run((client) -> get(client, "/held").expectStatus().isEqualTo(HttpStatus.LOCKED), OwnAdvice.class);
	}

	@ParameterizedTest
	@EnumSource
	void handlerOfAControllerWins(Web web) {
		web.run((client) -> get(client, "/own").expectStatus().isEqualTo(HttpStatus.TOO_MANY_REQUESTS),
				OwnController.class);
	}

	@ParameterizedTest
	@EnumSource
	void otherExceptionsAreNotHandled(Web web) {
		web.run((client) -> get(client, "/broken").expectStatus().isEqualTo(HttpStatus.GONE));
	}

	@ParameterizedTest
	@EnumSource
	void exceptionsWithAStatusOfTheApplicationKeepItWhateverTheirCause(Web web) {
		web.run((client) -> {
			get(client, "/chosen").expectStatus().isEqualTo(HttpStatus.LOCKED);
			get(client, "/chosen-later").expectStatus().isEqualTo(HttpStatus.TOO_MANY_REQUESTS);
			get(client, "/annotated-exception").expectStatus().isEqualTo(HttpStatus.GONE);
		});
	}

	/**
	 * The application's own requests fail with the same kinds of exceptions of Spring as
	 * those of dblock.
	 */
	@ParameterizedTest
	@EnumSource
	void requestWithoutAServerIsAnsweredWith503IfItWasSentByDblock(Web web) {
		web.runner
			.withConfiguration(AutoConfigurations.of(MongoAutoConfiguration.class, DataMongoAutoConfiguration.class))
			.withPropertyValues("dblock.mode=mongodb", "dblock.mongodb.timeout=200ms",
					"spring.mongodb.uri=mongodb://127.0.0.1:1/none?serverSelectionTimeoutMS=200")
			.withUserConfiguration(Stock.class, Counter.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				WebTestClient client = web.client(context);
				for (String path : List.of("/template", "/annotated", "/reactive", "/wrapped", "/bean")) {
					get(client, path).expectStatus()
						.isEqualTo(HttpStatus.SERVICE_UNAVAILABLE)
						.expectHeader()
						.contentType(MediaType.APPLICATION_PROBLEM_JSON)
						.expectHeader()
						.valueEquals("Retry-After", "10")
						.expectBody()
						.jsonPath("$.status")
						.isEqualTo(503)
						.jsonPath("$.detail")
						.value(String.class, (detail) -> assertThat(detail).doesNotContain("secret", "127.0.0.1"));
				}
				assertNotHandled(client, "/own-request", DataAccessResourceFailureException.class);
				assertNotHandled(client, "/own-timeout", QueryTimeoutException.class);
			});
	}

	// MockMvc throws an exception that no handler was found for, WebFlux responds with
	// 500
	private static void assertNotHandled(WebTestClient client, String path, Class<? extends Exception> type) {
		try {
			get(client, path).expectStatus().isEqualTo(HttpStatus.INTERNAL_SERVER_ERROR);
		}
		catch (RuntimeException | AssertionError ex) {
			assertThat(ex).hasRootCauseInstanceOf(Exception.class).satisfies((thrown) -> {
				Throwable cause = thrown;
				while (cause != null && !type.isInstance(cause)) {
					cause = cause.getCause();
				}
				assertThat(cause).isNotNull();
			});
		}
	}

	@ParameterizedTest
	@EnumSource
	void failuresThatMayPassAreAnsweredWith503AndLogged(Web web, CapturedOutput output) {
		web.run((client) -> {
			for (String path : List.of("/failing/timeout", "/failing/unconfirmed", "/failing/busy",
					"/failing/closing")) {
				get(client, path).expectStatus()
					.isEqualTo(HttpStatus.SERVICE_UNAVAILABLE)
					.expectHeader()
					.valueEquals("Retry-After", "10");
			}
			assertNotHandled(client, "/failing/login", StoreLoginException.class);
		});
		assertThat(output).contains("WARN", "A web request was answered with 503: timeout of 'secret'");
	}

	@ParameterizedTest
	@EnumSource
	void propertySwitchesItOff(Web web) {
		for (String off : List.of("false", "FALSE", "off", "no", "0")) {
			web.runner.withPropertyValues("dblock.web.problem-details=" + off)
				.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LockUnavailableAdvice.class));
		}
		for (String on : List.of("true", "on", "yes", "1")) {
			web.runner.withPropertyValues("dblock.web.problem-details=" + on)
				.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(LockUnavailableAdvice.class));
		}
		web.runner.withPropertyValues("dblock.web.problem-details=maybe")
			.run((context) -> assertThat(context).getFailure().hasMessageContaining("dblock"));
	}

	@Test
	void applicationWithoutWebOrWithoutSpringWebHasNone() {
		new ApplicationContextRunner().withConfiguration(ALL)
			.withPropertyValues("dblock.mode=local")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LockUnavailableAdvice.class));
		new ApplicationContextRunner().withConfiguration(ALL)
			.withClassLoader(new FilteredClassLoader("org.springframework.web", "org.springframework.http"))
			.withPropertyValues("dblock.mode=local")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("dblockLockUnavailableAdvice"));
	}

	@Configuration
	@EnableWebMvc
	static class Mvc {

	}

	@Configuration
	@EnableWebFlux
	static class WebFlux {

	}

	@RestController
	static class Orders {

		private final LockTemplate locks;

		Orders(LockTemplate locks) {
			this.locks = locks;
		}

		@GetMapping("/held")
		String held() {
			CompletableFuture.supplyAsync(() -> this.locks.acquire("secret")).join();
			return this.locks.<String>execute("secret", () -> "never");
		}

		@GetMapping("/later")
		Mono<String> later() {
			return Mono.error(() -> new LockRefusal("secret", null, Duration.ZERO).toException());
		}

		@GetMapping("/refused/{millis}")
		String refused(@PathVariable long millis) {
			LockInfo holder = new LockInfo("secret", true, "id", "host", "thread", "why", 1, null, null, null, null,
					Duration.ofMillis(millis));
			throw new LockRefusal("secret", holder, Duration.ZERO).toException();
		}

		@GetMapping("/failing/{how}")
		String failing(@PathVariable String how) {
			Exception cause = new Exception("cause");
			throw switch (how) {
				case "timeout" -> new StoreTimeoutException("timeout of 'secret'");
				case "unconfirmed" -> new StoreFailureException("unconfirmed", cause);
				case "busy" -> new BusyStoreException("busy");
				case "closing" -> new LockShutdownException("secret");
				default -> new StoreLoginException("login", cause);
			};
		}

		@GetMapping("/broken")
		String broken() {
			throw new Gone(null);
		}

		@GetMapping("/chosen")
		String chosen() {
			throw new ResponseStatusException(HttpStatus.LOCKED, "busy",
					new LockRefusal("secret", null, Duration.ZERO).toException());
		}

		@GetMapping("/chosen-later")
		Mono<String> chosenLater() {
			return Mono.error(() -> new ResponseStatusException(HttpStatus.TOO_MANY_REQUESTS, "slow",
					new IllegalStateException(new StoreTimeoutException("timeout"))));
		}

		@GetMapping("/annotated-exception")
		String annotatedException() {
			throw new Gone(new LockRefusal("secret", null, Duration.ZERO).toException());
		}

	}

	/**
	 * Controllers of an application without a server.
	 */
	@RestController
	static class Stock {

		private final LockTemplate locks;

		private final ReactiveLockTemplate reactive;

		private final MongoTemplate mongo;

		private final Counter counter;

		Stock(LockTemplate locks, ReactiveLockTemplate reactive, MongoTemplate mongo, Counter counter) {
			this.locks = locks;
			this.reactive = reactive;
			this.mongo = mongo;
			this.counter = counter;
		}

		@GetMapping("/template")
		public String template() {
			return this.locks.<String>execute("secret", () -> "never");
		}

		@GetMapping("/annotated")
		@DistributedLock("secret")
		public String annotated() {
			return "never";
		}

		@GetMapping("/bean")
		public String bean() {
			this.counter.count();
			return "never";
		}

		@GetMapping("/reactive")
		public Mono<String> reactive() {
			return this.reactive.execute("secret", () -> Mono.just("never"));
		}

		@GetMapping("/wrapped")
		public String wrapped() {
			try {
				return template();
			}
			catch (RuntimeException ex) {
				throw new IllegalStateException("stock", ex);
			}
		}

		@GetMapping("/own-request")
		public String ownRequest() {
			this.mongo.getCollection("stock");
			return String.valueOf(this.mongo.findById("secret", Document.class, "stock"));
		}

		@GetMapping("/own-timeout")
		public String ownTimeout() {
			throw new QueryTimeoutException("own");
		}

	}

	static class Counter {

		@DistributedLock("secret")
		public void count() {
			throw new AssertionError("never");
		}

	}

	@RestController
	static class OwnController {

		@GetMapping("/own")
		String own() {
			throw new LockRefusal("secret", null, Duration.ZERO).toException();
		}

		@ExceptionHandler
		@ResponseStatus(HttpStatus.TOO_MANY_REQUESTS)
		void handle(LockException ex) {
		}

	}

	@ControllerAdvice
	static class OwnAdvice {

		@ExceptionHandler
		@ResponseStatus(HttpStatus.LOCKED)
		void handle(RuntimeException ex) {
		}

	}

	@ResponseStatus(HttpStatus.GONE)
	static class Gone extends RuntimeException {

		private static final long serialVersionUID = 1L;

		Gone(@Nullable Exception cause) {
			super(cause);
		}

	}

}
