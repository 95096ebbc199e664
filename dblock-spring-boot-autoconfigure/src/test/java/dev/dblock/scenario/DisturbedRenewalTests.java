package dev.dblock.scenario;

import java.time.Duration;
import java.time.Instant;

import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LossReason;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Renewals and extensions of an instance whose requests are {@linkplain DisturbedRequests
 * disturbed}.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1, faults = true)
class DisturbedRenewalTests extends DisturbedRequests {

	@ParameterizedTest
	@EnumSource
	void failedRenewalIsRetried(Trouble trouble) {
		LockHandle handle = this.disturbed.locks().acquire("stock", trouble.lease);
		long sent = this.disturbed.commands().count("update");
		fail(trouble.failure);
		Instances.eventually().until(() -> this.disturbed.commands().count("update") >= sent + 2);
		assertHeldAndRenewed(handle);
	}

	/**
	 * The server has the renewals, but never says so: the lease is not believed in, and
	 * the name is free no later than one lease after the last of them.
	 */
	@ParameterizedTest
	@ValueSource(ints = { UNSATISFIABLE_WRITE_CONCERN, WRITE_CONCERN_TIMED_OUT })
	void renewalsThatAreNeverConfirmedProveNothing(int code) {
		LockHandle handle = this.disturbed.locks().acquire("stock", LEASE);
		Instant granted = this.instances.instant("stock", "updatedAt");
		fail(FailCommand.on("update").writeConcernError(code));
		Instances.eventually().until(() -> this.disturbed.losses().of("stock").isPresent());
		assertThat(handle.isHeld()).isFalse();
		assertThat(this.disturbed.losses().all()).extracting(Losses.Loss::reason).containsExactly(LossReason.EXPIRED);
		assertThat(this.instances.instant("stock", "updatedAt")).as("applied all the same").isAfter(granted);
		LockHandle next = this.other.locks().acquire("stock", LEASE.waitUpTo(Duration.ofMinutes(2)));
		assertThat(next.token()).isGreaterThan(handle.token());
	}

	@Test
	void renewalThatArrivesAfterTheReleaseChangesNothing() throws Exception {
		LockOptions options = LockOptions.lease(Duration.ofMinutes(5)).autoRenew(false);
		LockHandle handle = this.disturbed.locks().acquire("stock", options);
		long answered = this.disturbed.commands().answers("update");
		fail(FailCommand.on("update").times(1).blockFor(Duration.ofSeconds(5)));
		Work<Boolean> renewal = Work.start(handle::renew);
		// Before that, the release could be the one that is blocked
		Instances.eventually().until(() -> !this.instances.running("update", Instance.COLLECTION).isEmpty());
		assertThat(handle.release()).isTrue();
		assertThat(this.disturbed.commands().answers("update")).as("the release overtook the renewal")
			.isEqualTo(answered + 1);
		LockHandle next = this.other.locks().acquire("stock", options);
		Document taken = this.instances.document("stock");
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> {
			throw renewal.failure();
		}).extracting(LockLostException::reason).isEqualTo(LossReason.RELEASED);
		assertThat(this.instances.document("stock")).isEqualTo(taken);
		assertThat(this.disturbed.losses().all()).isEmpty();
		assertThat(next.release()).isTrue();
	}

	@Test
	void extensionThatWasNotConfirmedIsAnErrorAndTheLeaseContinues() {
		LockHandle handle = this.disturbed.locks().acquire("stock", LEASE);
		fail(FailCommand.on("update").times(1).writeConcernError(UNSATISFIABLE_WRITE_CONCERN));
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> handle.extend(Duration.ofSeconds(60)));
		assertThat(handle.remaining()).isLessThanOrEqualTo(Duration.ofSeconds(9));
		assertHeldAndRenewed(handle);
	}

}
