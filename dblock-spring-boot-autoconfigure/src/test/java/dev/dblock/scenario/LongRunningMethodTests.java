package dev.dblock.scenario;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import dev.dblock.DistributedLock;
import dev.dblock.LockContext;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.Document;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A method that takes many times its lease, as the server shows its lock.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_3)
class LongRunningMethodTests {

	private static final Duration LEASE = Duration.ofSeconds(15);

	private static final int LEASES = 4;

	private static final List<Document> SIGHT = List.of(new Document("$match", new Document("_id", "long-job")),
			new Document("$addFields", new Document("now", "$$NOW")));

	@Test
	void keepsItsLockForFourTimesItsLease(MongoServer server) throws Exception {
		try (Instances instances = new Instances(server)) {
			LongJob job = instances.startApplication("worker", JobConfiguration.class).getBean(LongJob.class);
			CountDownLatch started = new CountDownLatch(1);
			CountDownLatch end = new CountDownLatch(1);
			Work<Long> work = Work.start(() -> job.run(started, end));
			assertThat(started.await(60, TimeUnit.SECONDS)).isTrue();
			Document granted = instances.document("long-job");
			List<Document> sights = watch(instances, granted.getDate("acquiredAt").toInstant());
			end.countDown();
			assertThat(work.result()).as("the token")
				.isBetween(granted.getLong("token") - 1023, granted.getLong("token"));
			assertHeldThroughout(granted, sights);
			assertThat(instances.isReleased("long-job")).isTrue();
		}
	}

	private static List<Document> watch(Instances instances, Instant acquiredAt) {
		List<Document> sights = new ArrayList<>();
		Instances.eventually().until(() -> {
			Document sight = instances.documents().aggregate(SIGHT).first();
			sights.add(sight);
			return instant(sight, "updatedAt").isAfter(acquiredAt.plus(LEASE.multipliedBy(LEASES)));
		});
		return sights;
	}

	private static void assertHeldThroughout(Document granted, List<Document> sights) {
		int renewals = 0;
		Document before = granted;
		for (Document sight : sights) {
			assertThat(sight.getString("holder")).isEqualTo(granted.getString("holder"));
			assertThat(sight.get("token")).isEqualTo(granted.get("token"));
			assertThat(sight.get("acquiredAt")).isEqualTo(granted.get("acquiredAt"));
			assertThat(instant(sight, "expiresAt")).isAfter(instant(sight, "now"));
			// Nor did it end between two looks: each renewal came before the end of the
			// last one
			assertThat(instant(sight, "updatedAt")).isBefore(instant(before, "expiresAt"));
			renewals += sight.get("updatedAt").equals(before.get("updatedAt")) ? 0 : 1;
			before = sight;
		}
		assertThat(renewals).isGreaterThanOrEqualTo(LEASES);
	}

	private static Instant instant(Document document, String field) {
		return document.getDate(field).toInstant();
	}

	static class LongJob {

		@DistributedLock(name = "long-job", leaseSeconds = 15)
		public long run(CountDownLatch started, CountDownLatch end) throws InterruptedException {
			started.countDown();
			end.await();
			return LockContext.current().orElseThrow().token();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class JobConfiguration {

		@Bean
		LongJob longJob() {
			return new LongJob();
		}

	}

}
