package dev.dblock.mongodb;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import dev.dblock.LockInfo;
import dev.dblock.core.LockRepositoryContract;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.BusyStoreException;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository.AcquireAnswer.Granted;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many threads of two repositories on few names, with leases so short that some end while
 * they are held: no two grants of a name overlap by the server's clock, and tokens rise.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_3)
class ExclusionTests {

	private static final int THREADS = 16;

	private static final int GRANTS = 1200;

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	private static final Duration LEASE = Duration.ofMillis(150);

	private static final List<String> NAMES = List.of("a", "b", "c");

	private final Queue<Hold> holds = new ConcurrentLinkedQueue<>();

	private final AtomicInteger grants = new AtomicInteger();

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	void noTwoGrantsOverlapAndTokensRise(StatementDialect dialect, MongoServer server) throws Exception {
		SimpleMongoClientDatabaseFactory factory = new SimpleMongoClientDatabaseFactory(server.client(),
				server.freshDatabase());
		MongoLockSettings settings = new MongoLockSettings("locks", Duration.ZERO, Duration.ofDays(1), TIMEOUT, dialect,
				true);
		List<MongoLockRepository> repositories = List.of(new MongoLockRepository(factory, settings),
				new MongoLockRepository(factory, settings));
		ExecutorService executor = Executors.newFixedThreadPool(THREADS);
		try {
			List<Future<?>> workers = new ArrayList<>();
			for (int i = 0; i < THREADS; i++) {
				MongoLockRepository locks = repositories.get(i % 2);
				Random random = new Random(i);
				workers.add(executor.submit(() -> work(locks, random)));
			}
			for (Future<?> worker : workers) {
				worker.get();
			}
		}
		finally {
			executor.shutdownNow();
		}
		assertThat(this.holds).hasSizeGreaterThanOrEqualTo(GRANTS);
		assertThat(NAMES.stream().mapToInt(this::verify).sum()).as("take-overs that could be checked").isPositive();
	}

	private void work(MongoLockRepository locks, Random random) {
		while (this.grants.get() < GRANTS) {
			String name = NAMES.get(random.nextInt(NAMES.size()));
			LeaseKey key = LockRepositoryContract.key(name);
			if (locks.acquire(
					new AcquireRequest(key, LEASE, "host", "thread", "stress", TIMEOUT)) instanceof Granted granted) {
				this.grants.incrementAndGet();
				hold(locks, key, granted, System.nanoTime(), random);
			}
			else {
				LockSupport.parkNanos(random.nextInt(3_000_000));
			}
		}
	}

	private void hold(MongoLockRepository locks, LeaseKey key, Granted granted, long grantedAt, Random random) {
		LockInfo info = locks.find(key.name()).orElseThrow();
		boolean mine = key.holder().equals(info.holder());
		boolean renewed = random.nextInt(10) == 0 && renew(locks, key);
		LockInfo end = renewed ? locks.find(key.name()).orElseThrow() : info;
		boolean stillMine = key.holder().equals(end.holder());
		long releaseSent = System.nanoTime();
		boolean released = random.nextInt(12) != 0 && locks.release(key, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT);
		this.holds.add(new Hold(key.name(), granted, mine ? info.acquiredAt() : null,
				(!released && mine && stillMine) ? end.expiresAt() : null, grantedAt, released ? releaseSent : null));
	}

	private static boolean renew(MongoLockRepository locks, LeaseKey key) {
		try {
			return locks.renew(List.of(key), TIMEOUT).isEmpty();
		}
		catch (BusyStoreException ex) {
			// The lease may end at this moment, which only the document shows
			return true;
		}
	}

	/**
	 * Verify the holds of a name.
	 * @return the number of take-overs among them that could be checked
	 */
	private int verify(String name) {
		List<Hold> inOrder = this.holds.stream()
			.filter((hold) -> hold.name().equals(name))
			.sorted(Comparator.comparingLong((hold) -> hold.granted().token()))
			.toList();
		int overtaken = 0;
		for (int i = 1; i < inOrder.size(); i++) {
			Hold before = inOrder.get(i - 1);
			Hold after = inOrder.get(i);
			assertThat(after.granted().token()).isGreaterThan(before.granted().lastToken());
			if (before.releaseSent() != null) {
				assertThat(after.grantedAt() - before.releaseSent()).isPositive();
			}
			if (before.expiresAt() != null && after.acquiredAt() != null) {
				overtaken++;
				assertThat(after.acquiredAt()).isAfterOrEqualTo(before.expiresAt());
			}
		}
		return overtaken;
	}

	private record Hold(String name, Granted granted, @Nullable Instant acquiredAt, @Nullable Instant expiresAt,
			long grantedAt, @Nullable Long releaseSent) {
	}

}
