package dev.dblock.core;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import dev.dblock.LockHandle;
import dev.dblock.LockHandles;
import dev.dblock.LockOptions;
import dev.dblock.LossReason;
import dev.dblock.WhenLost;
import dev.dblock.core.Request.Kind;
import dev.dblock.execution.DefaultLockTemplate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.QueryTimeoutException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A handle that is kept until shutdown.
 */
@Timeout(300)
class KeptHandleTests {

	@RegisterExtension
	final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	private final DefaultLockTemplate locks = this.world.template();

	private WeakReference<LockHandle> keep(CompletableFuture<LossReason> lost) {
		LockHandle handle = this.locks.acquire("leader");
		handle.onLost(lost::complete);
		handle.keepUntilShutdown();
		return new WeakReference<>(handle);
	}

	private static void collectGarbage() {
		WeakReference<Object> garbage = new WeakReference<>(new Object());
		LockWorld.eventually().until(() -> {
			System.gc();
			return garbage.get() == null;
		});
	}

	@Test
	void staysHeldAlthoughTheApplicationHasNoReference() {
		WeakReference<LockHandle> handle = keep(new CompletableFuture<>());
		collectGarbage();
		this.world.look();
		this.world.clock().advance(LockWorld.LEASE.dividedBy(2));
		this.world.look();
		LockWorld.eventually().until(() -> this.repository.count(Kind.RENEW, "leader") > 0);
		assertThat(handle.get()).isNotNull();
	}

	@Test
	void callsBackAtALossAndIsForgottenThen() throws Exception {
		CompletableFuture<LossReason> lost = new CompletableFuture<>();
		WeakReference<LockHandle> handle = keep(lost);
		collectGarbage();
		this.world.rob("leader");
		this.world.clock().advance(LockWorld.LEASE.dividedBy(2));
		this.world.look();
		assertThat(lost.get()).isEqualTo(LossReason.TAKEN_OVER);
		LockWorld.eventually().until(() -> {
			System.gc();
			return handle.get() == null;
		});
	}

	@Test
	void isReleasedAtShutdownAndNotLost() {
		CompletableFuture<LossReason> lost = new CompletableFuture<>();
		keep(lost);
		this.world.engine().close();
		assertThat(this.repository.isHeld("leader")).isFalse();
		assertThat(this.world.news()).containsExactly("acquired leader", "released leader");
		assertThat(lost).isNotDone();
	}

	@Test
	void delaysTheShutdownNoLongerThanOtherReleases() {
		keep(new CompletableFuture<>());
		this.world.failReleases(new DataAccessResourceFailureException("scripted"));
		this.world.engine().close();
		assertThat(this.repository.isHeld("leader")).isTrue();
	}

	@Test
	void canBeReleasedBefore() {
		LockHandle handle = this.locks.acquire("leader");
		handle.keepUntilShutdown();
		assertThat(handle.release()).isTrue();
		assertThat(this.repository.isHeld("leader")).isFalse();
		handle.keepUntilShutdown();
		this.world.engine().close();
		assertThat(this.world.news()).containsExactly("acquired leader", "released leader");
	}

	@Test
	void belongsToNoThread() {
		LockHandle handle = this.locks.acquire("leader", LockOptions.defaults().whenLost(WhenLost.INTERRUPT));
		handle.keepUntilShutdown();
		assertThat(remark()).isNull();
		this.world.advance(LockWorld.LEASE.plusSeconds(1));
		LockWorld.eventually().until(() -> this.world.news().contains("lost leader EXPIRED"));
		assertThat(handle.isHeld()).isFalse();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void leavesALockOfTheOuterWorkToIt() {
		this.locks.execute("a", () -> {
			LockHandles handles = this.locks.acquireAll("a", "b");
			handles.keepUntilShutdown();
			handles.keepUntilShutdown();
			assertThat(this.repository.isHeld("a")).isTrue();
			return true;
		});
		assertThat(this.repository.isHeld("a")).isFalse();
		assertThat(this.repository.isHeld("b")).isTrue();
	}

	@Test
	void canBeKeptByAnotherThread() throws Exception {
		LockHandle handle = this.locks.acquire("leader");
		assertThat(remark()).contains("This thread itself holds it");
		Worker.start(() -> {
			handle.keepUntilShutdown();
			return true;
		}).result();
		assertThat(remark()).isNull();
	}

	@Test
	void canBeKeptDuringWorkUnderIt() {
		LockHandle handle = this.locks.acquire("leader");
		this.locks.within(handle, () -> {
			handle.keepUntilShutdown();
			assertThat(remark()).contains("This thread itself holds it");
			return true;
		});
		assertThat(remark()).isNull();
	}

	private @Nullable String remark() {
		return LockWorld.refused(this.world.engine().acquire("leader", LockOptions.defaults())).remark();
	}

	@Test
	void canBeOneOfSeveral() {
		try (LockHandle own = this.locks.acquire("a")) {
			this.locks.within(own, () -> {
				LockHandles handles = this.locks.acquireAll("a", "b");
				handles.keepUntilShutdown();
				return true;
			});
			this.locks.acquireAll(List.of("c"), LockOptions.lease(Duration.ofSeconds(9))).keepUntilShutdown();
		}
		this.world.engine().close();
		assertThat(this.repository.isHeld("b")).isFalse();
		assertThat(this.repository.isHeld("c")).isFalse();
	}

	@Test
	void isReleasedAtShutdownAlthoughOtherReleasesGetNoAnswer() throws Exception {
		CompletableFuture<LossReason> lost = new CompletableFuture<>();
		keep(lost);
		List<Gate> gates = new ArrayList<>();
		this.repository.always(Kind.ACQUIRE, Fault.lost(Fault.timeout()));
		for (int i = 0; i < EngineThreads.MOST_RELEASES_AT_ONCE; i++) {
			Gate gate = new Gate();
			gates.add(gate);
			this.repository.next(Kind.RELEASE, Fault.heldUp(gate));
			assertThatThrownBy(() -> this.locks.acquire("in doubt")).isInstanceOf(QueryTimeoutException.class);
			gate.awaitReached();
		}
		Worker<Boolean> shutdown = Worker.start(() -> {
			this.world.closePatiently();
			return true;
		});
		LockWorld.eventually().until(() -> !this.repository.isHeld("leader"));
		gates.forEach(Gate::open);
		shutdown.result();
		assertThat(lost).isNotDone();
	}

}
