package dev.dblock.shedlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.WhenLost;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.local.LocalLockRepository;
import dev.dblock.local.LocalLockStore;
import dev.dblock.settings.EngineSettings;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerTest;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.Mockito.mock;

/**
 * Locks of two providers at once, during a rolling update.
 */
class BesideTests {

	private static final Duration LONG = Duration.ofMinutes(5);

	private static final LockOptions DEFAULTS = new LockOptions(Duration.ofSeconds(30), Duration.ZERO, Duration.ZERO,
			Duration.ZERO, true, WhenLost.NOTIFY, null, null);

	private final DefaultLockEngine engine = new DefaultLockEngine(new LocalLockRepository(new LocalLockStore()),
			new EngineSettings("", "test", DEFAULTS, Duration.ofSeconds(10),
					new EngineSettings.Poll(Duration.ofMillis(50), Duration.ofSeconds(1)),
					new EngineSettings.HandOff(10_000, Duration.ofMillis(100))),
			List.of());

	private final LockTemplate locks = new DefaultLockTemplate(this.engine);

	private final Other other = new Other();

	private final DblockLockProvider both = new DblockLockProvider(this.locks).beside(this.other);

	@AfterEach
	void stop() {
		this.engine.close();
	}

	private static LockConfiguration stock(Duration atMost, Duration atLeast) {
		return DblockLockProviderTests.configuration("stock", atMost, atLeast);
	}

	private Optional<SimpleLock> lock() {
		return this.both.lock(stock(LONG, Duration.ZERO));
	}

	private boolean isFreeInDblock() {
		return this.locks.tryAcquire("stock").map(LockHandle::release).orElse(false);
	}

	@Test
	void bothLocksAreHeldUntilTheUnlock() {
		SimpleLock lock = lock().orElseThrow();
		assertThat(this.other.events).containsExactly("locked stock");
		assertThat(isFreeInDblock()).isFalse();
		lock.unlock();
		assertThat(this.other.events).containsExactly("locked stock", "unlocked");
		assertThat(isFreeInDblock()).isTrue();
	}

	@Test
	void lockOfDblockComesFirst() {
		LockHandle held = this.locks.acquire("stock");
		assertThat(lock()).isEmpty();
		assertThat(this.other.events).isEmpty();
		held.release();
	}

	@Test
	void refusalByTheOtherLeavesNothingBehind() {
		this.other.refusing = true;
		assertThat(this.both.lock(stock(LONG, Duration.ofMinutes(1)))).isEmpty();
		assertThat(isFreeInDblock()).as("despite lockAtLeastFor").isTrue();
		assertThat(LockContext.current()).isEmpty();
	}

	@Test
	void failureOfTheOtherLeavesNothingBehind() {
		this.other.failure = new IllegalStateException("unreachable");
		assertThatIllegalStateException().isThrownBy(() -> this.both.lock(stock(LONG, Duration.ofMinutes(1))))
			.withMessage("unreachable");
		assertThat(isFreeInDblock()).isTrue();
		assertThat(LockContext.current()).isEmpty();
	}

	@Test
	void failedUnlockOfTheOtherReleasesTheLockOfDblock() {
		SimpleLock lock = lock().orElseThrow();
		this.other.failure = new IllegalStateException("unreachable");
		assertThatIllegalStateException().isThrownBy(lock::unlock).withMessage("unreachable");
		assertThat(isFreeInDblock()).isTrue();
	}

	@Test
	void lockThatMayBeThatOfASuccessorIsNotUnlocked() {
		SimpleLock lock = this.both.lock(stock(Duration.ofSeconds(2), Duration.ZERO)).orElseThrow();
		Awaitility.await().atMost(Duration.ofMinutes(1)).until(this::isFreeInDblock);
		lock.unlock();
		assertThat(this.other.events).containsExactly("locked stock");
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void lockThatIsKeptAliveEndsAlthoughThatOfDblockWasLost(boolean extended) {
		ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
		try {
			SimpleLock lock = new DblockLockProvider(this.locks, true)
				.beside(new KeepAliveLockProvider(this.other, timer))
				.lock(stock(LONG, Duration.ZERO))
				.orElseThrow();
			LockHandle handle = LockContext.current().orElseThrow();
			assertThat(this.locks.forceReleaseNow("stock")).isTrue();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::renew);
			if (extended) {
				assertThat(lock.extend(LONG, Duration.ZERO)).isEmpty();
			}
			else {
				lock.unlock();
			}
			assertThat(this.other.events).containsExactly("locked stock", "unlocked");
		}
		finally {
			timer.shutdownNow();
		}
	}

	@Test
	void bothLocksAreExtended() {
		SimpleLock lock = lock().orElseThrow().extend(LONG, Duration.ZERO).orElseThrow();
		assertThat(this.other.events).containsExactly("locked stock", "extended");
		lock.unlock();
		assertThat(this.other.events).containsExactly("locked stock", "extended", "unlocked");
		assertThat(isFreeInDblock()).isTrue();
	}

	@Test
	void lockThatTheOtherCannotExtendIsNotExtended() {
		SimpleLock lock = lock().orElseThrow();
		this.other.refusing = true;
		assertThat(lock.extend(LONG.multipliedBy(2), Duration.ZERO)).isEmpty();
		assertThat(this.locks.inspect("stock").orElseThrow().remaining()).isLessThanOrEqualTo(LONG.plusSeconds(10));
	}

	@Test
	void failedExtensionKeepsTheLockThatTheOtherHasExtended() {
		SimpleLock lock = lock().orElseThrow();
		assertThatIllegalArgumentException().isThrownBy(() -> lock.extend(Duration.ofDays(400), Duration.ZERO));
		lock.unlock();
		assertThat(this.other.events).containsExactly("locked stock", "extended", "unlocked");
		assertThat(isFreeInDblock()).isTrue();
	}

	@Test
	void providerOfDblockItselfIsRejected() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.both.beside(new DblockLockProvider(this.locks)))
			.withMessageContaining("the locks of dblock too");
	}

	@Test
	void bothOrNoneOfTheProvidersKeepLocksAlive() {
		LockProvider alive = mock(KeepAliveLockProvider.class);
		assertThatIllegalArgumentException().isThrownBy(() -> new DblockLockProvider(this.locks).beside(alive));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new DblockLockProvider(this.locks, true).beside(this.other))
			.withMessageContaining("Other");
		assertThat(new DblockLockProvider(this.locks, true).beside(alive)).isNotNull();
	}

	/**
	 * Two instances on a real server.
	 */
	@Nested
	@MongoServerTest(faults = true)
	class OnAServer {

		@Test
		void failedExtensionKeepsTheExtendedLock(MongoServer server) {
			String database = server.freshDatabase();
			try (Instance first = new Instance("first", server.uri(), database);
					Instance second = new Instance("second", server.uri(), database)) {
				SimpleLock lock = first.dblock()
					.beside(first.shedLock())
					.lock(stock(LONG, Duration.ZERO))
					.orElseThrow();
				server.failCommand(FailCommand.on("update").errorCode(1).times(1));
				assertThatExceptionOfType(DataAccessException.class)
					.isThrownBy(() -> lock.extend(LONG.multipliedBy(2), Duration.ZERO));
				assertThat(second.shedLock().lock(stock(LONG, Duration.ZERO))).isEmpty();
				lock.unlock();
				assertThat(second.dblock().beside(second.shedLock()).lock(stock(LONG, Duration.ZERO))).isPresent();
			}
		}

	}

	/**
	 * A provider without a store.
	 */
	private static final class Other implements ExtensibleLockProvider {

		private final List<String> events = new ArrayList<>();

		private boolean refusing;

		private RuntimeException failure;

		private Optional<SimpleLock> answer(String event, LockConfiguration configuration) {
			if (this.failure != null) {
				throw this.failure;
			}
			if (this.refusing) {
				return Optional.empty();
			}
			this.events.add(event);
			return Optional.of(new AbstractSimpleLock(configuration) {

				@Override
				protected void doUnlock() {
					answer("unlocked", configuration);
				}

				@Override
				protected Optional<SimpleLock> doExtend(LockConfiguration extension) {
					return answer("extended", extension);
				}

			});
		}

		@Override
		public Optional<SimpleLock> lock(LockConfiguration configuration) {
			return answer("locked " + configuration.getName(), configuration);
		}

	}

}
