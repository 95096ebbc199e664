package dev.dblock.core;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockInterruptedException;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockUnavailableException;
import dev.dblock.core.Request.Kind;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.reactive.ReactiveLockTemplate;
import dev.dblock.store.RepositoryInterruptedException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;

import org.springframework.dao.DataAccessResourceFailureException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * A call that re-enters a lock has it for as long as if it had acquired it.
 */
@Timeout(300)
class ReentryTests {

	private static final Duration SHORT = Duration.ofSeconds(1);

	private static final Duration LONG = Duration.ofSeconds(60);

	private static final LockOptions SHORTLY = LockOptions.lease(SHORT).autoRenew(false);

	private static final LockOptions LONGER = LockOptions.lease(LONG).autoRenew(false);

	private static final LockOptions UNRENEWED = LockOptions.defaults().autoRenew(false);

	private final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	private final DefaultLockTemplate locks = this.world.template();

	private final ScriptedTransactions transactions = new ScriptedTransactions();

	@AfterEach
	void close() {
		assertThat(LockContext.current()).isEmpty();
		assertThat(LockContext.current("a")).isEmpty();
		this.world.close();
	}

	private static LockHandle handle() {
		return LockContext.current("a").orElseThrow();
	}

	private static boolean isRenewing() {
		return ((LeaseHandle) handle()).lease().isRenewing();
	}

	private int extensions() {
		return this.repository.count(Kind.EXTEND, "a") + this.repository.count(Kind.RENEW, "a");
	}

	static Stream<Way> inner() {
		return Stream.of(Way.EXECUTE, Way.FUTURE, Way.LOCK, Way.SEVERAL, Way.REACTIVE);
	}

	/**
	 * Each way to re-enter under each way to hold the lock. A sequence does not re-enter
	 * what its thread has locked manually or what a transaction of it keeps for later.
	 */
	static Stream<Arguments> nested() {
		return Stream.of(Way.EXECUTE, Way.FUTURE, Way.LOCK, Way.SEVERAL, Way.WITHIN)
			.flatMap((outer) -> inner().filter((inner) -> outer != Way.LOCK || inner != Way.REACTIVE)
				.map((inner) -> arguments(outer, inner)));
	}

	@ParameterizedTest
	@MethodSource("nested")
	void lastsAsLongAsTheInnerCallAsksFor(Way outer, Way inner) {
		outer.run(this.locks, SHORTLY, () -> {
			inner.run(this.locks, LONGER, () -> {
				assertThat(extensions()).isEqualTo(1);
				assertThat(handle().remaining()).isEqualTo(LONG);
				inner.run(this.locks, SHORTLY, () -> assertThat(extensions()).isEqualTo(1));
				this.world.advance(LONG.minusMillis(1));
				assertThat(handle().isHeld()).isTrue();
				assertThat(this.repository.isHeld("a")).isTrue();
			});
			assertThat(handle().isHeld()).isTrue();
		});
		assertThat(this.repository.isHeld("a")).isFalse();
	}

	@ParameterizedTest
	@MethodSource("nested")
	void isRenewedWhileTheInnerCallRuns(Way outer, Way inner) {
		outer.run(this.locks, SHORTLY, () -> {
			assertThat(isRenewing()).isFalse();
			inner.run(this.locks, LockOptions.defaults(), () -> {
				assertThat(handle().remaining()).isEqualTo(LockWorld.LEASE);
				inner.run(this.locks, LockOptions.defaults(), () -> assertThat(isRenewing()).isTrue());
				assertThat(isRenewing()).isTrue();
				this.world.advance(LockWorld.LEASE.minus(SHORT.dividedBy(2)));
				LockHandle held = handle();
				LockWorld.eventually().until(() -> held.remaining().equals(SHORT));
			});
			assertThat(isRenewing()).isFalse();
			assertThat(handle().isHeld()).isTrue();
		});
	}

	@ParameterizedTest
	@MethodSource("nested")
	void asksNothingOfTheServerWhereTheLeaseIsRenewedAnyway(Way outer, Way inner) {
		outer.run(this.locks, LockOptions.defaults(), () -> {
			this.world.clock().advance(Duration.ofSeconds(9));
			inner.run(this.locks, LockOptions.defaults(), () -> assertThat(isRenewing()).isTrue());
			inner.run(this.locks, UNRENEWED, () -> assertThat(isRenewing()).isTrue());
			inner.run(this.locks, SHORTLY, () -> assertThat(isRenewing()).isTrue());
			assertThat(isRenewing()).isTrue();
		});
		assertThat(extensions()).isZero();
	}

	@ParameterizedTest
	@MethodSource("inner")
	void renewsALeaseOfTheSameLengthThatIsNotRenewedByItself(Way inner) {
		Way.EXECUTE.run(this.locks, UNRENEWED, () -> {
			this.world.clock().advance(SHORT);
			inner.run(this.locks, UNRENEWED, () -> assertThat(handle().remaining()).isEqualTo(LockWorld.LEASE));
		});
		assertThat(this.repository.count(Kind.RENEW, "a")).isEqualTo(1);
		assertThat(this.repository.count(Kind.EXTEND, "a")).isZero();
	}

	@ParameterizedTest
	@MethodSource("inner")
	void doesNotBeginWhereTheServerCannotBeAsked(Way inner) {
		Way.EXECUTE.run(this.locks, SHORTLY, () -> {
			this.repository.next(Kind.EXTEND, Fault.lost(() -> new DataAccessResourceFailureException("scripted")));
			assertThatExceptionOfType(DataAccessResourceFailureException.class)
				.isThrownBy(() -> inner.run(this.locks, LockOptions.lease(LONG), () -> {
					throw new AssertionError("begun");
				}));
			assertThat(isRenewing()).isFalse();
			assertThat(handle().isHeld()).isTrue();
		});
	}

	@ParameterizedTest
	@MethodSource("inner")
	void doesNotBeginWhereTheLockIsLost(Way inner) {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> Way.EXECUTE.run(this.locks, SHORTLY, () -> {
			this.world.rob("a");
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> inner.run(this.locks, LONGER, () -> {
				throw new AssertionError("begun");
			}));
		}));
	}

	@ParameterizedTest
	@MethodSource("inner")
	void endsItsRenewalWhenTheWorkFails(Way inner) {
		Way.EXECUTE.run(this.locks, SHORTLY, () -> {
			assertThatThrownBy(() -> inner.run(this.locks, LockOptions.defaults(), () -> {
				throw new IllegalStateException("scripted");
			})).hasMessageContaining("scripted");
			assertThat(isRenewing()).isFalse();
		});
	}

	@ParameterizedTest
	@MethodSource("inner")
	void refusesInvalidOptions(Way inner) {
		LockOptions invalid = LockOptions.lease(Duration.ofMillis(1));
		Way.EXECUTE.run(this.locks, LockOptions.defaults(),
				() -> assertThatIllegalArgumentException().isThrownBy(() -> inner.run(this.locks, invalid, () -> {
				})));
	}

	@Test
	void isRenewedUntilTheLastCallThatRequestedItHasEnded() {
		CompletableFuture<String> first = new CompletableFuture<>();
		CompletableFuture<String> second = new CompletableFuture<>();
		Way.EXECUTE.run(this.locks, SHORTLY, () -> {
			this.locks.executeAsync("a", LockOptions.defaults(), () -> first, (refusal) -> null);
			this.locks.executeAsync("a", LockOptions.defaults(), () -> second, (refusal) -> null);
			first.complete("done");
			assertThat(isRenewing()).isTrue();
			handle().startRenewal();
			handle().stopRenewal();
			assertThat(isRenewing()).as("stopped by hand").isFalse();
			second.complete("done");
			assertThat(isRenewing()).isFalse();
		});
	}

	@Test
	void isRenewedForWorkThatOutlivesTheOuterCall() {
		CompletableFuture<String> work = new CompletableFuture<>();
		this.locks.execute("a", SHORTLY, () -> {
			this.locks.executeAsync("a", LockOptions.defaults(), () -> work, (refusal) -> null);
		});
		this.world.advance(LockWorld.LEASE.minus(SHORT.dividedBy(2)));
		LockWorld.eventually().until(() -> this.repository.count(Kind.RENEW, "a") == 1);
		assertThat(this.repository.isHeld("a")).isTrue();
		work.complete("done");
		LockWorld.eventually().until(() -> !this.repository.isHeld("a"));
	}

	@ParameterizedTest
	@MethodSource("inner")
	void isRenewedToTheEndOfTheTransactionThatKeepsTheLock(Way inner) {
		this.transactions.run(() -> {
			LeaseHandle[] kept = new LeaseHandle[1];
			this.locks.execute("a", SHORTLY, () -> {
				kept[0] = (LeaseHandle) handle();
			});
			inner.run(this.locks, LockOptions.defaults(),
					() -> assertThat(kept[0].remaining()).isEqualTo(LockWorld.LEASE));
			assertThat(kept[0].lease().isRenewing()).isTrue();
			assertThat(this.repository.isHeld("a")).isTrue();
		});
		assertThat(this.repository.isHeld("a")).isFalse();
	}

	@Test
	void getsNoLongerAfterTheMaximumHoldOfTheOuterCall() {
		Way.EXECUTE.run(this.locks, SHORTLY.maxHold(LONG),
				() -> Way.EXECUTE.run(this.locks, LockOptions.defaults(), () -> {
					assertThat(isRenewing()).isTrue();
					handle().extend(LONG.plus(SHORT));
					this.world.clock().advance(LONG);
					assertThat(isRenewing()).isFalse();
					Way.EXECUTE.run(this.locks, LockOptions.defaults(),
							() -> assertThat(handle().remaining()).isEqualTo(SHORT));
					Way.EXECUTE.run(this.locks, LONGER, () -> assertThat(handle().remaining()).isEqualTo(SHORT));
				}));
	}

	@ParameterizedTest
	@MethodSource("inner")
	void throwsAsAcquiringWouldWhenInterrupted(Way inner) {
		Way.EXECUTE.run(this.locks, SHORTLY, () -> {
			this.repository.next(Kind.EXTEND, interruption());
			AtomicBoolean begun = new AtomicBoolean();
			ThrowingCallable reentry = () -> inner.run(this.locks, LONGER, () -> begun.set(true));
			if (inner == Way.LOCK) {
				assertThatNoException().as("lock() is not interrupted").isThrownBy(reentry);
			}
			else {
				assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(reentry);
			}
			assertThat(begun.get()).isEqualTo(inner == Way.LOCK);
			boolean inThisThread = inner != Way.REACTIVE;
			assertThat(Thread.interrupted()).as("interrupt status").isEqualTo(inThisThread);
		});
	}

	@Test
	void interruptedLockThrowsInterruptedException() {
		Way.EXECUTE.run(this.locks, SHORTLY, () -> {
			this.repository.next(Kind.EXTEND, interruption());
			assertThatExceptionOfType(InterruptedException.class)
				.isThrownBy(() -> this.locks.asLock("a", LONGER).lockInterruptibly());
			assertThat(Thread.interrupted()).as("interrupt status").isFalse();
		});
	}

	private static Fault interruption() {
		return Fault.lost(() -> {
			Thread.currentThread().interrupt();
			return new RepositoryInterruptedException(new IllegalStateException("scripted"));
		});
	}

	@Test
	void endsItsRenewalWhereAnotherOfSeveralLocksIsHeld() {
		this.world.anotherProcess().acquire("b");
		Way.EXECUTE.run(this.locks, SHORTLY, () -> {
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> this.locks.executeAll(List.of("a", "b"), LockOptions.defaults(), () -> {
					throw new AssertionError("begun");
				}));
			assertThat(isRenewing()).isFalse();
		});
	}

	@Test
	void isExtendedAgainWhereOthersOfSeveralLocksWereWaitedFor() throws Exception {
		Duration wait = Duration.ofSeconds(10);
		LockHandle other = this.world.anotherProcess().acquire("b");
		Worker<Duration> worker = Worker.start(() -> this.locks.execute("a", SHORTLY, () -> {
			LockOptions patient = LONGER.waitUpTo(Duration.ofHours(1));
			return this.locks.executeAll(Map.of("a", patient, "b", patient), () -> handle().remaining());
		}));
		LockWorld.eventually().until(() -> this.repository.count(Kind.EXTEND, "a") == 1);
		worker.awaitWaiting();
		this.world.clock().advance(wait);
		other.close();
		LockWorld.eventually().until(() -> {
			this.world.clock().advance(Duration.ofMillis(2));
			return worker.isDone();
		});
		assertThat(worker.result()).isGreaterThan(LONG.minus(wait));
		assertThat(this.repository.count(Kind.EXTEND, "a")).isEqualTo(2);
	}

	/**
	 * A way to hold the lock {@code a} during some work.
	 */
	private enum Way {

		EXECUTE {

			@Override
			void run(DefaultLockTemplate locks, LockOptions options, Runnable work) {
				locks.execute("a", options, work::run);
			}

		},

		FUTURE {

			@Override
			void run(DefaultLockTemplate locks, LockOptions options, Runnable work) {
				try {
					locks.executeAsync("a", options, () -> {
						work.run();
						return CompletableFuture.completedFuture("done");
					}, (refusal) -> {
						throw refusal.toException();
					}).toCompletableFuture().join();
				}
				catch (CompletionException ex) {
					throw (RuntimeException) ex.getCause();
				}
			}

		},

		LOCK {

			@Override
			void run(DefaultLockTemplate locks, LockOptions options, Runnable work) {
				Lock lock = locks.asLock("a", options);
				lock.lock();
				try {
					work.run();
				}
				finally {
					lock.unlock();
				}
			}

		},

		SEVERAL {

			@Override
			void run(DefaultLockTemplate locks, LockOptions options, Runnable work) {
				locks.executeAll(List.of("a"), options, work::run);
			}

		},

		REACTIVE {

			@Override
			void run(DefaultLockTemplate locks, LockOptions options, Runnable work) {
				new ReactiveLockTemplate(locks.engine()).execute("a", options, () -> {
					work.run();
					return Mono.just("done");
				}, (refusal) -> Mono.error(refusal.toException())).block();
			}

		},

		WITHIN {

			@Override
			void run(DefaultLockTemplate locks, LockOptions options, Runnable work) {
				try (LockHandle handle = locks.acquire("a", options)) {
					locks.within(handle, () -> {
						work.run();
						return "done";
					});
				}
			}

		};

		abstract void run(DefaultLockTemplate locks, LockOptions options, Runnable work);

	}

}
