package dev.dblock.scenario;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.testing.MongoNode;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Ten thousand acquisitions of one name by three instances, eight threads of one instance
 * at a time, and all ways in which an acquisition can end.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1, faults = true)
class FencingTokenTests {

	private static final int ACQUISITIONS = 10_000;

	private static final int THREADS = 8;

	private static final LockOptions WAITING = LockOptions.lease(Duration.ofMinutes(5)).waitUpTo(Duration.ofMinutes(2));

	private static final LockOptions SHORT = LockOptions.lease(Duration.ofSeconds(2)).autoRenew(false);

	private static final String LOGGER = "dev.dblock";

	private final LoggingSystem logging = LoggingSystem.get(getClass().getClassLoader());

	private final LogLevel levelBefore = this.logging.getLoggerConfiguration(LOGGER).getEffectiveLevel();

	private final Random random = new Random(7);

	private final Map<Ending, Integer> endings = new EnumMap<>(Ending.class);

	/**
	 * In the order of the grants: each is added while its lock is held.
	 */
	private final List<Long> tokens = Collections.synchronizedList(new ArrayList<>());

	private final List<LockHandle> overtaken = Collections.synchronizedList(new ArrayList<>());

	private MongoNode node;

	private Instances instances;

	@BeforeEach
	void start(MongoServer server) {
		this.logging.setLogLevel(LOGGER, LogLevel.ERROR);
		this.node = server.nodes().get(0);
		this.instances = new Instances(server);
	}

	@AfterEach
	void stop() throws Exception {
		this.instances.close();
		this.logging.setLogLevel(LOGGER, this.levelBefore);
	}

	@Test
	void tokensRiseStrictlyOverTenThousandAcquisitions() throws Exception {
		List<Instance> turn = List.of(this.instances.start("first", Duration.ZERO),
				this.instances.start("second", Duration.ZERO), this.instances.start("third", Duration.ZERO));
		for (int round = 0; this.tokens.size() < ACQUISITIONS; round++) {
			Ending ending = nextEnding(round);
			this.endings.merge(ending, 1, Integer::sum);
			useByAllThreads(turn.get(round % turn.size()), ending);
		}
		assertThat(this.endings).hasSameSizeAs(Ending.values());
		assertThat(this.endings.get(Ending.EXPIRY)).isGreaterThan(100);
		assertThat(this.endings.get(Ending.DELETION)).isGreaterThan(40);
		for (int i = 1; i < this.tokens.size(); i++) {
			assertThat(this.tokens.get(i)).as("token %d", i).isGreaterThan(this.tokens.get(i - 1));
		}
	}

	private Ending nextEnding(int round) {
		if (round % 300 == 150) {
			return Ending.NATURAL_EXPIRY;
		}
		return switch (this.random.nextInt(20)) {
			case 0, 1 -> Ending.EXPIRY;
			case 2 -> Ending.DELETION;
			case 3 -> Ending.FORCE;
			default -> Ending.RELEASE;
		};
	}

	/**
	 * The lock goes round among the threads of the instance, and the last of them ends
	 * it.
	 */
	private void useByAllThreads(Instance instance, Ending ending) throws Exception {
		AtomicInteger left = new AtomicInteger(THREADS);
		List<Work<Boolean>> workers = new ArrayList<>();
		for (int i = 0; i < THREADS; i++) {
			workers.add(Work.start(() -> {
				LockHandle handle = instance.locks().acquire("stock", WAITING);
				this.tokens.add(handle.token());
				if (left.decrementAndGet() > 0) {
					assertThat(handle.release()).isTrue();
				}
				else {
					end(instance, handle, ending);
				}
			}));
		}
		for (Work<Boolean> worker : workers) {
			worker.result();
		}
	}

	private void end(Instance instance, LockHandle handle, Ending ending) {
		// Those overtaken before come too late, to a lock that has another holder or none
		this.overtaken.forEach((late) -> assertThat(late.release()).isFalse());
		this.overtaken.clear();
		switch (ending) {
			case RELEASE -> assertThat(handle.release()).isTrue();
			case EXPIRY -> {
				this.instances.expire("stock");
				this.overtaken.add(handle);
			}
			case DELETION -> {
				// Without the document, only the server's clock tracks the last token
				awaitServerTime(Instant.ofEpochMilli(this.instances.document("stock").getLong("token") / 1024 + 1));
				this.instances.documents().deleteOne(new Document("_id", "stock"));
				assertThat(handle.release()).isFalse();
			}
			case FORCE -> {
				assertThat(instance.locks().forceReleaseNow("stock")).isTrue();
				assertThat(handle.release()).isFalse();
			}
			case NATURAL_EXPIRY -> {
				assertThat(handle.release()).isTrue();
				LockHandle expiring = instance.locks().acquire("stock", SHORT);
				this.tokens.add(expiring.token());
				this.overtaken.add(expiring);
				awaitServerTime(this.instances.instant("stock", "expiresAt"));
			}
		}
	}

	private void awaitServerTime(Instant time) {
		Instances.eventually().until(() -> !ServerTime.sample(this.node).localTime().isBefore(time));
	}

	/**
	 * How an acquisition ends.
	 */
	private enum Ending {

		RELEASE, EXPIRY, NATURAL_EXPIRY, DELETION, FORCE

	}

}
