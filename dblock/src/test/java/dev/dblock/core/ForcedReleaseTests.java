package dev.dblock.core;

import java.time.Duration;
import java.util.function.Consumer;

import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LossReason;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository.AcquireAnswer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * When a holder notices that an operator has released its lock, as documented in
 * {@link dev.dblock.LockOperations#forceRelease(String)}.
 */
class ForcedReleaseTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration EXTENSION = Duration.ofHours(1);

	private static final Duration SECOND = Duration.ofSeconds(1);

	private final WatchedLeases leases = new WatchedLeases();

	private final InMemoryLockRepository repository = this.leases.repository();

	private LockHandle hold(Holder holder) {
		LockHandle handle = this.leases.keeper()
			.keep(this.leases.grant("stock", LockOptions.lease(LEASE).autoRenew(holder != Holder.NEVER_RENEWED)));
		holder.prepare.accept(handle);
		return handle;
	}

	private void forceReleaseForASuccessor() {
		assertThat(this.repository.forceReleaseNow("stock")).isTrue();
		assertThat(this.repository.acquire(new AcquireRequest(new LeaseKey("stock", "successor"),
				EXTENSION.multipliedBy(2), "another", "main", "test", LockWorld.TIMEOUT)))
			.isInstanceOf(AcquireAnswer.Granted.class);
	}

	private void assertUnaware(LockHandle handle) {
		assertThat(handle.isHeld()).isTrue();
		handle.ensureHeld();
		assertThat(this.leases.news()).isEmpty();
	}

	private void assertNotified(LockHandle handle, LossReason reason) {
		assertThat(this.leases.news()).containsExactly("lost stock " + reason);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::ensureHeld);
	}

	@ParameterizedTest
	@EnumSource
	void holderRunsBesideItsSuccessorUntilItNoticesTheLoss(Holder holder) {
		LockHandle handle = hold(holder);
		forceReleaseForASuccessor();
		assertUnaware(handle);
		this.leases.advanceAndRenew(holder.noticesAfter.minus(SECOND));
		assertUnaware(handle);
		this.leases.advanceAndRenew(SECOND);
		assertNotified(handle, holder.reason);
	}

	@ParameterizedTest
	@EnumSource
	void holderThatChecksTheLockNoticesTheLossAtOnce(Holder holder) {
		LockHandle handle = hold(holder);
		forceReleaseForASuccessor();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::renew);
		assertNotified(handle, LossReason.TAKEN_OVER);
	}

	@ParameterizedTest
	@EnumSource
	void holderThatExtendsItsLeaseNoticesTheLossAtOnce(Holder holder) {
		LockHandle handle = hold(holder);
		forceReleaseForASuccessor();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> handle.extend(EXTENSION));
		assertNotified(handle, LossReason.TAKEN_OVER);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void holderThatReleasesTheLockNoticesTheLoss(boolean now) {
		LockHandle handle = hold(Holder.NEVER_RENEWED);
		assertThat(now ? this.repository.forceReleaseNow("stock") : this.repository.forceRelease("stock")).isTrue();
		assertThat(handle.release()).isFalse();
		assertThat(this.leases.news()).containsExactly("lost stock TAKEN_OVER");
	}

	@ParameterizedTest
	@EnumSource
	void noSuccessorOverlapsAHolderWhoseNameIsLeftToItsLease(Holder holder) {
		LockHandle handle = hold(holder);
		assertThat(this.repository.forceRelease("stock")).isTrue();
		this.leases.advanceAndRenew(holder.noticesAfter.minus(SECOND));
		assertUnaware(handle);
		assertThat(this.repository.acquire(new AcquireRequest(new LeaseKey("stock", "successor"), LEASE, "another",
				"main", "test", LockWorld.TIMEOUT)))
			.isInstanceOf(AcquireAnswer.Refused.class);
		this.leases.advanceAndRenew(SECOND);
		assertNotified(handle, holder.reason);
	}

	/**
	 * How a lease is renewed, and when its holder notices the loss.
	 */
	enum Holder {

		RENEWED(LEASE.dividedBy(3), LossReason.TAKEN_OVER, (handle) -> {
		}),

		NEVER_RENEWED(LEASE, LossReason.EXPIRED, (handle) -> {
		}),

		RENEWED_NO_MORE(LEASE, LossReason.EXPIRED, LockHandle::stopRenewal),

		EXTENDED(EXTENSION.minus(LEASE.dividedBy(3).multipliedBy(2)), LossReason.TAKEN_OVER,
				(handle) -> handle.extend(EXTENSION)),

		EXTENDED_AND_NEVER_RENEWED(EXTENSION, LossReason.EXPIRED, (handle) -> {
			handle.stopRenewal();
			handle.extend(EXTENSION);
		});

		private final Duration noticesAfter;

		private final LossReason reason;

		private final Consumer<LockHandle> prepare;

		Holder(Duration noticesAfter, LossReason reason, Consumer<LockHandle> prepare) {
			this.noticesAfter = noticesAfter;
			this.reason = reason;
			this.prepare = prepare;
		}

	}

}
