package dev.dblock.core;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import dev.dblock.core.lease.LeaseOwner;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Threads that work for a time under a lock that another one has acquired.
 */
class LeaseOwnerVisitTests {

	private final Thread acquirer = new Thread(() -> {
	});

	private final LeaseOwner owner = new LeaseOwner(this.acquirer);

	@AfterEach
	void clear() {
		this.owner.finish();
		Thread.interrupted();
	}

	@Test
	void visitorIsAnOwnerMeanwhile() {
		assertThat(this.owner.isOf(Thread.currentThread())).isFalse();
		this.owner.attach();
		this.owner.attach();
		assertThat(this.owner.isOf(Thread.currentThread())).isTrue();
		assertThat(this.owner.isOf(this.acquirer)).isTrue();
		this.owner.detach();
		assertThat(this.owner.isOf(Thread.currentThread())).isTrue();
		this.owner.detach();
		assertThat(this.owner.isOf(Thread.currentThread())).isFalse();
	}

	@Test
	void visitorIsInterruptedMeanwhileAndTakesNothingAlong() {
		this.owner.attach();
		this.owner.interrupt();
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
		this.owner.detach();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void visitorThatComesAfterTheLossIsInterruptedOnce() {
		this.owner.interrupt();
		this.owner.attach();
		assertThat(Thread.interrupted()).isTrue();
		this.owner.attach();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
		this.owner.detach();
		this.owner.detach();
		this.owner.attach();
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
		this.owner.detach();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void visitorIsNotInterruptedAfterwards() {
		this.owner.attach();
		this.owner.detach();
		this.owner.interrupt();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void visitorKeepsAForeignInterrupt() {
		this.owner.attach();
		Thread.currentThread().interrupt();
		this.owner.interrupt();
		this.owner.detach();
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
	}

	@Test
	void acquirerThatLeavesIsNoOwnerAnyMore() {
		LeaseOwner mine = new LeaseOwner(Thread.currentThread());
		mine.interrupt();
		mine.detach();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
		assertThat(mine.isOf(Thread.currentThread())).isFalse();
		mine.attach();
		assertThat(mine.isOf(Thread.currentThread())).isTrue();
		mine.detach();
		assertThat(mine.isOf(Thread.currentThread())).isFalse();
	}

	@Test
	void strangerLeavesNothing() {
		this.owner.interrupt();
		this.owner.detach();
		assertThat(this.owner.isOf(this.acquirer)).isTrue();
	}

	@Test
	void everyThreadThatWorksIsInterrupted() throws Exception {
		this.owner.attach();
		CountDownLatch attached = new CountDownLatch(1);
		CompletableFuture<Boolean> interrupted = CompletableFuture.supplyAsync(() -> {
			this.owner.attach();
			attached.countDown();
			try {
				new CountDownLatch(1).await();
				return false;
			}
			catch (InterruptedException ex) {
				this.owner.detach();
				return true;
			}
		});
		attached.await();
		this.owner.interrupt();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(interrupted.get()).isTrue();
	}

}
