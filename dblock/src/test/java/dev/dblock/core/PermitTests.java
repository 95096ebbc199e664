package dev.dblock.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.core.Request.Kind;
import dev.dblock.engine.LockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.StoreTimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class PermitTests {

	private static final LockOptions THREE = LockOptions.defaults().permits(3);

	private static final LockOptions PATIENTLY = THREE.waitUpTo(Duration.ofMinutes(10));

	@RegisterExtension
	private final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	private List<LockHandle> takeAll() {
		return IntStream.range(0, 3).mapToObj((i) -> this.world.acquire("export", THREE)).toList();
	}

	private Worker<LockHandle> waitFor(DefaultLockTemplate template, LockOptions options) {
		Worker<LockHandle> worker = Worker.start(() -> template.acquire("export", options));
		worker.awaitWaiting();
		return worker;
	}

	@Test
	void aProcessHoldsAllPermitsAndNoMore() {
		List<LockHandle> all = takeAll();
		assertThat(all).extracting(LockHandle::permit).containsExactly(1, 2, 3);
		assertThat(all).extracting(LockHandle::name).containsOnly("export");
		assertThat(all).allMatch(LockHandle::isHeld);
		assertThat(this.repository.peek("export (permit 3)").held()).isTrue();
		LockRefusal refusal = LockWorld.refused(this.world.engine().acquire("export", THREE));
		assertThat(refusal.holder().permits()).isEqualTo(3);
		assertThat(this.repository.count(Kind.ACQUIRE)).as("refused without a request").isEqualTo(3);
		all.get(1).close();
		assertThat(this.world.acquire("export", THREE).permit()).isEqualTo(2);
	}

	@Test
	void otherProcessesGetTheRest() {
		DefaultLockTemplate other = this.world.anotherProcess();
		LockHandle mine = this.world.acquire("export", THREE);
		LockHandle theirs = other.acquire("export", THREE);
		LockHandle third = other.acquire("export", THREE);
		assertThat(List.of(mine, theirs, third)).extracting(LockHandle::permit).containsExactly(1, 2, 3);
		assertThat(this.world.template().tryAcquire("export", THREE)).isEmpty();
		mine.close();
		assertThat(other.tryAcquire("export", THREE)).get().extracting(LockHandle::permit).isEqualTo(1);
	}

	@Test
	void eachIsRenewedAndLostOnItsOwn() {
		List<LockHandle> all = takeAll();
		this.world.advance(LockWorld.LEASE.dividedBy(2));
		LockWorld.eventually()
			.until(() -> this.repository.peek("export (permit 3)").remaining().compareTo(LockWorld.LEASE) >= 0);
		this.repository.forceReleaseNow("export (permit 2)");
		this.world.advance(LockWorld.LEASE.dividedBy(2));
		LockWorld.eventually().until(() -> !all.get(1).isHeld());
		assertThat(all).extracting(LockHandle::isHeld).containsExactly(true, false, true);
	}

	@Test
	void aReleasedPermitIsHandedOver() throws Exception {
		List<LockHandle> all = takeAll();
		Worker<LockHandle> waiting = waitFor(this.world.template(), PATIENTLY);
		int requests = this.repository.count(Kind.ACQUIRE);
		all.get(1).close();
		LockHandle next = waiting.result();
		assertThat(next.permit()).isEqualTo(2);
		assertThat(next.token()).isEqualTo(all.get(1).token() + 1);
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(requests);
		assertThat(this.repository.count(Kind.RELEASE)).isZero();
		next.close();
		assertThat(this.repository.isHeld("export (permit 2)")).isFalse();
		assertThat(this.repository.isHeld("export")).isTrue();
	}

	@Test
	void aWaiterThatHoldsSomePermitsHereGetsTheOneThatAnotherProcessReleases() throws Exception {
		DefaultLockTemplate other = this.world.anotherProcess();
		LockHandle first = this.world.acquire("export", THREE);
		LockHandle theirs = other.acquire("export", THREE);
		LockHandle third = this.world.acquire("export", THREE);
		Worker<LockHandle> waiting = waitFor(this.world.template(), PATIENTLY);
		theirs.close();
		assertThat(waiting.result().permit()).isEqualTo(2);
		assertThat(List.of(first, third)).allMatch(LockHandle::isHeld);
	}

	@Test
	void aReleaseOfAnyPermitIsASignal() {
		takeAll();
		Worker<LockHandle> waiting = waitFor(this.world.template(), PATIENTLY);
		assertThat(this.world.engine().parts().queues().signal("export (permit 2)")).isTrue();
		assertThat(this.world.engine().parts().queues().signal("export (permit)")).isFalse();
		waiting.interrupt();
	}

	@Test
	void waitersThatAllGetAPermitLeaveNothingBehind() throws Exception {
		List<LockHandle> all = takeAll();
		List<Worker<LockHandle>> waiting = new ArrayList<>();
		for (int i = 0; i < 5; i++) {
			waiting.add(waitFor(this.world.template(), PATIENTLY));
		}
		all.forEach(LockHandle::close);
		for (Worker<LockHandle> worker : waiting) {
			LockWorld.eventually().until(worker::isDone);
			worker.result().close();
		}
		for (int permit = 1; permit <= 3; permit++) {
			assertThat(this.repository.isHeld((permit == 1) ? "export" : "export (permit " + permit + ")")).isFalse();
		}
		assertThat(this.world.engine().parts().queues().size()).isZero();
	}

	@Test
	void workReentersItsPermit() {
		this.world.template().execute("export", THREE, () -> {
			this.world.template().execute("export", THREE, () -> {
			});
			assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(1);
			assertThatIllegalStateException()
				.isThrownBy(() -> this.world.template().execute("export", LockOptions.defaults(), () -> {
				}))
				.withMessageContaining("as a plain lock")
				.withMessageContaining("Request 3 permits there");
			assertThatIllegalStateException()
				.isThrownBy(() -> this.world.template().execute("export", LockOptions.defaults().permits(2), () -> {
				}))
				.withMessageContaining("with permits = 2");
		});
		this.world.template().execute("export", LockOptions.defaults().permits(1), () -> {
			this.world.template().execute("export", THREE, () -> {
			});
			this.world.template().execute("export", LockOptions.defaults(), () -> {
			});
		});
	}

	@Test
	void aThreadThatHoldsAllDoesNotWaitForItself() {
		takeAll();
		LockRefusal refusal = LockWorld.refused(this.world.engine().acquire("export", PATIENTLY));
		assertThat(refusal.describe()).contains("This thread itself holds it");
	}

	@Test
	void aThreadThatHoldsSomeWaitsForTheOthers() throws Exception {
		DefaultLockTemplate other = this.world.anotherProcess();
		LockHandle theirs = other.acquire("export", THREE);
		Worker<LockHandle> waiting = Worker.start(() -> {
			this.world.acquire("export", THREE);
			this.world.acquire("export", THREE);
			return this.world.acquire("export", PATIENTLY);
		});
		LockWorld.eventually().until(() -> this.repository.count(Kind.ACQUIRE) > 3);
		theirs.close();
		assertThat(waiting.result().permit()).isEqualTo(1);
	}

	@Test
	void aPlainLockIsRefusedWithTheReason() {
		LockHandle permit = this.world.acquire("export", THREE);
		assertThat(LockWorld.refused(this.world.engine().acquire("export", LockOptions.defaults())).describe())
			.as("in the same process")
			.contains("It has 3 permits elsewhere, and was requested as a plain lock");
		DefaultLockTemplate other = this.world.anotherProcess();
		assertThat(LockWorld
			.refused(this.world.newEngine(LockWorld.settings("")).acquire("export", LockOptions.defaults()))
			.describe()).contains("permits = 1 everywhere before it becomes a plain lock");
		permit.close();
		assertThat(other.tryAcquire("export")).as("others may hold another permit").isEmpty();
		other.acquire("export", LockOptions.defaults().permits(1)).close();
		assertThat(other.tryAcquire("export")).isPresent();
	}

	@Test
	void anotherNumberElsewhereIsLoggedOnceInAnHour(CapturedOutput output) {
		this.world.acquire("export", THREE).close();
		DefaultLockTemplate other = this.world.anotherProcess();
		LockOptions two = LockOptions.defaults().permits(2);
		other.acquire("export", two).close();
		String warning = "The lock 'export' is requested with 2 permits here, and was last requested with 3 elsewhere";
		assertThat(output).containsOnlyOnce(warning);
		this.world.acquire("export", THREE).close();
		other.acquire("export", two).close();
		assertThat(output).containsOnlyOnce(warning)
			.containsOnlyOnce("with 3 permits here, and was last requested with 2 elsewhere");
		this.world.clock().advance(Duration.ofHours(1));
		this.world.acquire("export", THREE);
		other.acquire("export", two);
		assertThat(other.tryAcquire("export", two)).isEmpty();
		assertThat(output.toString().split(warning, -1)).hasSize(3);
	}

	@Test
	void fewerPermitsTakeEffectAsHoldersLeave() {
		List<LockHandle> all = takeAll();
		DefaultLockTemplate other = this.world.anotherProcess();
		LockOptions two = LockOptions.defaults().permits(2);
		assertThat(other.tryAcquire("export", two)).isEmpty();
		all.get(2).close();
		assertThat(other.tryAcquire("export", two)).as("two hold it").isEmpty();
		all.get(0).close();
		assertThat(other.tryAcquire("export", two)).isPresent();
		assertThat(other.tryAcquire("export", two)).isEmpty();
	}

	@Test
	void aGrantWithoutAnAnswerIsReleasedWhicheverPermitItIs() {
		this.world.acquire("export", THREE);
		this.repository.next(Kind.ACQUIRE, Fault.answerLost(() -> new StoreTimeoutException("no answer")));
		assertThatExceptionOfType(StoreTimeoutException.class).isThrownBy(() -> this.world.acquire("export", THREE));
		LockWorld.eventually().until(() -> !this.repository.isHeld("export (permit 2)"));
		assertThat(this.repository.isHeld("export")).isTrue();
		assertThat(this.world.acquire("export", THREE).permit()).isEqualTo(2);
	}

	@Test
	void aLateGrantToAnAttemptThatWasGivenUpIsReleasedByTheNextRequest() {
		DefaultLockTemplate other = this.world.anotherProcess();
		this.world.acquire("export", THREE);
		this.repository.always(Kind.RELEASE, Fault.lost(() -> new StoreTimeoutException("unreachable")));
		this.repository.next(Kind.ACQUIRE, Fault.answerLost(() -> new StoreTimeoutException("no answer")));
		assertThatExceptionOfType(StoreTimeoutException.class).isThrownBy(() -> this.world.acquire("export", THREE));
		assertThat(this.repository.isHeld("export (permit 2)")).isTrue();
		other.acquire("export", THREE);
		this.repository.heal();
		assertThat(this.world.acquire("export", THREE).permit()).isEqualTo(2);
	}

	@Test
	void theStateOfAPermitShowsItsOwnerInThisProcess() throws Exception {
		List<LockHandle> all = takeAll();
		Worker<LockHandle> waiting = waitFor(this.world.template(), PATIENTLY.why("the successor"));
		all.get(2).close();
		waiting.result();
		assertThat(this.world.engine().administration().find("export (permit 3)").orElseThrow().why())
			.isEqualTo("the successor");
	}

	@Test
	void allThreadsThatWaitGetThePermitsThatAreFree() throws Exception {
		Gate gate = new Gate();
		this.repository.next(Kind.ACQUIRE, Fault.heldUp(gate));
		List<Worker<LockHandle>> waiting = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			waiting.add(waitFor(this.world.template(), PATIENTLY));
		}
		gate.open();
		List<LockHandle> all = new ArrayList<>();
		for (Worker<LockHandle> worker : waiting) {
			all.add(worker.result());
		}
		assertThat(all).allMatch(LockHandle::isHeld);
		assertThat(all).extracting(LockHandle::permit).containsExactlyInAnyOrder(1, 2, 3);
	}

	@Test
	void theNextHeadAsksWhenAnotherProcessHasCrashed() throws Exception {
		LockOptions two = LockOptions.defaults().permits(2);
		LockHandle mine = this.world.acquire("export", two);
		Duration lease = Duration.ofSeconds(5);
		this.repository.acquire(
				new AcquireRequest(LeaseKey.of("export", "crashed", 2), lease, "host-2", "t", "w", LockWorld.TIMEOUT));
		Worker<LockHandle> first = waitFor(this.world.template(), two.waitUpTo(Duration.ofMinutes(10)));
		Worker<LockHandle> second = waitFor(this.world.template(), two.waitUpTo(Duration.ofMinutes(10)));
		mine.close();
		LockWorld.eventually().until(() -> first.isDone() || second.isDone());
		this.world.advance(lease.plusSeconds(1));
		List<LockHandle> both = List.of(first.result(), second.result());
		assertThat(both).extracting(LockHandle::permit).containsExactlyInAnyOrder(1, 2);
		assertThat(both).allMatch(LockHandle::isHeld);
	}

	@Test
	void aPlainLockDoesNotWaitWhereTheNameHasPermits() {
		this.world.acquire("export", THREE).close();
		LockOptions patiently = LockOptions.defaults().waitUpTo(Duration.ofMinutes(10));
		assertThat(LockWorld.refused(this.world.engine().acquire("export", patiently)).describe())
			.contains("It has 3 permits elsewhere");
	}

	@Test
	void isRefusedForWorkThatRunsAgain() {
		LockEngine engine = this.world.engine();
		assertThat(catchThrowable(() -> engine.acquireAskable("export", THREE, Duration.ZERO)))
			.isInstanceOf(IllegalArgumentException.class)
			.hasMessageContaining("RUN_AGAIN");
	}

}
