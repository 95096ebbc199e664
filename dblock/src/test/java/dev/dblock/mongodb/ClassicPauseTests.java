package dev.dblock.mongodb;

import java.time.Duration;
import java.util.Date;
import java.util.List;
import java.util.function.LongSupplier;

import dev.dblock.core.LockRepositoryContract;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository.AcquireAnswer.Granted;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.bson.Document;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A classic request that takes long on its way to the server, which is a pause of the
 * client where its clocks are stopped meanwhile, and a slow server where they are not.
 */
@MongoServerTest(kind = MongoServerKind.STANDALONE, faults = true)
class ClassicPauseTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	private static final Duration LEASE = Duration.ofMinutes(10);

	private static final Duration PROMISED = LEASE.plusMillis(500).plus(LEASE.dividedBy(1000));

	private static final Duration ON_THE_WAY = Duration.ofSeconds(1);

	private final LeaseKey key = LockRepositoryContract.key("stock");

	private MongoServer server;

	private String database;

	@BeforeEach
	void openStore(MongoServer server) {
		this.server = server;
		this.database = server.freshDatabase();
	}

	private MongoLockRepository locks(LongSupplier nanoTime, LongSupplier wallTime) {
		return new MongoLockRepository(new SimpleMongoClientDatabaseFactory(this.server.client(), this.database),
				new MongoLockSettings("locks", Duration.ofMillis(500), Duration.ofDays(1), TIMEOUT,
						StatementDialect.CLASSIC, true),
				nanoTime, wallTime);
	}

	private MongoLockRepository locksWithStoppedClocks() {
		long nanoTime = System.nanoTime();
		long wallTime = System.currentTimeMillis();
		return locks(() -> nanoTime, () -> wallTime);
	}

	// A new document is granted once the clock has passed its token
	private void releaseForAnother() {
		MongoLockRepository locks = locks(System::nanoTime, System::currentTimeMillis);
		LeaseKey another = LockRepositoryContract.key("stock");
		acquire(locks, another);
		assertThat(locks.release(another, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT)).isTrue();
	}

	private static void acquire(MongoLockRepository locks, LeaseKey key) {
		assertThat(locks.acquire(LockRepositoryContract.request(key, LEASE))).isInstanceOf(Granted.class);
	}

	private Document stored() {
		return this.server.client().getDatabase(this.database).getCollection("locks").find().first();
	}

	private static Date after(Date date, Duration span) {
		return Date.from(date.toInstant().plus(span));
	}

	@Test
	void aGrantLastsAWholeLeaseThoughThePauseCameAfterTheLookAtTheClock() {
		releaseForAnother();
		this.server.failCommand(FailCommand.on("findAndModify").times(1).blockFor(ON_THE_WAY));
		acquire(locksWithStoppedClocks(), this.key);
		Document stored = stored();
		assertThat(stored.getDate("expiresAt")).isAfterOrEqualTo(after(stored.getDate("acquiredAt"), PROMISED));
	}

	@Test
	void aRenewalLastsAWholeLeaseThoughThePauseCameAfterTheLookAtTheClock() {
		releaseForAnother();
		MongoLockRepository locks = locksWithStoppedClocks();
		acquire(locks, this.key);
		Date granted = stored().getDate("updatedAt");
		this.server.failCommand(FailCommand.on("update").times(1).blockFor(ON_THE_WAY));
		assertThat(locks.renew(List.of(this.key), TIMEOUT)).isEmpty();
		Date applied = after(granted, ON_THE_WAY);
		assertThat(stored().getDate("expiresAt")).isAfterOrEqualTo(after(applied, PROMISED));
	}

	@Test
	void aSlowServerGrantsAndRenewsAllTheSame() {
		MongoLockRepository locks = locks(System::nanoTime, System::currentTimeMillis);
		this.server.failCommand(FailCommand.on("findAndModify", "update").blockFor(ON_THE_WAY));
		acquire(locks, this.key);
		assertThat(locks.renew(List.of(this.key), TIMEOUT)).isEmpty();
		assertThat(locks.extend(this.key, LEASE, TIMEOUT)).isTrue();
	}

}
