package dev.dblock.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ThreadLocalRandom;

import dev.dblock.LockHandle;
import dev.dblock.LockInfo;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.engine.HeldLock;
import dev.dblock.local.LocalLockRepository;
import dev.dblock.local.LocalLockStore;
import dev.dblock.mongodb.MongoLockRepository;
import dev.dblock.mongodb.MongoLockSettings;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.settings.EngineSettings;
import dev.dblock.store.LockRepository;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two threads close a handle and change the end of its lease at the same moment, while a
 * third one waits for the lock. The third one must never trust the lease for longer than
 * the store keeps it, and the store must not keep it for longer than a lease.
 */
@Timeout(300)
class CloseAndExtendTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	/**
	 * More than a lease lasts at the store, whose clock is not known exactly in the
	 * classic dialect, and less than the extension.
	 */
	private static final Duration TOO_LONG = Duration.ofMinutes(5);

	private static final LockOptions OPTIONS = LockOptions.lease(LEASE).waitUpTo(Duration.ofMinutes(4));

	private final List<String> violations = new ArrayList<>();

	private int handOvers;

	@Test
	void noneIsOverlookedInMemory() throws Exception {
		run(new LocalLockRepository(new LocalLockStore()), 3_000);
	}

	@ParameterizedTest
	@EnumSource(names = { "PIPELINE", "CLASSIC" })
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void noneIsOverlookedOnAServer(StatementDialect dialect, MongoServer server) throws Exception {
		run(new MongoLockRepository(new SimpleMongoClientDatabaseFactory(server.client(), server.freshDatabase()),
				new MongoLockSettings("locks", Duration.ofMillis(500), Duration.ofDays(1), Duration.ofSeconds(60),
						dialect, true)),
				250);
	}

	private void run(LockRepository repository, int rounds) throws Exception {
		EngineSettings settings = LockWorld.settings(LockWorld.DEFAULTS, Duration.ofSeconds(60), LockWorld.POLL);
		try (DefaultLockEngine engine = new DefaultLockEngine(repository, settings, List.of())) {
			LockHandle handle = LockWorld.granted(engine.acquire("a", OPTIONS));
			for (int round = 0; round < rounds; round++) {
				handle = next(repository, engine, handle);
			}
			handle.close();
		}
		assertThat(this.violations).as("violations in %d hand-overs", this.handOvers).isEmpty();
		assertThat(this.handOvers).isPositive();
	}

	private LockHandle next(LockRepository repository, DefaultLockEngine engine, LockHandle handle) throws Exception {
		String acquisition = ((LeaseHandle) handle).key().holder();
		Worker<LockHandle> waiter = Worker.start(() -> LockWorld.granted(engine.acquire("a", OPTIONS)));
		LockWorld.eventually().until(() -> engine.parts().queues().waiters() == 1);
		CyclicBarrier together = new CyclicBarrier(2);
		Worker<Boolean> changing = Worker.start(() -> {
			meet(together);
			return change(handle);
		});
		meet(together);
		handle.release();
		LockHandle next = waiter.result();
		boolean changed = changing.result();
		LockInfo stored = repository.find("a").orElseThrow();
		// Read after the answer, so that a slow machine only makes it smaller
		Duration trusted = next.remaining();
		boolean handedOver = acquisition.equals(((LeaseHandle) next).key().holder());
		this.handOvers += handedOver ? 1 : 0;
		if (!((LeaseHandle) next).key().holder().equals(stored.holder()) || stored.remaining().compareTo(trusted) < 0
				|| stored.remaining().compareTo(TOO_LONG) > 0 || handedOver && changed) {
			this.violations.add("%s, stored %s, trusted %s, %s".formatted(handedOver ? "handed over" : "granted",
					stored.remaining(), trusted, changed ? "changed" : "refused"));
		}
		return next;
	}

	private static void meet(CyclicBarrier together) throws InterruptedException, BrokenBarrierException {
		together.await();
		for (int spins = ThreadLocalRandom.current().nextInt(200); spins > 0; spins--) {
			Thread.onSpinWait();
		}
	}

	private static boolean change(LockHandle handle) {
		try {
			switch (ThreadLocalRandom.current().nextInt(3)) {
				case 0 -> ((HeldLock) handle).extendExactly(Duration.ofMillis(500), Duration.ZERO);
				case 1 -> ((HeldLock) handle).extendExactly(Duration.ofMinutes(10), Duration.ZERO);
				default -> handle.extend(Duration.ofMinutes(10));
			}
			return true;
		}
		catch (LockLostException ex) {
			return false;
		}
	}

}
