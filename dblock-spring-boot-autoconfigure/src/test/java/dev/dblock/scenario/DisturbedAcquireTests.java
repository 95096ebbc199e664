package dev.dblock.scenario;

import java.time.Duration;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockUnavailableException;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.QueryTimeoutException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Acquires of an instance whose requests are {@linkplain DisturbedRequests disturbed}.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1, faults = true)
class DisturbedAcquireTests extends DisturbedRequests {

	private static final LockOptions LONG_LEASE = LockOptions.lease(Duration.ofMinutes(1));

	@ParameterizedTest
	@ValueSource(ints = { UNSATISFIABLE_WRITE_CONCERN, WRITE_CONCERN_TIMED_OUT })
	void acquireThatWasAppliedButNotConfirmedIsAnErrorAndReleasedAtOnce(int code) {
		fail(FailCommand.on("findAndModify").times(2).writeConcernError(code));
		assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> this.disturbed.locks().tryAcquire("stock", LockOptions.lease(Duration.ofMinutes(5))))
			.withMessageContaining("'stock'")
			.withMessageContaining("may or may not have been done");
		Instances.eventually().until(() -> this.instances.isReleased("stock"));
		assertThat(this.other.locks().tryAcquire("stock")).isPresent();
	}

	@Test
	void acquireThatWasNotAppliedIsAnErrorAndLeavesTheNameFree() {
		fail(FailCommand.on("findAndModify").closeConnection());
		assertThatExceptionOfType(DataAccessResourceFailureException.class)
			.isThrownBy(() -> this.disturbed.locks().tryAcquire("stock", LockOptions.lease(Duration.ofSeconds(3))));
		assertThat(this.other.locks().tryAcquire("stock")).isPresent();
	}

	@Test
	void acquireThatAServerAppliedAndLostIsReleasedAndRepeatedUnderAnotherId() {
		LockHandle before = this.disturbed.locks().acquire("stock", LEASE);
		before.close();
		long acquires = this.disturbed.commands().count("findAndModify");
		long releases = this.disturbed.commands().count("update");
		fail(FailCommand.on("findAndModify").times(1).writeConcernError(HOST_UNREACHABLE));
		// So long that no renewal is counted
		LockHandle handle = this.disturbed.locks().acquire("stock", LONG_LEASE);
		assertThat(this.disturbed.commands().count("findAndModify") - acquires).isEqualTo(2);
		assertThat(this.disturbed.commands().count("update") - releases).isEqualTo(1);
		assertThat(handle.token()).isGreaterThanOrEqualTo(before.token() + 2 * 1024);
		assertThat(this.instances.document("stock")).containsEntry("token", handle.token() + 1023);
		handle.renew();
		assertHeld(handle);
	}

	@ParameterizedTest
	@ValueSource(ints = { UNSATISFIABLE_WRITE_CONCERN, WRITE_CONCERN_TIMED_OUT })
	void waiterWhoseAcquireWasAppliedButNotConfirmedFinallyGetsTheLock(int code) {
		fail(FailCommand.on("findAndModify").times(1).writeConcernError(code));
		LockHandle handle = this.disturbed.locks().acquire("stock", LEASE.waitUpTo(Duration.ofMinutes(2)));
		assertHeldAndRenewed(handle);
	}

	@Test
	void grantWhoseAnswerComesAfterItsLeaseIsNotUsed() {
		Duration lease = Duration.ofSeconds(2);
		fail(FailCommand.on("findAndModify").times(1).blockFor(Duration.ofSeconds(4)));
		assertThatExceptionOfType(QueryTimeoutException.class)
			.isThrownBy(() -> this.disturbed.locks().acquire("stock", LockOptions.lease(lease)))
			.withMessageContaining("'stock'");
		LockHandle next = this.other.locks()
			.acquire("stock",
					LockOptions.lease(Duration.ofMinutes(10)).autoRenew(false).waitUpTo(Duration.ofMinutes(2)));
		Document taken = this.instances.document("stock");
		// Until the request that was held up can only have been applied, or never is
		Instances.eventually()
			.during(Duration.ofSeconds(2))
			.until(() -> taken.equals(this.instances.document("stock")));
		assertThat(next.release()).isTrue();
	}

	@Test
	void waiterWhoseAnswerComesAfterItsLeaseAsksAgain() {
		fail(FailCommand.on("findAndModify").times(1).blockFor(Duration.ofSeconds(8)));
		LockHandle handle = this.disturbed.locks()
			.acquire("stock", LockOptions.lease(Duration.ofSeconds(6)).waitUpTo(Duration.ofMinutes(2)));
		assertHeldAndRenewed(handle);
	}

	@ParameterizedTest(name = "code {0}")
	@ValueSource(ints = { 6, 7, 24, 46, 70, 89, 112, 133, 202, 262, 365, 384, 9001, 11601 })
	void waiterAsksAgainAfterAnErrorThatMayPass(int code) {
		this.disturbed.locks().acquire("stock", LEASE).close();
		long asked = this.disturbed.commands().count("findAndModify");
		fail(FailCommand.on("findAndModify").times(3).errorCode(code));
		LockHandle handle = this.disturbed.locks().acquire("stock", LONG_LEASE.waitUpTo(Duration.ofMinutes(2)));
		assertThat(this.disturbed.commands().count("findAndModify") - asked).isEqualTo(4);
		assertThat(handle.release()).isTrue();
	}

	/**
	 * InternalError, BadValue, Unauthorized, IllegalOperation, DocumentValidationFailure.
	 */
	@ParameterizedTest(name = "code {0}")
	@ValueSource(ints = { 1, 2, 13, 20, 121 })
	void waiterIsGivenAnErrorThatLastsAtOnce(int code) {
		this.disturbed.locks().acquire("stock", LEASE).close();
		long asked = this.disturbed.commands().count("findAndModify");
		fail(FailCommand.on("findAndModify").errorCode(code));
		assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> this.disturbed.locks().acquire("stock", LEASE.waitUpTo(Duration.ofMinutes(2))))
			.withMessageContaining("'stock'");
		assertThat(this.disturbed.commands().count("findAndModify") - asked).isEqualTo(1);
	}

	@ParameterizedTest
	@CsvSource({ "600, 2", "2000, 3", "2000, 5", "4000, 9" })
	void waiterIsGrantedAFreeLockThoughTheServerIsSlow(int latencyMillis, int waitSeconds) {
		this.disturbed.locks().acquire("stock", LEASE).close();
		fail(FailCommand.on("findAndModify").blockFor(Duration.ofMillis(latencyMillis)));
		LockHandle handle = this.disturbed.locks()
			.acquire("stock", LockOptions.lease(Duration.ofSeconds(30)).waitUpTo(Duration.ofSeconds(waitSeconds)));
		assertThat(handle.release()).isTrue();
	}

	/**
	 * Without a majority even a refusal is not confirmed; a read of the document shows
	 * the holder.
	 */
	@Test
	void waiterWhoseRefusalsAreNotConfirmedLearnsTheHolder() {
		LockHandle held = this.other.locks().acquire("stock");
		fail(FailCommand.on("findAndModify").writeConcernError(WRITE_CONCERN_TIMED_OUT));
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.disturbed.locks().acquire("stock", LEASE.waitUpTo(Duration.ofSeconds(3))))
			.withMessageContaining("held by other");
		assertThat(held.release()).isTrue();
	}

}
