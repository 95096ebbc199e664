package dev.dblock.core;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LossReason;
import dev.dblock.core.lease.LockClock;
import dev.dblock.engine.LockEngine;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.store.TransactionFence.Outcome;
import dev.dblock.store.TransactionFence.Written;
import dev.dblock.transaction.FencedSessions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.Mockito.mock;

class FencedSessionsTests {

	private final LockWorld world = new LockWorld();

	private final ScriptedFence fence = new ScriptedFence();

	private final Set<Object> open = new HashSet<>();

	private final FencedSessions sessions = new FencedSessions(this.open::contains);

	private final LockHandle lock = this.world.template().acquire("a");

	@AfterEach
	void close() {
		this.world.close();
	}

	private Object session() {
		Object session = new Object();
		this.open.add(session);
		return session;
	}

	private void fence(Object session) {
		this.sessions.fence(session, this.lock, this.fence);
	}

	@Test
	void theFenceHasTheTokenOfTheHandle() {
		fence(session());
		assertThat(this.fence.tokens()).containsExactly(this.lock.token());
	}

	@Test
	void aSessionKeepsItsSlot() {
		Object first = session();
		fence(first);
		fence(first);
		fence(session());
		fence(first);
		assertThat(this.fence.slots()).containsExactly(0, 0, 1, 0);
	}

	@Test
	void aFifthSessionAtATimeIsRefused() {
		List.of(session(), session(), session(), session()).forEach(this::fence);
		assertThatIllegalStateException().isThrownBy(() -> fence(session()))
			.withMessageContaining("'a'")
			.withMessageContaining("4 others");
		assertThat(this.fence.slots()).containsExactly(0, 1, 2, 3);
		assertThat(this.fence.settled()).isEmpty();
	}

	@Test
	void theSlotsOfSessionsWhoseTransactionsAreOverAreFreeAfterTheyWereSettled() {
		List<Object> four = List.of(session(), session(), session(), session());
		four.subList(0, 3).forEach(this::fence);
		this.open.remove(four.get(0));
		this.open.remove(four.get(2));
		assertThat(this.fence.settled()).as("while there is room").isEmpty();
		fence(four.get(3));
		assertThat(this.fence.settled()).containsExactly(0, 2);
		fence(session());
		fence(session());
		assertThat(this.fence.slots()).containsExactly(0, 1, 2, 3, 0, 2);
		assertThat(this.fence.monitors()).as("held meanwhile").isEmpty();
	}

	@Test
	void slotsThatCannotBeSettledAreNotUsedAgain() {
		List<Object> four = List.of(session(), session(), session(), session());
		four.subList(0, 3).forEach(this::fence);
		this.open.clear();
		this.fence.failToSettle(true);
		fence(four.get(3));
		assertThatIllegalStateException().isThrownBy(() -> fence(session()));
		this.fence.failToSettle(false);
		fence(session());
		assertThat(this.fence.slots()).as("not refused for good").containsExactly(0, 1, 2, 3, 0);
	}

	@Test
	void theNextHolderIsNotifiedAndNoThreadOfThisProcessIsHandedTheLock() {
		fence(session());
		assertThat(((LeaseHandle) this.lock).lease().canBeHandedOver()).isFalse();
		this.lock.release();
		assertThat(this.world.repository().fenceMark("a")).isEqualTo(FenceMark.SET);
	}

	@Test
	void aLockThatIsNotHeldFencesNothing() {
		this.lock.release();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> fence(session()));
		assertThat(this.fence.slots()).isEmpty();
	}

	@Test
	void aLockThatIsClosedAtThatMomentFencesNothing() {
		AtomicReference<Runnable> event = new AtomicReference<>();
		LockHandle closing = handle(this.world.newEngine(LockWorld.settings(""), interrupted(event)));
		event.set(closing::release);
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.sessions.fence(session(), closing, this.fence));
		assertThat(event.get()).as("it was closed after the first look").isNull();
		assertThat(this.fence.slots()).isEmpty();
		assertThat(this.world.repository().fenceMark("b")).isEqualTo(FenceMark.KEEP);
	}

	@Test
	void aLockThatBeginsToFenceAtThatMomentIsNotHandedOver() throws Exception {
		AtomicReference<Runnable> event = new AtomicReference<>();
		DefaultLockEngine engine = this.world.newEngine(LockWorld.settings(""), interrupted(event));
		LockHandle first = handle(engine);
		Worker<LockHandle> next = Worker
			.start(() -> ((LockEngine.Granted) engine.acquire("b", LockOptions.defaults().waitUpTo(Duration.ofDays(1))))
				.handle());
		next.awaitWaiting();
		event.set(() -> this.sessions.fence(session(), first, this.fence));
		first.release();
		assertThat(this.fence.slots()).containsExactly(0);
		assertThat(next.result().token()).isGreaterThan(first.token() + 1);
	}

	private static LockHandle handle(DefaultLockEngine engine) {
		return ((LockEngine.Granted) engine.acquire("b", LockOptions.defaults())).handle();
	}

	/**
	 * A clock at whose next look of this thread something happens.
	 */
	private LockClock interrupted(AtomicReference<Runnable> event) {
		ManualClock clock = this.world.clock();
		Thread me = Thread.currentThread();
		return new LockClock() {

			@Override
			public long nanoTime() {
				return clock.nanoTime();
			}

			@Override
			public long wallMillis() {
				Runnable happening = (Thread.currentThread() == me) ? event.getAndSet(null) : null;
				if (happening != null) {
					happening.run();
				}
				return clock.wallMillis();
			}

		};
	}

	@Test
	void aLockThatHasPassedToAnotherIsLost() {
		this.fence.next(new Written(Outcome.OVERTAKEN, null));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> fence(session()))
			.extracting(LockLostException::reason)
			.isEqualTo(LossReason.TAKEN_OVER);
		assertThat(this.lock.isHeld()).isFalse();
	}

	@Test
	void aFailureIsThrownAsItIs() {
		RuntimeException failure = new RuntimeException("scripted");
		this.fence.next(Outcome.ENDED, failure);
		assertThatCode(() -> fence(session())).isSameAs(failure);
		assertThat(this.lock.isHeld()).isTrue();
	}

	@Test
	void aHandleOfAnotherEngineIsRefused() {
		LockHandle foreign = mock(LockHandle.class);
		assertThatIllegalArgumentException().isThrownBy(() -> this.sessions.fence(session(), foreign, this.fence));
	}

	@Test
	void whereLockingIsSwitchedOffThereIsNothingToFence() {
		LockEngine unlocked = LockEngine.unlocked(LockWorld.settings(""));
		LockHandle handle = ((LockEngine.Granted) unlocked.acquire("a", LockOptions.defaults())).handle();
		this.sessions.fence(session(), handle, this.fence);
		assertThat(this.fence.slots()).isEmpty();
		handle.close();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.sessions.fence(session(), handle, this.fence));
	}

}
