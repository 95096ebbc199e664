package dev.dblock.core;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import dev.dblock.core.lease.LeaseOwner;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LeaseOwnerTests {

	private final LeaseOwner owner = new LeaseOwner(Thread.currentThread());

	@AfterEach
	void clear() {
		this.owner.finish();
		Thread.interrupted();
	}

	@Test
	void isInterruptedWhileItWorks() {
		this.owner.interrupt();
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
	}

	@Test
	void isInterruptedOnce() {
		this.owner.interrupt();
		Thread.interrupted();
		this.owner.interrupt();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void isNotInterruptedAfterItsWork() {
		this.owner.finish();
		this.owner.interrupt();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void clearsAnInterruptThatItDidNotSeeBeforeOtherWork() {
		this.owner.interrupt();
		this.owner.finish();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void keepsAForeignInterrupt() {
		Thread.currentThread().interrupt();
		this.owner.finish();
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
	}

	@Test
	void keepsAForeignInterruptThatCameBeforeOurs() {
		Thread.currentThread().interrupt();
		this.owner.interrupt();
		this.owner.finish();
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
	}

	@Test
	void keepsAnInterruptThatComesAfterItsWork() {
		this.owner.interrupt();
		this.owner.finish();
		Thread.currentThread().interrupt();
		this.owner.finish();
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
	}

	@Test
	void anInterruptThatWasMeantForWorkAroundItAsWellStaysUntilThatIsOver() {
		LeaseOwner inner = new LeaseOwner(Thread.currentThread());
		inner.interrupt();
		this.owner.interrupt();
		inner.finish();
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
		this.owner.finish();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void anInterruptThatWasMeantForWorkInsideItAsWellIsTakenBackAfterBoth() {
		LeaseOwner inner = new LeaseOwner(Thread.currentThread());
		this.owner.interrupt();
		inner.interrupt();
		inner.finish();
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
		this.owner.finish();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void anInterruptThatOnlyTheWorkInsideSawIsRepeated() {
		LeaseOwner inner = new LeaseOwner(Thread.currentThread());
		inner.interrupt();
		this.owner.interrupt();
		assertThat(Thread.interrupted()).isTrue();
		inner.finish();
		assertThat(Thread.interrupted()).isTrue();
		this.owner.finish();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void anInterruptThatWasSeenIsNotRepeatedByOneThatCameLater() {
		LeaseOwner inner = new LeaseOwner(Thread.currentThread());
		this.owner.interrupt();
		assertThat(Thread.interrupted()).isTrue();
		inner.interrupt();
		inner.finish();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void theEndOfWorkInsideLeavesAnInterruptThatCameLaterForTheWorkAround() {
		LeaseOwner inner = new LeaseOwner(Thread.currentThread());
		inner.interrupt();
		assertThat(Thread.interrupted()).isTrue();
		this.owner.interrupt();
		inner.finish();
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
	}

	@Test
	void aForeignInterruptStaysAfterAllLossInterruptsMeanwhile() {
		LeaseOwner inner = new LeaseOwner(Thread.currentThread());
		Thread.currentThread().interrupt();
		inner.interrupt();
		this.owner.interrupt();
		inner.finish();
		this.owner.finish();
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
	}

	@Test
	void anInterruptIsTakenBackThoughAnotherThreadHasFinishedTheWorkInside() {
		LeaseOwner inner = new LeaseOwner(Thread.currentThread());
		this.owner.interrupt();
		inner.interrupt();
		Worker<Void> other = Worker.start(() -> {
			inner.finish();
			return null;
		});
		while (!other.isDone()) {
			Thread.onSpinWait();
		}
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
		this.owner.finish();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void anotherThreadThatFinishesTheWorkKeepsItsOwnInterrupt() throws Exception {
		LeaseOwner other = new LeaseOwner(new Thread(() -> {
		}));
		Worker<Boolean> worker = Worker.start(() -> {
			other.interrupt();
			Thread.currentThread().interrupt();
			other.finish();
			return true;
		});
		assertThat(worker.result()).isTrue();
		assertThat(worker.isInterruptedAfterwards()).isTrue();
	}

	@Test
	void threadThatWorksWithinItsOwnHandleIsInterruptedOnce() throws Exception {
		AtomicInteger interrupts = new AtomicInteger();
		CountDownLatch attached = new CountDownLatch(1);
		AtomicBoolean over = new AtomicBoolean();
		LeaseOwner[] owner = new LeaseOwner[1];
		Thread thread = new Thread(() -> {
			owner[0].attach();
			attached.countDown();
			while (!over.get()) {
				Thread.onSpinWait();
			}
			owner[0].detach();
		}) {

			@Override
			public void interrupt() {
				interrupts.incrementAndGet();
				super.interrupt();
			}

		};
		owner[0] = new LeaseOwner(thread);
		thread.start();
		attached.await();
		owner[0].interrupt();
		over.set(true);
		thread.join();
		assertThat(interrupts).hasValue(1);
	}

	@Test
	void textOfACallerIsPrintedOnOneLine() {
		assertThat(LeaseOwner.onOneLine("nightly\nWARN forged\tline\u0085end")).doesNotContain("\n", "\t", "\u0085")
			.startsWith("nightly WARN");
		assertThat(LeaseOwner.onOneLine("com.acme.Invoices#invoice")).isEqualTo("com.acme.Invoices#invoice");
	}

}
