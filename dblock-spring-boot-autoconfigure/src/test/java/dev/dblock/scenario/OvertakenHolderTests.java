package dev.dblock.scenario;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LossReason;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A holder whose lease has ended, and that uses its handle when another has the lock.
 * <p>
 * The steps are those in which ShedLock's MongoDB provider takes the successor's lock for
 * the caller's: its unlock finds the document by {@code _id} alone, and its extend by
 * {@code _id}, host name and an end that is not yet reached, so that neither
 * distinguishes one acquisition from the next one (of the same host).
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class OvertakenHolderTests {

	private static final LockOptions SHORT = LockOptions.lease(Duration.ofSeconds(3)).autoRenew(false);

	private static final LockOptions LONG = LockOptions.lease(Duration.ofMinutes(10)).autoRenew(false);

	private Instances instances;

	private Instance first;

	private Instance second;

	private Instance third;

	@BeforeEach
	void start(MongoServer server) {
		this.instances = new Instances(server);
		this.first = this.instances.start("first", Duration.ZERO);
		this.second = this.instances.start("second", Duration.ZERO);
		this.third = this.instances.start("third", Duration.ZERO);
	}

	@AfterEach
	void stop() throws Exception {
		this.instances.close();
	}

	/**
	 * The uses of a handle.
	 */
	enum Action {

		RENEW(LockHandle::renew),

		EXTEND((handle) -> handle.extend(Duration.ofMinutes(15))),

		CLOSE(LockHandle::close),

		RELEASE((handle) -> assertThat(handle.release()).isFalse());

		private final Consumer<LockHandle> use;

		Action(Consumer<LockHandle> use) {
			this.use = use;
		}

		void refusedOn(LockHandle handle) {
			if (this == RELEASE) {
				this.use.accept(handle);
			}
			else {
				assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.use.accept(handle));
			}
		}

	}

	@ParameterizedTest
	@EnumSource
	void holderThatKnowsOfItsLossTouchesNothingOfItsSuccessors(Action action) {
		LockHandle expired = this.first.locks().acquire("stock", SHORT);
		LockHandle successor = takeOver();
		Document taken = this.instances.document("stock");
		long released = this.first.commands().answers("update");
		action.refusedOn(expired);
		assertThat(expired.release()).isFalse();
		// A lost lease is released by id as well, in the background
		Instances.eventually().until(() -> this.first.commands().answers("update") > released);
		assertUntouched(expired, successor, taken);
	}

	@ParameterizedTest
	@EnumSource
	void holderThatTrustsItsLeaseTouchesNothingOfItsSuccessors(Action action) {
		LockHandle overtaken = this.first.locks().acquire("stock", LONG);
		this.instances.expire("stock");
		LockHandle successor = takeOver();
		Document taken = this.instances.document("stock");
		assertThat(overtaken.isHeld()).as("what the holder believes").isTrue();
		action.refusedOn(overtaken);
		assertUntouched(overtaken, successor, taken);
	}

	@Test
	void backgroundRenewalTouchesNothingOfTheSuccessorsAndReportsTheLoss() {
		LockHandle overtaken = this.first.locks().acquire("stock", LockOptions.lease(Duration.ofSeconds(15)));
		this.instances.expire("stock");
		LockHandle successor = takeOver();
		Document taken = this.instances.document("stock");
		Instances.eventually().until(() -> this.first.losses().of("stock").isPresent());
		assertThat(this.first.losses().all()).singleElement()
			.extracting(Losses.Loss::reason)
			.isEqualTo(LossReason.TAKEN_OVER);
		for (Action action : Action.values()) {
			action.refusedOn(overtaken);
		}
		assertUntouched(overtaken, successor, taken);
	}

	/**
	 * The same process, and so the same host and acquirer, is its own successor.
	 */
	@Test
	void acquisitionsOfOneProcessAreDistinguished() {
		LockHandle overtaken = this.first.locks().acquire("stock", SHORT);
		LockHandle successor = this.first.locks().acquire("stock", LONG.waitUpTo(Duration.ofMinutes(2)));
		Document taken = this.instances.document("stock");
		Stream.<ThrowingCallable>of(overtaken::renew, () -> overtaken.extend(Duration.ofMinutes(15)), overtaken::close)
			.forEach((use) -> assertThatExceptionOfType(LockLostException.class).isThrownBy(use));
		assertUntouched(overtaken, successor, taken);
	}

	private LockHandle takeOver() {
		return Instances.eventually()
			.until(() -> this.second.locks().tryAcquire("stock", LONG), Optional::isPresent)
			.orElseThrow();
	}

	private void assertUntouched(LockHandle overtaken, LockHandle successor, Document taken) {
		assertThat(this.instances.document("stock")).isEqualTo(taken).containsKey("holder");
		assertThat(taken.get("releasedAt")).isNull();
		assertThat(overtaken.isHeld()).isFalse();
		assertThat(this.third.locks().tryAcquire("stock")).isEmpty();
		assertThat(successor.token()).isGreaterThan(overtaken.token());
		successor.ensureHeld();
		successor.renew();
		assertThat(successor.release()).isTrue();
	}

}
