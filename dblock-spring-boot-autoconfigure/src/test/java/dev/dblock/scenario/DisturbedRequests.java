package dev.dblock.scenario;

import java.time.Duration;
import java.time.Instant;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two instances, one of whose requests are repeated, delayed, applied in another order
 * than they were sent, or whose answers are lost.
 */
abstract class DisturbedRequests {

	/**
	 * The driver does not repeat a write that was answered so.
	 */
	static final int UNSATISFIABLE_WRITE_CONCERN = 100;

	/**
	 * The engine repeats an acquire that was answered so.
	 */
	static final int HOST_UNREACHABLE = 6;

	/**
	 * The majority did not confirm a write in the time that the request allowed.
	 */
	static final int WRITE_CONCERN_TIMED_OUT = 64;

	static final LockOptions LEASE = LockOptions.lease(Duration.ofSeconds(9));

	MongoServer server;

	Instances instances;

	Instance disturbed;

	Instance other;

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

	final void fail(FailCommand failure) {
		this.server.failCommand(failure.forApplication("disturbed"));
	}

	final void assertHeldAndRenewed(LockHandle handle) {
		Instant acquired = this.instances.instant("stock", "updatedAt");
		Instances.eventually().until(() -> this.instances.instant("stock", "updatedAt").isAfter(acquired));
		assertHeld(handle);
	}

	final void assertHeld(LockHandle handle) {
		assertThat(handle.isHeld()).isTrue();
		assertThat(this.other.locks().tryAcquire("stock")).isEmpty();
		assertThat(this.disturbed.losses().all()).isEmpty();
		assertThat(handle.release()).isTrue();
		assertThat(this.instances.isReleased("stock")).isTrue();
	}

	/**
	 * The ways in which a renewal fails once.
	 */
	enum Trouble {

		TOO_SLOW(FailCommand.on("update").times(1).blockFor(Duration.ofSeconds(8)), 18),

		CONNECTION_LOST(FailCommand.on("update").times(1).closeConnection()),

		NOT_CONFIRMED(FailCommand.on("update").times(1).writeConcernError(UNSATISFIABLE_WRITE_CONCERN)),

		NOT_CONFIRMED_IN_TIME(FailCommand.on("update").times(1).writeConcernError(WRITE_CONCERN_TIMED_OUT));

		final FailCommand failure;

		/** So long that a renewal which is repeated after it comes in time. */
		final LockOptions lease;

		Trouble(FailCommand failure) {
			this(failure, 9);
		}

		Trouble(FailCommand failure, int leaseSeconds) {
			this.failure = failure;
			this.lease = LockOptions.lease(Duration.ofSeconds(leaseSeconds));
		}

	}

}
