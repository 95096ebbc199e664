package dev.dblock.shedlock;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicIntegerArray;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockInfo;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerTest;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockAssert;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The contract of ShedLock's providers that can extend locks.
 */
@MongoServerTest
class DblockLockProviderTests {

	private static final Duration LONG = Duration.ofMinutes(5);

	/** Longer than a request on a busy machine, or the lock ends before its answer. */
	private static final Duration SHORT = Duration.ofSeconds(2);

	/** Long enough that a busy machine renews it in time. */
	static final Duration RENEWED = Duration.ofSeconds(12);

	private Instance first;

	private Instance second;

	@BeforeEach
	void start(MongoServer server) {
		String database = server.freshDatabase();
		this.first = new Instance("first", server.uri(), database);
		this.second = new Instance("second", server.uri(), database);
	}

	@AfterEach
	void stop() {
		this.first.close();
		this.second.close();
	}

	private static ConditionFactory eventually() {
		return Awaitility.await().atMost(Duration.ofMinutes(2)).pollInterval(Duration.ofMillis(10));
	}

	static LockConfiguration configuration(String name, Duration atMost, Duration atLeast) {
		return new LockConfiguration(ClockProvider.now(), name, atMost, atLeast);
	}

	private static SimpleLock lock(LockProvider provider, Duration atMost, Duration atLeast) {
		return provider.lock(configuration("stock", atMost, atLeast)).orElseThrow();
	}

	private boolean isFree() {
		return this.second.dblock().lock(configuration("stock", LONG, Duration.ZERO)).map((lock) -> {
			lock.unlock();
			return true;
		}).orElse(false);
	}

	private LockInfo info() {
		return this.second.locks().inspect("stock").orElseThrow();
	}

	private Duration unavailableFor(SimpleLock lock) {
		Instant from = info().updatedAt();
		return Duration.between(from, info().expiresAt());
	}

	@Test
	void lockExcludesOthersAndItsOwnThreadUntilItIsUnlocked() {
		for (int i = 0; i < 10; i++) {
			SimpleLock lock = lock(this.first.dblock(), LONG, Duration.ZERO);
			assertThat(isFree()).isFalse();
			assertThat(this.first.dblock().lock(configuration("stock", LONG, Duration.ZERO))).isEmpty();
			assertThat(this.second.dblock().lock(configuration("other", LONG, Duration.ZERO)))
				.hasValueSatisfying(SimpleLock::unlock);
			lock.unlock();
			assertThat(isFree()).isTrue();
		}
	}

	@Test
	void configurationFromLongAgoCanBeUsedAgain() {
		LockConfiguration old = new LockConfiguration(Instant.now().minusSeconds(3600), "stock", LONG,
				Duration.ofMinutes(1));
		assertThat(this.first.dblock().lock(old)).isPresent();
		assertThat(isFree()).isFalse();
	}

	@Test
	void lockEndsWithItsLeaseIfItIsDropped() {
		lock(this.first.dblock(), SHORT, Duration.ZERO);
		eventually().until(this::isFree);
	}

	@Test
	void lockThatIsKeptAliveEndsAfterItWasDropped() {
		lock(this.first.keepAlive(), Duration.ofSeconds(2), Duration.ZERO);
		eventually().until(() -> {
			System.gc();
			return isFree();
		});
		assertThat(LockContext.current()).isEmpty();
	}

	@Test
	void lockThatIsKeptAliveOutlivesItsLease() {
		SimpleLock lock = lock(this.first.keepAlive(), RENEWED, Duration.ZERO);
		Instant end = info().expiresAt();
		eventually().until(() -> info().updatedAt().isAfter(end));
		assertThat(isFree()).isFalse();
		lock.unlock();
		assertThat(isFree()).isTrue();
	}

	@Test
	void lockIsUnavailableForAtLeastTheGivenTime() {
		SimpleLock lock = lock(this.first.dblock(), LONG, Duration.ofSeconds(4));
		Instant granted = info().acquiredAt();
		lock.unlock();
		assertThat(isFree()).isFalse();
		eventually().until(this::isFree);
		assertThat(this.second.locks().acquire("clock").release()).isTrue();
		assertThat(this.second.locks().inspect("clock").orElseThrow().acquiredAt())
			.isAfterOrEqualTo(granted.plusSeconds(4));
	}

	@Test
	void extensionReplacesBothTimes() {
		SimpleLock lock = lock(this.first.dblock(), Duration.ofSeconds(5), Duration.ZERO);
		SimpleLock longer = lock.extend(LONG, Duration.ZERO).orElseThrow();
		assertThat(unavailableFor(longer)).isBetween(LONG.minusSeconds(2), LONG.plusSeconds(2));
		SimpleLock held = longer.extend(LONG, Duration.ofMinutes(2)).orElseThrow();
		SimpleLock shorter = held.extend(Duration.ofSeconds(40), Duration.ZERO).orElseThrow();
		assertThat(unavailableFor(shorter)).isBetween(Duration.ofSeconds(38), Duration.ofSeconds(42));
		assertThat(isFree()).isFalse();
		shorter.unlock();
		assertThat(isFree()).as("the last extension has no minimum").isTrue();
	}

	@Test
	void extensionCanCarryAMinimumHold() {
		lock(this.first.dblock(), LONG, Duration.ZERO).extend(LONG, Duration.ofMinutes(1)).orElseThrow().unlock();
		assertThat(isFree()).isFalse();
		assertThat(info().held()).isFalse();
	}

	@Test
	void extensionCanShortenTheLock() {
		assertThat(lock(this.first.dblock(), LONG, Duration.ZERO).extend(SHORT, Duration.ZERO)).isPresent();
		eventually().until(this::isFree);
	}

	@Test
	void expiredLockCannotBeExtended() {
		SimpleLock lock = lock(this.first.dblock(), SHORT, Duration.ZERO);
		eventually().until(this::isFree);
		assertThat(lock.extend(LONG, Duration.ZERO)).isEmpty();
		assertThat(isFree()).isTrue();
	}

	@Test
	void spentLockIsRejected() {
		SimpleLock extended = lock(this.first.dblock(), LONG, Duration.ZERO);
		SimpleLock lock = extended.extend(LONG, Duration.ZERO).orElseThrow();
		assertThatIllegalStateException().isThrownBy(extended::unlock);
		assertThatIllegalStateException().isThrownBy(() -> extended.extend(LONG, Duration.ZERO));
		assertThat(isFree()).isFalse();
		lock.unlock();
		assertThatIllegalStateException().isThrownBy(lock::unlock);
		assertThatIllegalStateException().isThrownBy(() -> lock.extend(LONG, Duration.ZERO));
	}

	@Test
	void durationsThatOnlyShedLockAllowsAreAccepted() {
		assertThat(this.first.dblock().lock(configuration("negative", LONG, Duration.ofMillis(-1)))).isPresent();
		assertThatIllegalArgumentException()
			.isThrownBy(() -> lock(this.first.dblock(), Duration.ofDays(400), Duration.ZERO))
			.withMessageContaining("400");
	}

	@Test
	void executorAssertionAndExtenderWork() {
		new DefaultLockingTaskExecutor(this.first.dblock()).executeWithLock((Runnable) () -> {
			LockAssert.assertLocked();
			LockHandle handle = LockContext.current().orElseThrow();
			LockExtender.extendActiveLock(LONG, Duration.ZERO);
			assertThat(handle.remaining()).isGreaterThan(Duration.ofMinutes(4));
			assertThat(LockContext.current()).containsSame(handle);
			assertThat(isFree()).isFalse();
		}, configuration("stock", Duration.ofSeconds(30), Duration.ZERO));
		assertThat(isFree()).isTrue();
		assertThat(LockContext.current()).isEmpty();
	}

	@Test
	void extenderReportsALostLock() {
		DefaultLockingTaskExecutor executor = new DefaultLockingTaskExecutor(this.first.dblock());
		// ShedLock unlocks the lock that could not be extended, which is spent
		assertThatIllegalStateException().isThrownBy(() -> executor.executeWithLock((Runnable) () -> {
			eventually().until(this::isFree);
			assertThat(LockContext.current()).isEmpty();
			assertThatExceptionOfType(LockExtender.LockCanNotBeExtendedException.class)
				.isThrownBy(() -> LockExtender.extendActiveLock(LONG, Duration.ZERO));
		}, configuration("stock", SHORT, Duration.ZERO))).withMessageContaining("stock");
		lock(this.first.dblock(), LONG, Duration.ZERO).unlock();
		assertThat(LockContext.current()).isEmpty();
	}

	@Test
	void keepAliveProviderOfShedLockWorks() {
		ScheduledExecutorService executor = Executors.newScheduledThreadPool(1);
		try {
			LockProvider provider = new KeepAliveLockProvider(this.first.dblock(), executor);
			SimpleLock lock = lock(provider, Duration.ofSeconds(30), Duration.ZERO);
			assertThat(isFree()).isFalse();
			lock.unlock();
			assertThat(isFree()).isTrue();
		}
		finally {
			executor.shutdownNow();
		}
	}

	@Test
	void unlockInAnotherThreadEndsTheWorkOfTheFirst() throws Exception {
		SimpleLock lock = lock(this.first.dblock(), LONG, Duration.ZERO);
		assertThat(LockContext.current()).isPresent();
		Thread thread = new Thread(lock::unlock);
		thread.start();
		thread.join();
		assertThat(LockContext.current()).isEmpty();
		assertThat(isFree()).isTrue();
	}

	@Test
	void sectionsOfManyThreadsDoNotOverlap() throws Exception {
		int threads = 8;
		int sections = 40;
		AtomicIntegerArray counts = new AtomicIntegerArray(2);
		ExecutorService executor = Executors.newFixedThreadPool(threads);
		try {
			List<Callable<Integer>> tasks = new ArrayList<>();
			for (int i = 0; i < threads; i++) {
				int counter = i % counts.length();
				LockProvider provider = (i < threads / 2 ? this.first : this.second).dblock();
				tasks.add(() -> increment(provider, counts, counter, sections));
			}
			for (Future<Integer> done : executor.invokeAll(tasks)) {
				assertThat(done.get()).isEqualTo(sections);
			}
		}
		finally {
			executor.shutdownNow();
		}
		int expected = threads / counts.length() * sections;
		assertThat(counts.get(0)).isEqualTo(expected);
		assertThat(counts.get(1)).isEqualTo(expected);
	}

	private static int increment(LockProvider provider, AtomicIntegerArray counts, int counter, int sections) {
		int done = 0;
		while (done < sections) {
			Optional<SimpleLock> lock = provider.lock(configuration("counter-" + counter, LONG, Duration.ofMillis(2)));
			if (lock.isPresent()) {
				int read = counts.get(counter);
				Thread.yield();
				counts.set(counter, read + 1);
				lock.get().unlock();
				done++;
			}
		}
		return done;
	}

}
