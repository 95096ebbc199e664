package dev.dblock.core;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;

import dev.dblock.LockHandle;
import dev.dblock.LockInfo;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LossReason;
import dev.dblock.core.Request.Kind;
import dev.dblock.core.lease.LockClock;
import dev.dblock.engine.HeldLock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.dao.QueryTimeoutException;

import static dev.dblock.core.LockWorld.granted;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A handle is closed, and hands its lock over, while another thread changes the end of
 * its lease. One of the two threads stops at each place where it reads the clock or sends
 * a request, while the other one does all that it can.
 */
@Timeout(300)
class ChangesDuringHandOverTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	/** What the store adds to a lease. */
	private static final Duration ALLOWANCE = Duration.ofMillis(530);

	private static final Duration LONG = Duration.ofMinutes(10);

	private static final LockOptions PATIENTLY = LockOptions.defaults().waitUpTo(Duration.ofDays(1));

	/** More than any of these calls has. */
	private static final int MOST_PLACES = 200;

	@RegisterExtension
	private final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	private final Stop stop = new Stop();

	private final DefaultLockEngine engine = this.world.newEngine(LockWorld.settings(""), this.stop);

	private volatile boolean unanswered;

	@BeforeEach
	void stopAtRequests() {
		this.repository.always((request) -> request.isAbout("a"), (request, store) -> {
			this.stop.pass();
			Object answer = store.get();
			this.stop.pass();
			if (this.unanswered && request.kind() == Kind.EXTEND) {
				throw Fault.timeout().get();
			}
			return answer;
		});
	}

	static Stream<Arguments> changes() {
		return Stream.of(change("extend", (handle) -> handle.extend(LONG, Duration.ZERO)),
				change("extend with a minimum hold", (handle) -> handle.extend(LONG, LONG)),
				change("shorten", (handle) -> ((HeldLock) handle).extendExactly(SECOND, Duration.ZERO)),
				change("set a later end", (handle) -> ((HeldLock) handle).extendExactly(LONG, SECOND)),
				change("re-enter for longer",
						(handle) -> ((HeldLock) handle).reenter(LockOptions.lease(LONG).autoRenew(true))),
				change("renew", (handle) -> ((LeaseHandle) handle).renew()),
				change("ensure that it is held", LockHandle::ensureHeld));
	}

	private static Arguments change(String name, Consumer<LockHandle> change) {
		return Arguments.of(name, change);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("changes")
	void aHandOverInTheMiddleOfAChangeLeavesTheSuccessorAlone(String name, Consumer<LockHandle> change)
			throws Exception {
		atEachPlace((handle) -> tolerant(change, handle), LockHandle::release);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("changes")
	void aChangeInTheMiddleOfAHandOverLeavesTheSuccessorAlone(String name, Consumer<LockHandle> change)
			throws Exception {
		atEachPlace(LockHandle::release, (handle) -> tolerant(change, handle));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("changes")
	void anUnansweredChangeInTheMiddleOfAHandOverLeavesTheSuccessorAlone(String name, Consumer<LockHandle> change)
			throws Exception {
		this.unanswered = true;
		atEachPlace(LockHandle::release, (handle) -> tolerant(change, handle));
		atEachPlace((handle) -> tolerant(change, handle), LockHandle::release);
	}

	/**
	 * A change is done, refused because the lease has ended, or in doubt.
	 */
	private static void tolerant(Consumer<LockHandle> change, LockHandle handle) {
		try {
			change.accept(handle);
		}
		catch (LockLostException ex) {
			assertThat(ex.reason()).isEqualTo(LossReason.RELEASED);
		}
		catch (QueryTimeoutException ex) {
			assertThat(ex).hasMessageContaining("scripted");
		}
	}

	private void atEachPlace(Consumer<LockHandle> stopped, Consumer<LockHandle> meanwhile) throws Exception {
		int place = 0;
		do {
			assertThat(place).isLessThan(MOST_PLACES);
		}
		while (stopsAt(place++, stopped, meanwhile));
		assertThat(place).as("places at which the thread has stopped").isGreaterThan(3);
	}

	/**
	 * Let one thread stop at a place, the other do all that it can, and the first go on.
	 * @return whether there is such a place
	 */
	private boolean stopsAt(int place, Consumer<LockHandle> stopped, Consumer<LockHandle> meanwhile) throws Exception {
		LockHandle first = granted(this.engine.acquire("a", LockOptions.defaults()));
		String acquisition = this.repository.peek("a").holder();
		this.world.clock().advance(SECOND);
		Worker<LockHandle> waiter = Worker.start(() -> granted(this.engine.acquire("a", PATIENTLY)));
		waiter.awaitWaiting();
		Gate gate = new Gate();
		Worker<Boolean> one = Worker.start(() -> {
			boolean reached = this.stop.at(place, gate, () -> stopped.accept(first));
			gate.open();
			return reached;
		});
		LockWorld.eventually().until(() -> one.isDone() || gate.isReached());
		Worker<Void> other = Worker.start(() -> {
			meanwhile.accept(first);
			return null;
		});
		other.awaitDoneOrBlocked();
		gate.open();
		boolean reached = one.result();
		other.result();
		passMinimumHold();
		try (LockHandle second = waiter.result()) {
			LockInfo stored = this.repository.peek("a");
			boolean handedOver = acquisition.equals(stored.holder());
			assertThat(second.isHeld()).isTrue();
			assertThat(second.token()).isGreaterThan(first.token());
			assertThat(stored.remaining())
				.as("stored, when stopped at place %d, %s", place, handedOver ? "handed over" : "released")
				.isBetween(second.remaining().plus(ALLOWANCE), LockWorld.LEASE.plus(ALLOWANCE));
			assertThat(second.remaining()).isBetween(LockWorld.LEASE.minus(SECOND), LockWorld.LEASE);
			assertThat(first.isHeld()).isFalse();
		}
		LockWorld.eventually().until(() -> !this.repository.isHeld("a"));
		return reached;
	}

	private void passMinimumHold() {
		LockInfo stored = this.repository.peek("a");
		if (stored.releasedAt() != null) {
			this.world.clock().advance(stored.remaining());
		}
	}

	/**
	 * A clock that stops one thread at a place where it is read.
	 */
	private final class Stop implements LockClock {

		private final AtomicReference<Thread> thread = new AtomicReference<>();

		private final AtomicInteger left = new AtomicInteger();

		private volatile Gate gate = new Gate();

		boolean at(int place, Gate gate, Runnable work) {
			this.gate = gate;
			this.left.set(place);
			this.thread.set(Thread.currentThread());
			work.run();
			return this.thread.getAndSet(null) == null;
		}

		void pass() {
			if (this.thread.get() == Thread.currentThread() && this.left.getAndDecrement() == 0) {
				this.thread.set(null);
				this.gate.pass();
			}
		}

		@Override
		public long nanoTime() {
			pass();
			return ChangesDuringHandOverTests.this.world.clock().nanoTime();
		}

		@Override
		public long wallMillis() {
			return ChangesDuringHandOverTests.this.world.clock().wallMillis();
		}

	}

}
