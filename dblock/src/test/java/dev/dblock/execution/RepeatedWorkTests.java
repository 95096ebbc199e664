package dev.dblock.execution;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockShutdownException;
import dev.dblock.LockUnavailableException;
import dev.dblock.WhenLost;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.job.JobFiring;
import dev.dblock.local.LocalLockRepository;
import dev.dblock.local.LocalLockStore;
import dev.dblock.settings.EngineSettings;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository;
import dev.dblock.store.LockRepository.AskAnswer;
import dev.dblock.store.LockRepository.FenceMark;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link RepeatedWork}.
 */
@Timeout(60)
@ExtendWith(OutputCaptureExtension.class)
class RepeatedWorkTests {

	private static final String UNKNOWN = "If the work under the lock 'index' was requested again while it ran, the next"
			+ " call runs it";

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private static final LockOptions DEFAULTS = new LockOptions(Duration.ofSeconds(5), Duration.ZERO, Duration.ZERO,
			Duration.ZERO, true, WhenLost.NOTIFY, null, null);

	private final LocalLockStore store = new LocalLockStore();

	private final LocalLockRepository repository = new LocalLockRepository(this.store);

	private final List<String> requests = new CopyOnWriteArrayList<>();

	private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

	private final List<DefaultLockEngine> engines = new ArrayList<>();

	private final DefaultLockTemplate here = instance("here");

	private final DefaultLockTemplate elsewhere = instance("elsewhere");

	private final ExecutorService executor = Executors.newCachedThreadPool();

	private final AtomicInteger runs = new AtomicInteger();

	private final CountDownLatch begun = new CountDownLatch(1);

	private final CountDownLatch mayEnd = new CountDownLatch(1);

	@AfterEach
	void close() {
		this.executor.shutdownNow();
		this.engines.forEach(DefaultLockEngine::close);
	}

	private DefaultLockTemplate instance(String name) {
		return instance(name, new EngineSettings.HandOff(1, Duration.ZERO));
	}

	private DefaultLockTemplate instance(String name, EngineSettings.HandOff handOff) {
		DefaultLockEngine engine = new DefaultLockEngine(recorded(new LocalLockRepository(this.store)),
				new EngineSettings("", name, DEFAULTS, TIMEOUT,
						new EngineSettings.Poll(Duration.ofMillis(10), Duration.ofMillis(100), false), handOff),
				List.of());
		this.engines.add(engine);
		return new DefaultLockTemplate(engine);
	}

	/**
	 * Record the requests to a repository, and let its next requests to close the
	 * requests fail.
	 */
	private LockRepository recorded(LockRepository locks) {
		return (LockRepository) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { LockRepository.class }, (proxy, method, arguments) -> {
					if (List.of("acquire", "ask", "closeRequests", "release").contains(method.getName())) {
						this.requests.add(method.getName());
					}
					Throwable failure = method.getName().equals("closeRequests") ? this.failures.poll() : null;
					if (failure != null) {
						throw failure;
					}
					try {
						return method.invoke(locks, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

	private Future<Boolean> inBackground(DefaultLockTemplate locks) throws InterruptedException {
		Future<Boolean> call = this.executor.submit(() -> locks.executeOrRunAgain("index", this::firstRunWaits));
		assertThat(this.begun.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
		return call;
	}

	private void firstRunWaits() throws InterruptedException {
		if (this.runs.incrementAndGet() == 1) {
			this.begun.countDown();
			this.mayEnd.await();
		}
	}

	private LeaseKey acquired(boolean askable) {
		LeaseKey key = new LeaseKey("index", "holder");
		LockRepository.AcquireAnswer answer = this.repository
			.acquire(new AcquireRequest(key, DEFAULTS.lease(), "another", "main", "work", TIMEOUT, 1, null, askable));
		assertThat(answer).isInstanceOf(LockRepository.AcquireAnswer.Granted.class);
		return key;
	}

	@Test
	void aCallThatNobodyDisturbsSendsThreeRequests() {
		assertThat(this.here.executeOrRunAgain("index", this.runs::incrementAndGet)).isTrue();
		assertThat(this.runs).hasValue(1);
		assertThat(this.requests).containsExactly("acquire", "closeRequests", "release");
	}

	@Test
	void tenCallsDuringARunCauseOneMore() throws Exception {
		Future<Boolean> call = inBackground(this.here);
		for (int i = 0; i < 10; i++) {
			DefaultLockTemplate locks = (i % 2 == 0) ? this.here : this.elsewhere;
			assertThat(locks.executeOrRunAgain("index", () -> {
				throw new AssertionError("runs in this call");
			})).isFalse();
		}
		assertThat(this.runs).hasValue(1);
		this.mayEnd.countDown();
		assertThat(call.get()).isTrue();
		assertThat(this.runs).hasValue(2);
		assertThat(this.elsewhere.tryAcquire("index")).isPresent();
	}

	@Test
	void everyCallIsServedByARunThatBeginsAfterIt() throws Exception {
		AtomicInteger source = new AtomicInteger();
		AtomicInteger index = new AtomicInteger();
		List<Future<?>> callers = new ArrayList<>();
		for (int i = 0; i < 6; i++) {
			DefaultLockTemplate locks = (i % 2 == 0) ? this.here : this.elsewhere;
			callers.add(this.executor.submit(() -> {
				for (int call = 0; call < 300; call++) {
					source.incrementAndGet();
					locks.executeOrRunAgain("index", () -> {
						assertThat(this.runs.incrementAndGet()).as("runs at the same time").isEqualTo(1);
						index.set(source.get());
						this.runs.decrementAndGet();
					});
				}
				return null;
			}));
		}
		for (Future<?> caller : callers) {
			caller.get();
		}
		Awaitility.await().untilAsserted(() -> assertThat(index).hasValue(6 * 300));
	}

	@Test
	void aFailureIsLoggedIfTheWorkRunsOnceMore(CapturedOutput output) throws Exception {
		Future<Boolean> call = this.executor.submit(() -> this.here.executeOrRunAgain("index", () -> {
			firstRunWaits();
			if (this.runs.get() == 1) {
				throw new IllegalStateException("scripted");
			}
		}));
		assertThat(this.begun.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
		assertThat(this.elsewhere.executeOrRunAgain("index", this.runs::incrementAndGet)).isFalse();
		this.mayEnd.countDown();
		assertThat(call.get()).isTrue();
		assertThat(this.runs).hasValue(2);
		assertThat(output).contains("The work under the lock 'index' failed, and runs once more")
			.contains("IllegalStateException: scripted");
	}

	@Test
	void theFailureOfTheLastRunIsThrown(CapturedOutput output) {
		assertThatIllegalStateException().isThrownBy(() -> this.here.executeOrRunAgain("index", () -> {
			throw new IllegalStateException("scripted");
		})).withMessage("scripted");
		assertThat(output).doesNotContain("runs once more");
		assertThat(this.elsewhere.tryAcquire("index")).isPresent();
	}

	@Test
	void anErrorOfTheVirtualMachineEndsTheWork(CapturedOutput output) throws Exception {
		Future<Boolean> call = this.executor.submit(() -> this.here.executeOrRunAgain("index", () -> {
			firstRunWaits();
			throw new InternalError("scripted");
		}));
		assertThat(this.begun.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
		assertThat(this.elsewhere.executeOrRunAgain("index", this.runs::incrementAndGet)).isFalse();
		this.mayEnd.countDown();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(call::get)
			.withCauseInstanceOf(InternalError.class);
		assertThat(this.runs).hasValue(1);
		assertThat(this.elsewhere.tryAcquire("index")).isPresent();
		assertThat(output).contains(UNKNOWN).contains("InternalError: scripted");
	}

	@Test
	void anInterruptedThreadDoesNotRunAgain(CapturedOutput output) throws Exception {
		Future<Boolean> call = this.executor.submit(() -> this.here.executeOrRunAgain("index", () -> {
			firstRunWaits();
			Thread.currentThread().interrupt();
		}));
		assertThat(this.begun.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
		assertThat(this.elsewhere.executeOrRunAgain("index", this.runs::incrementAndGet)).isFalse();
		this.mayEnd.countDown();
		assertThat(call.get()).isTrue();
		assertThat(this.runs).hasValue(1);
		assertThat(output).contains(UNKNOWN);
	}

	@Test
	void aLockWhoseRequestsAreClosedIsAwaited() throws Exception {
		LeaseKey key = acquired(true);
		assertThat(this.repository.closeRequests(key, null, TIMEOUT)).isEmpty();
		Future<Boolean> call = this.executor
			.submit(() -> this.here.executeOrRunAgain("index", this.runs::incrementAndGet));
		Awaitility.await().until(() -> this.requests.stream().filter("ask"::equals).count() > 1);
		assertThat(call.isDone()).isFalse();
		this.repository.release(key, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT);
		assertThat(call.get()).isTrue();
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void aWaitEndsWhenTheApplicationShutsDown() {
		this.repository.closeRequests(acquired(true), null, TIMEOUT);
		Future<Boolean> call = this.executor
			.submit(() -> this.here.executeOrRunAgain("index", this.runs::incrementAndGet));
		Awaitility.await().until(() -> this.requests.contains("ask"));
		this.engines.get(0).refuseWaiters();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(call::get)
			.withCauseInstanceOf(LockShutdownException.class);
	}

	@Test
	void aLockThatDoesNotBecomeFreeIsRefusedAtLast() {
		LeaseKey key = acquired(true);
		this.repository.closeRequests(key, null, TIMEOUT);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.here.executeOrRunAgain("index",
				LockOptions.lease(Duration.ofMillis(500)), this.runs::incrementAndGet));
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void theNextCallRunsTheWorkOfAHolderThatCrashed() {
		acquired(true);
		assertThat(this.here.executeOrRunAgain("index", this.runs::incrementAndGet)).isFalse();
		this.store.expire("index");
		assertThat(this.here.executeOrRunAgain("index", this.runs::incrementAndGet)).isTrue();
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void aHolderOfOtherWorkIsNotAsked() {
		acquired(false);
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.here.executeOrRunAgain("index", this.runs::incrementAndGet))
			.withMessageContaining("held by another")
			.withMessageContaining("Its holder does not run its work again on request. Use another name");
	}

	@Test
	void aHandleOfTheSameThreadIsNotAsked() {
		try (LockHandle handle = this.here.acquire("index")) {
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> this.here.executeOrRunAgain("index", this.runs::incrementAndGet))
				.withMessageContaining("This thread itself holds it");
			assertThat(this.here.<Boolean>within(handle,
					() -> this.here.executeOrRunAgain("index", this.runs::incrementAndGet)))
				.isTrue();
		}
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void aThreadDoesNotWaitForItsOwnLockThatAnOperatorReleased() {
		try (LockHandle handle = this.here.acquire("index")) {
			this.repository.forceRelease("index");
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> this.here.executeOrRunAgain("index", this.runs::incrementAndGet))
				.withMessageContaining("This thread itself holds it");
			assertThat(this.requests).containsExactly("acquire", "ask", "ask");
			handle.release();
		}
	}

	@Test
	void aNestedCallRunsAtOnce() {
		assertThat(this.here.executeOrRunAgain("index",
				() -> assertThat(this.here.executeOrRunAgain("index", this.runs::incrementAndGet)).isTrue()))
			.isTrue();
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void requestsAreClosedOnceTheServerAnswers() throws Exception {
		Future<Boolean> call = inBackground(this.here);
		assertThat(this.elsewhere.executeOrRunAgain("index", this.runs::incrementAndGet)).isFalse();
		this.failures.addAll(List.of(new QueryTimeoutException("scripted"), new QueryTimeoutException("scripted")));
		this.mayEnd.countDown();
		assertThat(call.get()).isTrue();
		assertThat(this.runs).hasValue(2);
		assertThat(this.failures).isEmpty();
	}

	@Test
	void workWhoseLeaseIsLostDoesNotRunAgain() throws Exception {
		Future<Boolean> call = inBackground(this.here);
		assertThat(this.elsewhere.executeOrRunAgain("index", this.runs::incrementAndGet)).isFalse();
		this.store.expire("index");
		assertThat(this.elsewhere.executeOrRunAgain("index", this.runs::incrementAndGet)).isTrue();
		this.mayEnd.countDown();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(call::get)
			.withCauseInstanceOf(LockLostException.class);
		assertThat(this.runs).hasValue(2);
	}

	@Test
	void aFailureThatWillNotPassEndsTheWork(CapturedOutput output) {
		this.failures.add(new InvalidDataAccessResourceUsageException("scripted"));
		assertThat(this.here.executeOrRunAgain("index", this.runs::incrementAndGet)).isTrue();
		assertThat(output).contains(UNKNOWN).contains("InvalidDataAccessResourceUsageException: scripted");
		assertThat(this.elsewhere.tryAcquire("index")).isPresent();
	}

	@Test
	void theLockIsReleasedWhateverFails() {
		this.failures.addAll(List.of(new NoClassDefFoundError("scripted"), new NoClassDefFoundError("again")));
		assertThatExceptionOfType(NoClassDefFoundError.class)
			.isThrownBy(() -> this.here.executeOrRunAgain("index", this.runs::incrementAndGet))
			.withMessage("scripted");
		assertThat(this.elsewhere.tryAcquire("index")).isPresent();
	}

	@Test
	void workWhoseLeaseHasEndedDoesNotRunAgainAlthoughNoOtherHasTheLock() throws Exception {
		CountDownLatch lost = new CountDownLatch(1);
		Future<Boolean> call = this.executor.submit(() -> this.here.executeOrRunAgain("index",
				LockOptions.lease(Duration.ofMillis(200)).autoRenew(false), () -> {
					LockContext.current().orElseThrow().onLost((reason) -> lost.countDown());
					firstRunWaits();
				}));
		assertThat(this.begun.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
		this.elsewhere.executeOrRunAgain("index", () -> {
		});
		lost.await();
		this.mayEnd.countDown();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(call::get)
			.withCauseInstanceOf(LockLostException.class);
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void theLockIsNotHandedOverToOtherWorkOfTheProcess() throws Exception {
		DefaultLockTemplate handing = instance("handing", new EngineSettings.HandOff(10, TIMEOUT));
		Future<Boolean> call = inBackground(handing);
		Future<AskAnswer> waiter = this.executor.submit(() -> {
			try (LockHandle handle = handing.acquire("index", LockOptions.defaults().waitUpTo(TIMEOUT))) {
				return this.repository.ask("index", "late", TIMEOUT);
			}
		});
		Awaitility.await().until(() -> this.requests.stream().filter("acquire"::equals).count() >= 1);
		this.mayEnd.countDown();
		assertThat(call.get()).isTrue();
		assertThat(waiter.get()).isEqualTo(AskAnswer.NOT_ASKABLE);
	}

	@Test
	void workThatContinuesAfterTheRunIsRefused() {
		CompletableFuture<Integer> pending = new CompletableFuture<>();
		assertThatIllegalStateException()
			.isThrownBy(
					() -> this.here.executeOrRunAgain("index", () -> this.here.executeAsync("index", () -> pending)))
			.withMessageContaining("continues after its run")
			.withMessageContaining("Finish the work in the run");
		assertThat(this.elsewhere.tryAcquire("index")).isEmpty();
		assertThat(this.repository.ask("index", "late", TIMEOUT)).isEqualTo(AskAnswer.NO_HOLDER);
		pending.complete(1);
		Awaitility.await().until(() -> this.elsewhere.tryAcquire("index").isPresent());
	}

	@Test
	void thereIsNoMinimumHold() {
		LockOptions options = LockOptions.defaults().minHold(DEFAULTS.lease());
		assertThat(this.here.executeOrRunAgain("index", options, this.runs::incrementAndGet)).isTrue();
		assertThat(this.elsewhere.executeOrRunAgain("index", options, this.runs::incrementAndGet)).isTrue();
	}

	@Test
	void aCallAfterTheCommitIsMadeInAnotherThread() {
		TransactionTemplate transactions = new TransactionTemplate(new NoResourceTransactionManager());
		List<Future<Boolean>> calls = new ArrayList<>();
		transactions.executeWithoutResult(
				(status) -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCommit() {
						assertThatIllegalStateException()
							.isThrownBy(() -> RepeatedWorkTests.this.here.executeOrRunAgain("index",
									RepeatedWorkTests.this.runs::incrementAndGet))
							.withMessageContaining("after the commit, in another thread");
						calls.add(RepeatedWorkTests.this.executor.submit(() -> RepeatedWorkTests.this.here
							.executeOrRunAgain("index", RepeatedWorkTests.this.runs::incrementAndGet)));
					}

				}));
		assertThat(calls).hasSize(1).allSatisfy((call) -> assertThat(call.get()).isTrue());
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void aCallInATransactionIsRefused() {
		TransactionSynchronizationManager.setActualTransactionActive(true);
		try {
			assertThatIllegalStateException()
				.isThrownBy(() -> this.here.executeOrRunAgain("index", this.runs::incrementAndGet))
				.withMessageContaining("must not be requested in a transaction")
				.withMessageContaining("Request it after the commit");
		}
		finally {
			TransactionSynchronizationManager.setActualTransactionActive(false);
		}
		assertThat(this.requests).isEmpty();
	}

	@Test
	void severalLocksAndPlannedTimesAreRefused() {
		assertThatIllegalStateException()
			.isThrownBy(() -> this.here.forAll(Map.of("a", DEFAULTS, "b", DEFAULTS))
				.executeOrRunAgain("index", this.runs::incrementAndGet))
			.withMessageContaining("has a single lock");
		LockOptions planned = LockOptions.defaults().claim(JobFiring.at(Instant.now()));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.here.executeOrRunAgain("index", planned, this.runs::incrementAndGet))
			.withMessageContaining("is not repeated on request");
	}

	/**
	 * Transactions without anything to commit.
	 */
	private static final class NoResourceTransactionManager extends AbstractPlatformTransactionManager {

		private static final long serialVersionUID = 1L;

		@Override
		protected Object doGetTransaction() {
			return "transaction";
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
		}

	}

}
