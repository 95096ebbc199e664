package dev.dblock.test.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import dev.dblock.LockAssert;
import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.LossReason;
import dev.dblock.autoconfigure.DblockAutoConfiguration;
import dev.dblock.event.LockListener;
import dev.dblock.test.autoconfigure.TestLocks.HeldElsewhere;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * Tests for {@link TestLocks}.
 */
class TestLocksTests {

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DblockAutoConfiguration.class, DblockTestAutoConfiguration.class))
		.withPropertyValues("dblock.mode=local", "dblock.name-prefix=shop-");

	@Test
	void whatIsHeldElsewhereIsRefusedUntilItIsReleased() {
		this.contextRunner.run((context) -> {
			TestLocks locks = context.getBean(TestLocks.class);
			LockTemplate template = context.getBean(LockTemplate.class);
			HeldElsewhere other = locks.holdElsewhere("stock");
			assertThat(other.name()).isEqualTo("shop-stock");
			assertThat(template.tryAcquire("stock")).isEmpty();
			assertThat(template.inspect("stock").orElseThrow().acquirer()).isEqualTo("another instance");
			assertThat(template.tryAcquire("other")).isPresent();
			assertThat(template.executeOrRunAgain("stock", () -> {
				throw new AssertionError("runs here");
			})).isFalse();
			other.close();
			LockHandle held = template.tryAcquire("stock").orElseThrow();
			other.close();
			other.expire();
			held.renew();
			assertThat(held.isHeld()).isTrue();
		});
	}

	@Test
	void permitsThatAreHeldElsewhereLeaveTheOthers() {
		this.contextRunner.run((context) -> {
			TestLocks locks = context.getBean(TestLocks.class);
			LockTemplate template = context.getBean(LockTemplate.class);
			LockOptions two = LockOptions.defaults().permits(2);
			HeldElsewhere other = locks.holdPermitElsewhere("export", 2);
			assertThat(other.name()).isEqualTo("shop-export");
			assertThat(other.permit()).isOne();
			try (LockHandle mine = template.acquire("export", two)) {
				assertThat(mine.permit()).isEqualTo(2);
				assertThat(locks.holds("export")).isTrue();
				assertThat(template.tryAcquire("export", two)).isEmpty();
				assertThatIllegalStateException().isThrownBy(() -> locks.holdPermitElsewhere("export", 2))
					.withMessageContaining("cannot hold the lock 'shop-export");
			}
			other.expire();
			assertThat(locks.holdAllPermitsElsewhere("export", 2)).extracting(HeldElsewhere::permit)
				.containsExactlyInAnyOrder(1, 2);
			assertThat(template.tryAcquire("export", two)).isEmpty();
			locks.reset();
			assertThat(template.tryAcquire("export", two)).isPresent();
		});
	}

	@Test
	void aPermitIsLostWithoutTheOthers() {
		this.contextRunner.run((context) -> {
			TestLocks locks = context.getBean(TestLocks.class);
			LockTemplate template = context.getBean(LockTemplate.class);
			LockOptions two = LockOptions.defaults().permits(2);
			LockHandle first = template.acquire("export", two);
			try (LockHandle second = template.acquire("export", two)) {
				assertThat(locks.lose("export").permit()).isEqualTo(first.permit());
				assertThat(first.isHeld()).isFalse();
				assertThat(second.isHeld()).isTrue();
				assertThat(locks.holds("export")).isTrue();
				assertThatExceptionOfType(LockLostException.class).isThrownBy(first::close);
			}
		});
	}

	@Test
	void aNumberOfPermitsThatIsNotPossibleIsRefused() {
		this.contextRunner.run((context) -> {
			TestLocks locks = context.getBean(TestLocks.class);
			assertThatIllegalArgumentException().isThrownBy(() -> locks.holdPermitElsewhere("export", 0))
				.withMessageContaining("between 1 and 1000 permits");
			assertThatIllegalArgumentException().isThrownBy(() -> locks.holdAllPermitsElsewhere("export", -1))
				.withMessageContaining("between 1 and 1000 permits");
		});
	}

	@Test
	void aLeaseElsewhereEndsByItself() {
		this.contextRunner.run((context) -> {
			context.getBean(TestLocks.class).holdElsewhere("stock", Duration.ofMillis(50));
			LockOptions patient = LockOptions.defaults().waitUpTo(Duration.ofMinutes(1));
			assertThat(context.getBean(LockTemplate.class).tryAcquire("stock", patient)).isPresent();
		});
	}

	@Test
	void anExpiredLeaseElsewhereIsTakenOver() {
		this.contextRunner.run((context) -> {
			HeldElsewhere other = context.getBean(TestLocks.class).holdElsewhere("stock");
			other.expire();
			assertThat(context.getBean(LockTemplate.class).inspect("stock").orElseThrow().holder()).isNotNull();
			assertThat(context.getBean(LockTemplate.class).tryAcquire("stock")).isPresent();
		});
	}

	@Test
	void whatTheApplicationHoldsCannotBeHeldElsewhere() {
		this.contextRunner.run((context) -> {
			TestLocks locks = context.getBean(TestLocks.class);
			LockOptions why = LockOptions.defaults().why("counting");
			try (LockHandle held = context.getBean(LockTemplate.class).acquire("stock", why)) {
				assertThatIllegalStateException().isThrownBy(() -> locks.holdElsewhere("stock"))
					.withMessageContaining("'shop-stock'")
					.withMessageContaining("counting")
					.withMessageContaining("lose");
				assertThat(held.isHeld()).isTrue();
			}
		});
	}

	@Test
	void aLeaseElsewhereThatCannotBeIsRefused() {
		this.contextRunner.run((context) -> {
			TestLocks locks = context.getBean(TestLocks.class);
			for (Duration lease : List.of(Duration.ofSeconds(-1), Duration.ZERO)) {
				assertThatIllegalArgumentException().isThrownBy(() -> locks.holdElsewhere("stock", lease))
					.withMessageContaining("'stock'")
					.withMessageContaining("not for " + lease);
			}
			assertThat(context.getBean(LockTemplate.class).tryAcquire("stock")).isPresent();
		});
	}

	@Test
	void aNameThatIsNullIsRefusedAsOne() {
		this.contextRunner.run((context) -> {
			TestLocks locks = context.getBean(TestLocks.class);
			List<ThrowingCallable> requests = List.of(() -> locks.holdElsewhere(null), () -> locks.lose(null),
					() -> locks.expire(null), () -> locks.holds(null),
					() -> TestLocks.pretendLocked(null, () -> assertThat(locks).doesNotHold("stock")));
			for (ThrowingCallable request : requests) {
				assertThatIllegalArgumentException().isThrownBy(request)
					.withMessageStartingWith("The name of the lock is null");
			}
		});
	}

	@Test
	void whatIsLostIsLostWhenLoseReturns() {
		Told told = new Told();
		this.contextRunner.withBean(LockListener.class, () -> told).run((context) -> {
			TestLocks locks = context.getBean(TestLocks.class);
			LockTemplate template = context.getBean(LockTemplate.class);
			LockHandle held = template.acquire("stock");
			HeldElsewhere other = locks.lose("stock");
			assertThat(held.isHeld()).isFalse();
			assertThat(told.losses).containsExactly("shop-stock " + LossReason.TAKEN_OVER);
			assertThat(locks).hasLost("stock").doesNotHold("stock");
			assertThat(template.tryAcquire("stock")).isEmpty();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(held::close);
			other.release();
			assertThat(template.tryAcquire("stock")).isPresent();
		});
	}

	@Test
	void aLossThatAnotherThreadCausesIsWaitedFor() throws Exception {
		CountDownLatch called = new CountDownLatch(1);
		CountDownLatch asserted = new CountDownLatch(1);
		LockListener slow = new LockListener() {

			@Override
			public void onLost(LockHandle handle, LossReason reason) {
				called.countDown();
				assertThatNoException().isThrownBy(() -> asserted.await(60, TimeUnit.SECONDS));
			}

		};
		this.contextRunner.withBean(LockListener.class, () -> slow).run((context) -> {
			TestLocks locks = context.getBean(TestLocks.class);
			LockHandle held = context.getBean(LockTemplate.class).acquire("stock");
			Thread asserting = new Thread(() -> {
				assertThat(locks).hasLost("stock");
				asserted.countDown();
			});
			asserting.start();
			Awaitility.await()
				.atMost(Duration.ofSeconds(60))
				.until(() -> asserting.getState() == Thread.State.TIMED_WAITING);
			CompletableFuture<HeldElsewhere> losing = CompletableFuture.supplyAsync(() -> locks.lose("stock"));
			assertThat(called.await(60, TimeUnit.SECONDS)).isTrue();
			assertThat(asserted.await(60, TimeUnit.SECONDS)).isTrue();
			assertThat(losing.get(60, TimeUnit.SECONDS).name()).isEqualTo("shop-stock");
			assertThat(held.isHeld()).isFalse();
		});
	}

	@Test
	void anInterruptByTheLossOutlivesTheWaitForIt() {
		this.contextRunner.run((context) -> {
			Thread.currentThread().interrupt();
			try {
				TestLocks locks = context.getBean(TestLocks.class);
				CompletableFuture.runAsync(() -> {
					context.getBean(LockTemplate.class).acquire("stock");
					locks.lose("stock");
				});
				assertThat(locks).hasLost("stock");
			}
			finally {
				assertThat(Thread.interrupted()).isTrue();
			}
		});
	}

	@Test
	void whatIsNotHeldCannotBeLost() {
		this.contextRunner.run((context) -> {
			TestLocks locks = context.getBean(TestLocks.class);
			context.getBean(LockTemplate.class).acquire("orders");
			assertThatIllegalStateException().isThrownBy(() -> locks.lose("stock"))
				.withMessageContaining("'shop-stock'")
				.withMessageContaining("[shop-orders]");
		});
	}

	@Test
	void aMinimumHoldCanBeEnded() {
		this.contextRunner.run((context) -> {
			TestLocks locks = context.getBean(TestLocks.class);
			LockTemplate template = context.getBean(LockTemplate.class);
			LockOptions minHold = LockOptions.lease(Duration.ofHours(1)).minHold(Duration.ofHours(1));
			template.acquire("stock", minHold).release();
			assertThat(template.tryAcquire("stock")).isEmpty();
			assertThat(locks.expire("stock")).isTrue();
			assertThat(template.tryAcquire("stock")).isPresent();
			assertThat(locks.expire("nothing")).isFalse();
		});
	}

	@Test
	void theRecordBeginsAnewAndWhatIsHeldElsewhereIsFree() {
		this.contextRunner.run((context) -> {
			TestLocks locks = context.getBean(TestLocks.class);
			LockTemplate template = context.getBean(LockTemplate.class);
			locks.holdElsewhere("stock");
			LockHandle held = template.acquire("orders");
			locks.reset();
			assertThat(locks).hasNotAcquired("orders").holds("orders");
			assertThat(template.tryAcquire("stock")).isPresent();
			held.release();
		});
	}

	@Test
	void whatIsNotAsExpectedIsToldWithAllThatHappened() {
		this.contextRunner.run((context) -> {
			TestLocks locks = context.getBean(TestLocks.class);
			LockTemplate template = context.getBean(LockTemplate.class);
			assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> assertThat(locks).hasAcquired("stock"))
				.withMessage("Expected the application to have acquired 'stock'. "
						+ "What happened to its locks in this test: nothing");
			template.acquire("stock").release();
			locks.holdElsewhere("stock");
			template.tryAcquire("stock");
			List<Runnable> wrong = List.of(() -> assertThat(locks).hasAcquired("stock", 2),
					() -> assertThat(locks).hasNotAcquired("stock"), () -> assertThat(locks).hasAcquired("orders"),
					() -> assertThat(locks).wasRefused("orders"), () -> assertThat(locks).hasLost("stock"),
					() -> assertThat(locks).holds("stock"));
			for (Runnable assertion : wrong) {
				assertThatExceptionOfType(AssertionError.class).isThrownBy(assertion::run)
					.withMessageEndingWith("'shop-stock' acquired, 'shop-stock' released, 'shop-stock' refused");
			}
			LockHandle held = template.acquire("orders");
			assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> assertThat(locks).doesNotHold("orders"));
			held.release();
		});
	}

	@Test
	void testLocksNeedLocksInMemory() {
		this.contextRunner.withPropertyValues("dblock.mode=none")
			.run((context) -> assertThatExceptionOfType(RuntimeException.class)
				.isThrownBy(() -> context.getBean(TestLocks.class))
				.havingRootCause()
				.withMessageContaining("@AutoConfigureDblock"));
	}

	@Test
	void codeThatMustBeLockedCanBeCalledWithoutAContext() {
		List<String> names = new ArrayList<>();
		TestLocks.pretendLocked("stock", () -> {
			LockAssert.assertLocked("stock");
			names.add(LockContext.current().orElseThrow().name());
		});
		assertThat(names).containsExactly("stock");
		assertThat(LockContext.current()).isEmpty();
	}

	private static final class Told implements LockListener {

		private final List<String> losses = new ArrayList<>();

		@Override
		public void onLost(LockHandle handle, LossReason reason) {
			this.losses.add(handle.name() + " " + reason);
		}

	}

}
