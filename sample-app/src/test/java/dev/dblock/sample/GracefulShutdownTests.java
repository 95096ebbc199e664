package dev.dblock.sample;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import dev.dblock.LockInfo;
import dev.dblock.LockTemplate;
import dev.dblock.sample.billing.Reports;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An instance that is told to end while a request works under a lock.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class GracefulShutdownTests {

	private static final Duration LONG_ENOUGH = Duration.ofMinutes(2);

	private Instance ending;

	private Instance other;

	private LockTemplate locks;

	@BeforeEach
	void start(MongoServer server) {
		String uri = "--spring.mongodb.uri=" + server.uri(server.freshDatabase());
		this.ending = start("ending", uri);
		this.other = start("other", uri);
		this.locks = this.other.context().getBean(LockTemplate.class);
	}

	private static Instance start(String name, String uri) {
		return Instance.start(name, uri, "--dblock.lease=6s", "--sample.report.work=15s",
				"--spring.lifecycle.timeout-per-shutdown-phase=60s",
				"--spring.task.scheduling.shutdown.await-termination=false");
	}

	@AfterEach
	void stop() {
		this.other.close();
		this.ending.close();
	}

	@Test
	void requestThatIsUnderWayKeepsItsLockToItsEnd() throws Exception {
		CompletableFuture<HttpResponse<String>> making = this.ending.posting("/report");
		Awaitility.await().atMost(LONG_ENOUGH).until(() -> held().isPresent());
		LockInfo before = held().orElseThrow();
		CompletableFuture<Void> closed = CompletableFuture.runAsync(this.ending::close);
		Awaitility.await().atMost(LONG_ENOUGH).until(() -> {
			assertThat(held()).as("longer than its first lease")
				.hasValueSatisfying((now) -> assertThat(now.holder()).isEqualTo(before.holder()));
			return held().orElseThrow().updatedAt().isAfter(before.updatedAt().plusSeconds(7));
		});
		assertThat(closed).isNotDone();
		assertThat(making.get(120, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
		closed.get(120, TimeUnit.SECONDS);
		assertThat(this.locks.inspect(Reports.LOCK)).hasValueSatisfying((lock) -> {
			assertThat(lock.held()).isFalse();
			assertThat(lock.releasedAt()).isNotNull();
			assertThat(lock.acquiredAt()).isEqualTo(before.acquiredAt());
		});
	}

	private Optional<LockInfo> held() {
		return this.locks.inspect(Reports.LOCK).filter(LockInfo::held);
	}

}
