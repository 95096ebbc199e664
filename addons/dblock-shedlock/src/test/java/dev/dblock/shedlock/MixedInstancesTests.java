package dev.dblock.shedlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerTest;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Sections of a rolling update: half of the instances know only ShedLock's provider. The
 * fault tests run ten thousand of them in several processes.
 */
@MongoServerTest
class MixedInstancesTests {

	private static final int SECTIONS_OF_EACH = 50;

	private final AtomicInteger inside = new AtomicInteger();

	private final AtomicInteger overlaps = new AtomicInteger();

	@Test
	void sectionsOfOldAndNewInstancesDoNotOverlap(MongoServer server) throws Exception {
		assertThat(overlaps(server, true)).isZero();
	}

	@Test
	void theyDoIfNewInstancesKnowOnlyDblock(MongoServer server) {
		// The threads of a busy machine may take turns by chance
		Awaitility.await().atMost(Duration.ofMinutes(2)).until(() -> overlaps(server, false) > 0);
	}

	private int overlaps(MongoServer server, boolean beside) throws Exception {
		String database = server.freshDatabase();
		List<Instance> instances = new ArrayList<>();
		ExecutorService executor = Executors.newCachedThreadPool();
		try {
			List<Callable<Integer>> sections = new ArrayList<>();
			for (int i = 0; i < 4; i++) {
				Instance instance = new Instance("instance-" + i, server.uri(), database);
				instances.add(instance);
				LockProvider updated = beside ? instance.dblock().beside(instance.shedLock()) : instance.dblock();
				LockProvider provider = (i % 2 == 0) ? instance.shedLock() : updated;
				sections.add(() -> work(provider));
			}
			for (Future<Integer> done : executor.invokeAll(sections)) {
				assertThat(done.get()).isEqualTo(SECTIONS_OF_EACH);
			}
			return this.overlaps.get();
		}
		finally {
			executor.shutdownNow();
			instances.forEach(Instance::close);
		}
	}

	private int work(LockProvider provider) {
		int done = 0;
		while (done < SECTIONS_OF_EACH) {
			Optional<SimpleLock> lock = provider
				.lock(DblockLockProviderTests.configuration("sections", Duration.ofMinutes(10), Duration.ZERO));
			if (lock.isPresent()) {
				if (this.inside.incrementAndGet() > 1) {
					this.overlaps.incrementAndGet();
				}
				Thread.yield();
				this.inside.decrementAndGet();
				lock.get().unlock();
				done++;
			}
		}
		return done;
	}

}
