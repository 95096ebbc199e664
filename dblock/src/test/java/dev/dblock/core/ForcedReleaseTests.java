package dev.dblock.core;

import java.time.Duration;
import java.util.function.Consumer;

import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LossReason;
import dev.dblock.store.AcquireAnswer;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * When a holder is told that an operator has taken its lock away, as the Javadoc of
 * {@link dev.dblock.LockOperations#forceRelease(String)} says it.
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

	private void takeAwayForASuccessor() {
		assertThat(this.repository.forceReleaseNow("stock")).isTrue();
		assertThat(this.repository.acquire(new AcquireRequest(new LeaseKey("stock", "successor"),
				EXTENSION.multipliedBy(2), "another", "main", "test", LockWorld.TIMEOUT)))
			.isInstanceOf(AcquireAnswer.Granted.class);
	}

	private void knowsNothing(LockHandle handle) {
		assertThat(handle.isHeld()).isTrue();
		handle.ensureHeld();
		assertThat(this.leases.news()).isEmpty();
	}

	private void isTold(LockHandle handle, LossReason reason) {
		assertThat(this.leases.news()).containsExactly("lost stock " + reason);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::ensureHeld);
	}

	@ParameterizedTest
	@EnumSource
	void holderWorksBesideItsSuccessorUntilItIsTold(Holder holder) {
		LockHandle handle = hold(holder);
		takeAwayForASuccessor();
		knowsNothing(handle);
		this.leases.advanceAndRenew(holder.told.minus(SECOND));
		knowsNothing(handle);
		this.leases.advanceAndRenew(SECOND);
		isTold(handle, holder.reason);
	}

	@ParameterizedTest
	@EnumSource
	void holderWhoAsksByItselfIsToldAtOnce(Holder holder) {
		LockHandle handle = hold(holder);
		takeAwayForASuccessor();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::renew);
		isTold(handle, LossReason.TAKEN_OVER);
	}

	@ParameterizedTest
	@EnumSource
	void holderWhoExtendsItsLeaseIsToldAtOnce(Holder holder) {
		LockHandle handle = hold(holder);
		takeAwayForASuccessor();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> handle.extend(EXTENSION));
		isTold(handle, LossReason.TAKEN_OVER);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void holderWhoGivesTheLockBackIsToldThatItIsGone(boolean now) {
		LockHandle handle = hold(Holder.NEVER_RENEWED);
		assertThat(now ? this.repository.forceReleaseNow("stock") : this.repository.forceRelease("stock")).isTrue();
		assertThat(handle.release()).isFalse();
		assertThat(this.leases.news()).containsExactly("lost stock TAKEN_OVER");
	}

	@ParameterizedTest
	@EnumSource
	void nobodyOverlapsAHolderWhoseNameIsLeftToItsLease(Holder holder) {
		LockHandle handle = hold(holder);
		assertThat(this.repository.forceRelease("stock")).isTrue();
		this.leases.advanceAndRenew(holder.told.minus(SECOND));
		knowsNothing(handle);
		assertThat(this.repository.acquire(new AcquireRequest(new LeaseKey("stock", "successor"), LEASE, "another",
				"main", "test", LockWorld.TIMEOUT)))
			.isInstanceOf(AcquireAnswer.Refused.class);
		this.leases.advanceAndRenew(SECOND);
		isTold(handle, holder.reason);
	}

	/**
	 * How a lease is kept up, and what follows for its holder.
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

		private final Duration told;

		private final LossReason reason;

		private final Consumer<LockHandle> prepare;

		Holder(Duration told, LossReason reason, Consumer<LockHandle> prepare) {
			this.told = told;
			this.reason = reason;
			this.prepare = prepare;
		}

	}

}
