package dev.dblock.scenario;

import dev.dblock.LockHandle;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.Document;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A holder whose process is paused for longer than its lease, and then resumes.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class PausedHolderTests {

	@Test
	void waiterIsGrantedAtTheEndOfTheLeaseAndTheHolderLearnsOfItOnResuming(MongoServer server) throws Exception {
		try (Instances instances = new Instances(server)) {
			Instance other = instances.start("other");
			try (RenewedHolder holder = RenewedHolder.start(instances, "paused")) {
				long token = holder.awaitRenewed(instances);
				Work<LockHandle> waiter = RenewedHolder.awaitBy(other);
				holder.process().pause();
				Document left = instances.document("stock");
				assertThat(left).containsEntry("acquirer", "paused");
				LockHandle next = waiter.result();
				assertThat(next.token()).isGreaterThan(token);
				other.assertWokenAtTheEndOfALease();
				Document taken = instances.document("stock");
				assertThat(taken.getDate("acquiredAt")).isAfterOrEqualTo(left.getDate("expiresAt"));
				holder.process().goOn();
				assertThat(holder.process().await("lost")).isEqualTo("held: false, released: false");
				assertThat(instances.document("stock")).containsEntry("holder", taken.get("holder"));
				assertThat(next.release()).isTrue();
			}
		}
	}

}
