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
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
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
 * Releases of an instance whose requests are {@linkplain DisturbedRequests disturbed}.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1, faults = true)
class DisturbedReleaseTests extends DisturbedRequests {

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
		LockHandle run = this.disturbed.locks().acquire("stock", options.claim(JobFiring.of(null, planned, true)));
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
			assertThat(this.other.locks().tryAcquire("stock", options.claim(JobFiring.of(null, asked, true))))
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
		Instances.eventually().until(() -> held.values().stream().noneMatch(DisturbedReleaseTests::isToBeRenewed));
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

}
