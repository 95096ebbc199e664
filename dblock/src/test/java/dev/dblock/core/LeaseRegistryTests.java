package dev.dblock.core;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import dev.dblock.LossReason;
import dev.dblock.core.lease.Lease;
import dev.dblock.core.lease.Lease.Grant;
import dev.dblock.core.lease.LeaseDeadline;
import dev.dblock.core.lease.LeasedLock;
import dev.dblock.settings.LeaseTerms;
import dev.dblock.store.LeaseKey;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LeaseRegistryTests {

	private static final LeaseTerms TERMS = LocalQueueModelTests.terms();

	private final WatchedLeases world = new WatchedLeases();

	private final List<Lease> ended = new ArrayList<>();

	private final LeaseRegistry registry = new LeaseRegistry(this.ended::add);

	private final Thread one = new Thread(() -> {
	});

	private final Thread other = new Thread(() -> {
	});

	/** Whose locks are not taken for forgotten. */
	private final List<LeaseHandle> handles = new ArrayList<>();

	private LeaseHandle hold(String id, long token, Thread thread) {
		Grant grant = new Grant(new LeaseKey("name", id), token, token + 9, Instant.EPOCH, "test", false, null);
		Lease lease = new Lease(grant, TERMS, thread, LeaseDeadline.from(this.world.clock(), TERMS.lease()),
				this.world.clock());
		LeaseHandle handle = new LeaseHandle(lease, this.world.keeper());
		lease.attach(handle);
		this.handles.add(handle);
		this.registry.add(lease);
		return handle;
	}

	private List<LeasedLock> of(Thread thread) {
		return this.registry.locksOf(thread);
	}

	@Test
	void eachThreadIsOfferedWhatItHolds() {
		LeaseHandle first = hold("a", 1, this.one);
		LeaseHandle second = hold("b", 1, this.one);
		LeaseHandle third = hold("c", 1, this.other);
		assertThat(of(this.one)).containsExactlyInAnyOrder(first, second);
		assertThat(of(this.other)).containsExactly(third);
		assertThat(of(Thread.currentThread())).isEmpty();
		assertThat(this.registry.size()).isEqualTo(3);
		assertThat(this.registry.threads()).isEqualTo(2);
	}

	@Test
	void aLeaseThatWasHandedOverIsOfferedToItsSuccessorAlone() {
		hold("a", 1, this.one);
		LeaseHandle successor = hold("a", 2, this.other);
		assertThat(of(this.one)).isEmpty();
		assertThat(of(this.other)).containsExactly(successor);
		assertThat(this.registry.size()).isEqualTo(1);
		assertThat(this.registry.threads()).isEqualTo(1);
		assertThat(this.ended).isEmpty();
	}

	@Test
	void aLeaseThatWasHandedOnIsNotRemovedForItsSuccessor() {
		Lease earlier = hold("a", 1, this.one).lease();
		LeaseHandle successor = hold("a", 2, this.one);
		this.registry.remove(earlier);
		assertThat(of(this.one)).containsExactly(successor);
		assertThat(this.ended).isEmpty();
		this.registry.remove(successor.lease());
		assertThat(this.ended).containsExactly(successor.lease());
	}

	@Test
	void aReleasedLeaseIsNotOfferedAnyMore() {
		LeaseHandle first = hold("a", 1, this.one);
		LeaseHandle second = hold("b", 1, this.one);
		first.lease().state().endWith(LossReason.RELEASED);
		assertThat(of(this.one)).containsExactly(second);
	}

	@Test
	void aLostLeaseIsOfferedUntilItsHandleIsClosed() {
		LeaseHandle lost = hold("a", 1, this.one);
		lost.lease().state().endWith(LossReason.EXPIRED);
		this.registry.moveToLost(lost.lease());
		assertThat(of(this.one)).containsExactly(lost);
		assertThat(of(this.other)).isEmpty();
		lost.release();
		assertThat(of(this.one)).isEmpty();
	}

	@Test
	void aLeaseThatIsLostAfterItsHandleWasClosedIsNotKept() {
		LeaseHandle lost = hold("a", 1, this.one);
		lost.release();
		this.registry.moveToLost(lost.lease());
		assertThat(this.registry.unfinished()).isZero();
	}

	/**
	 * Its handle is never closed.
	 */
	@Test
	void aLeaseThatIsLostAfterItWasPassedOnIsNotKept() {
		Lease lost = hold("a", 1, this.one).lease();
		lost.owner().finish();
		this.registry.finished(lost);
		this.registry.moveToLost(lost);
		assertThat(this.registry.unfinished()).isZero();
	}

	@Test
	void aThreadThatWorksUnderTheLeaseOfAnotherIsOfferedItMeanwhile() {
		LeaseHandle shared = hold("a", 1, this.one);
		this.registry.attach(shared.lease());
		assertThat(of(Thread.currentThread())).containsExactly(shared);
		assertThat(of(this.one)).containsExactly(shared);
		this.registry.attach(shared.lease());
		this.registry.detach(shared.lease());
		assertThat(of(Thread.currentThread())).as("attached twice").containsExactly(shared);
		this.registry.detach(shared.lease());
		assertThat(of(Thread.currentThread())).isEmpty();
		assertThat(this.registry.threads()).isEqualTo(1);
	}

	@Test
	void nothingIsLeftOfThreadsThatWorkedUnderALeaseWhenItEnded() {
		LeaseHandle shared = hold("a", 1, this.one);
		this.registry.attach(shared.lease());
		this.registry.remove(shared.lease());
		assertThat(this.registry.threads()).isZero();
		this.registry.attach(shared.lease());
		assertThat(this.registry.threads()).isZero();
	}

	@Test
	void nothingIsLeftOfThreadsThatHoldNothing() {
		Lease first = hold("a", 1, this.one).lease();
		Lease second = hold("b", 1, this.one).lease();
		this.registry.remove(first);
		assertThat(this.registry.threads()).isEqualTo(1);
		this.registry.moveToLost(second);
		assertThat(this.registry.threads()).isZero();
		assertThat(this.registry.isEmpty()).isTrue();
	}

}
