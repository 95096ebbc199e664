package dev.dblock.console;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import dev.dblock.LockInfo;
import dev.dblock.LockPage;
import dev.dblock.engine.LockEngine;
import dev.dblock.store.LockAdministration;
import dev.dblock.testing.SameOnEachJdk;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyBoolean;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * Requests of pages while the server does not answer.
 */
@SameOnEachJdk
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ConsoleReaderTests {

	private volatile CountDownLatch answer = new CountDownLatch(1);

	/** Requests to the server. */
	private final AtomicInteger requests = new AtomicInteger();

	private volatile Optional<LockInfo> free = Optional.empty();

	private final ConsoleReader reader;

	ConsoleReaderTests() {
		LockEngine engine = mock();
		LockAdministration locks = mock();
		given(engine.acquirer()).willReturn("one");
		given(engine.administration()).willReturn(locks);
		given(locks.list(anyBoolean(), any(), anyInt())).willAnswer((call) -> {
			boolean later = this.requests.incrementAndGet() > 1;
			this.answer.await();
			return new LockPage(List.of(), later);
		});
		given(locks.find(any())).willAnswer((call) -> {
			this.requests.incrementAndGet();
			return this.free;
		});
		this.reader = new ConsoleReader(() -> engine, () -> null, new RecentEvents(), new WaitingThreads());
	}

	@Test
	void requestsDoNotWaitForTheFirstAnswer() {
		CompletableFuture<ConsoleState> first = CompletableFuture.supplyAsync(() -> read(""));
		Awaitility.await().untilAtomic(this.requests, (count) -> assertThat(count).isOne());
		assertThatIllegalStateException().isThrownBy(() -> read("order-1"))
			.withMessage("The first request for them is not answered yet");
		this.answer.countDown();
		assertThat(first.join().instance()).isEqualTo("one");
		assertThat(this.requests).hasValue(1);
	}

	@Test
	void requestsReturnTheLastStateMeanwhile() {
		this.answer.countDown();
		read("");
		this.answer = new CountDownLatch(1);
		Awaitility.await().until(() -> {
			CompletableFuture.runAsync(() -> read(""));
			return this.requests.get() == 2;
		});
		assertThat(read("").more()).isFalse();
		assertThat(read("order-1").more()).as("a free lock is not searched either").isFalse();
		this.answer.countDown();
		Awaitility.await().until(() -> read("").more());
		assertThat(this.requests).hasValue(2);
	}

	@Test
	void freeLockIsSearchedByItsFullName() {
		this.answer.countDown();
		read(" order-1 ");
		assertThat(this.requests).hasValue(2);
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 9000 })
	void lockThatWasReadLaterThanTheOthersIsNotShownShorterOrHeld(int left) {
		this.answer.countDown();
		this.free = Optional.of(new LockInfo("order-1", left > 0, "id", "one", "thread", "why", 1, null, null, null,
				null, Duration.ofMillis(left)));
		AtomicReference<ConsoleState> state = new AtomicReference<>();
		Awaitility.await().until(() -> {
			state.set(read("order-1"));
			return state.get().ageMillis() > 0;
		});
		assertThat(state.get().locks()).singleElement()
			.satisfies(
					(lock) -> assertThat(lock.leftMillis()).isEqualTo((left > 0) ? left + state.get().ageMillis() : 0));
	}

	private ConsoleState read(String filter) {
		return this.reader.read(filter, new EndpointPaths(() -> new PathMappedEndpoints("/actuator", List.of())));
	}

}
