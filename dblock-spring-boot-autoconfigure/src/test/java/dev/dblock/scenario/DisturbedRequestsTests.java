package dev.dblock.scenario;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockUnavailableException;
import dev.dblock.LossReason;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.QueryTimeoutException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Requests that are repeated, delayed, applied in another order than they were sent, or
 * whose answers are lost. Only one of two instances suffers from it.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1, faults = true)
class DisturbedRequestsTests {

	/**
	 * The driver does not repeat a write that was answered so.
	 */
	private static final int UNSATISFIABLE_WRITE_CONCERN = 100;

	/**
	 * The engine repeats an acquire that was answered so.
	 */
	private static final int HOST_UNREACHABLE = 6;

	/**
	 * The majority did not confirm a write in the time that the request allowed.
	 */
	private static final int WRITE_CONCERN_TIMED_OUT = 64;

	private static final LockOptions LEASE = LockOptions.lease(Duration.ofSeconds(9));

	private MongoServer server;

	private Instances instances;

	private Instance disturbed;

	private Instance other;

	@BeforeEach
	void start(MongoServer server) {
		this.server = server;
		this.instances = new Instances(server);
		this.disturbed = this.instances.start("disturbed");
		this.other = this.instances.start("other");
	}

	@AfterEach
	void stop() throws Exception {
		this.server.clearFailPoints();
		this.instances.close();
	}

	private void fail(FailCommand failure) {
		this.server.failCommand(failure.forApplication("disturbed"));
	}

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
		LockHandle handle = this.disturbed.locks().acquire("stock", LEASE);
		assertThat(this.disturbed.commands().count("findAndModify") - acquires).isEqualTo(2);
		assertThat(this.disturbed.commands().count("update") - releases).isEqualTo(1);
		assertThat(handle.token()).isGreaterThanOrEqualTo(before.token() + 2 * 1024);
		assertThat(this.instances.document("stock")).containsEntry("token", handle.token() + 1023);
		assertHeldAndRenewed(handle);
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
		LockHandle handle = this.disturbed.locks().acquire("stock", LEASE.waitUpTo(Duration.ofMinutes(2)));
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

	/**
	 * The ways in which a renewal fails once.
	 */
	enum Trouble {

		TOO_SLOW(FailCommand.on("update").times(1).blockFor(Duration.ofSeconds(4))),

		CONNECTION_LOST(FailCommand.on("update").times(1).closeConnection()),

		NOT_CONFIRMED(FailCommand.on("update").times(1).writeConcernError(UNSATISFIABLE_WRITE_CONCERN)),

		NOT_CONFIRMED_IN_TIME(FailCommand.on("update").times(1).writeConcernError(WRITE_CONCERN_TIMED_OUT));

		private final FailCommand failure;

		Trouble(FailCommand failure) {
			this.failure = failure;
		}

	}

	@ParameterizedTest
	@EnumSource
	void failedRenewalIsRetried(Trouble trouble) {
		LockHandle handle = this.disturbed.locks().acquire("stock", LEASE);
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
		long sent = this.disturbed.commands().count("update");
		long answered = this.disturbed.commands().answers("update");
		fail(FailCommand.on("update").times(1).blockFor(Duration.ofSeconds(5)));
		Work<Boolean> renewal = Work.start(handle::renew);
		Instances.eventually().until(() -> this.disturbed.commands().count("update") > sent);
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

	@ParameterizedTest
	@ValueSource(ints = { UNSATISFIABLE_WRITE_CONCERN, HOST_UNREACHABLE, WRITE_CONCERN_TIMED_OUT })
	void releaseThatWasAppliedButNotConfirmedCountsAsReleased(int code) {
		LockHandle handle = this.disturbed.locks().acquire("stock", LEASE);
		long sent = this.disturbed.commands().count("update");
		fail(FailCommand.on("update").times(1).writeConcernError(code));
		assertThat(handle.release()).isTrue();
		assertThat(this.disturbed.commands().count("update") - sent).isEqualTo(2);
		assertThat(this.instances.isReleased("stock")).isTrue();
		assertThat(this.disturbed.losses().all()).isEmpty();
	}

	@Test
	void releaseThatNeverArrivesIsAnErrorAndTheLeaseEndsTheLock() {
		LockOptions options = LockOptions.lease(Duration.ofSeconds(3));
		fail(FailCommand.on("update").closeConnection());
		LockHandle released = this.disturbed.locks().acquire("released", options);
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(released::release);
		assertThat(released.isHeld()).isFalse();
		LockHandle closed = this.disturbed.locks().acquire("closed", options);
		closed.close();
		assertThat(closed.isHeld()).isFalse();
		for (String name : List.of("released", "closed")) {
			Instant free = this.instances.instant(name, "expiresAt");
			this.other.locks().acquire(name, LEASE.waitUpTo(Duration.ofMinutes(2)));
			assertThat(this.instances.instant(name, "acquiredAt")).isAfterOrEqualTo(free);
		}
	}

	@Test
	void endOfARunIsRecordedThoughItsReleaseFailsForLongerThanARequestMayTake() {
		LockOptions options = LockOptions.lease(Duration.ofMinutes(5));
		Schedule.Planned planned = new Schedule.Planned(Instant.now().minusSeconds(3600));
		LockHandle run = this.disturbed.locks().acquire("stock", options.firing(JobFiring.of(null, planned, true)));
		fail(FailCommand.on("update").closeConnection());
		long outage = System.nanoTime();
		run.close();
		Instances.eventually()
			.until(() -> System.nanoTime() - outage > Instance.TIMEOUT.plusSeconds(2).toNanos()
					&& !this.instances.isReleased("stock"));
		this.server.clearFailPoints();
		Instances.eventually().until(() -> this.instances.isReleased("stock"));
		Document last = this.instances.document("stock").getEmbedded(List.of("jobs", "stock", "last"), Document.class);
		assertThat(last).containsEntry("outcome", "SUCCEEDED").containsEntry("attempt", 1);
		for (Schedule asked : List.of(planned, new Schedule.FixedRate(Duration.ofDays(1)))) {
			assertThat(this.other.locks().tryAcquire("stock", options.firing(JobFiring.of(null, asked, true))))
				.as("nothing is repeated")
				.isEmpty();
		}
	}

	@Test
	void lostLockWhoseExtensionWasAppliedButNotConfirmedIsReleasedThoughTheFirstReleaseIsLost() {
		LockHandle handle = this.disturbed.locks()
			.acquire("stock", LockOptions.lease(Duration.ofSeconds(2)).autoRenew(false));
		fail(FailCommand.on("update").times(1).writeConcernError(UNSATISFIABLE_WRITE_CONCERN));
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> handle.extend(Duration.ofMinutes(10)));
		assertThat(this.instances.instant("stock", "expiresAt"))
			.isAfter(this.instances.instant("stock", "acquiredAt").plusSeconds(300));
		Instances.eventually().until(() -> !handle.isHeld());
		fail(FailCommand.on("update").times(1).closeConnection());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::close);
		Instances.eventually().until(() -> this.instances.isReleased("stock"));
		assertThat(this.other.locks().tryAcquire("stock")).isPresent();
	}

	/**
	 * However requests fail: a holder still has its lock, or was notified that all
	 * renewals failed; and a lock that was not granted to a caller is free at the end of
	 * its lease at the latest, since it is not renewed.
	 */
	@ParameterizedTest
	@EnumSource(names = { "CONNECTION_LOST", "NOT_CONFIRMED", "NOT_CONFIRMED_IN_TIME" })
	void noLockIsOrphaned(Trouble trouble) {
		Map<String, LockHandle> held = new HashMap<>();
		List<String> inDoubt = new ArrayList<>();
		fail(new FailCommand(new Document("activationProbability", 0.5), trouble.failure.data()).with("failCommands",
				List.of("findAndModify", "update")));
		for (int i = 0; i < 40; i++) {
			String name = "stock-" + i;
			try {
				held.put(name, this.disturbed.locks().acquire(name, LEASE));
			}
			catch (DataAccessException ex) {
				inDoubt.add(name);
			}
		}
		this.server.clearFailPoints();
		assertThat(held).isNotEmpty();
		assertThat(inDoubt).isNotEmpty();
		for (String name : inDoubt) {
			Document doubtful = this.instances.document(name);
			if (doubtful != null && doubtful.containsKey("holder")) {
				assertThat(doubtful.getDate("updatedAt")).isEqualTo(doubtful.getDate("acquiredAt"));
			}
			assertThat(this.other.locks().acquire(name, LEASE.waitUpTo(Duration.ofMinutes(2))).release()).isTrue();
		}
		Instances.eventually().until(() -> held.values().stream().noneMatch(DisturbedRequestsTests::isToBeRenewed));
		held.forEach((name, handle) -> {
			if (!handle.isHeld()) {
				Instances.eventually().until(() -> this.disturbed.losses().of(name).isPresent());
				return;
			}
			assertThat(this.other.locks().tryAcquire(name)).isEmpty();
			assertThat(handle.isHeld()).isTrue();
			assertThat(handle.release()).isTrue();
		});
	}

	private static boolean isToBeRenewed(LockHandle handle) {
		return handle.isHeld() && handle.remaining().compareTo(Duration.ofSeconds(5)) < 0;
	}

	private void assertHeldAndRenewed(LockHandle handle) {
		Instant acquired = this.instances.instant("stock", "updatedAt");
		Instances.eventually().until(() -> this.instances.instant("stock", "updatedAt").isAfter(acquired));
		assertThat(handle.isHeld()).isTrue();
		assertThat(this.other.locks().tryAcquire("stock")).isEmpty();
		assertThat(this.disturbed.losses().all()).isEmpty();
		assertThat(handle.release()).isTrue();
		assertThat(this.instances.isReleased("stock")).isTrue();
	}

}
