package dev.dblock.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.dblock.LockHandle;
import dev.dblock.LockInfo;
import dev.dblock.LockTemplate;
import dev.dblock.LossReason;
import dev.dblock.event.LockAcquiredEvent;
import dev.dblock.event.LockEvent;
import dev.dblock.event.LockListener;
import dev.dblock.event.LockLostEvent;
import dev.dblock.event.LockReleasedEvent;
import dev.dblock.event.LockRenewedLateEvent;
import dev.dblock.event.LockUnavailableEvent;
import dev.dblock.job.GrantedRun;
import dev.dblock.job.JobRun;
import dev.dblock.job.event.JobCrashedEvent;
import dev.dblock.store.LockRepository;
import dev.dblock.store.LockRepository.AcquireAnswer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.EventListener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.CALLS_REAL_METHODS;
import static org.mockito.Mockito.mock;

/**
 * Tests for the application events of locks.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockEventTests {

	private final LockRepository repository = mock(LockRepository.class, CALLS_REAL_METHODS);

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DblockAutoConfiguration.class))
		.withBean(LockRepository.class, () -> this.repository)
		.withBean(Heard.class);

	private void grant(boolean held) {
		given(this.repository.acquire(any())).willReturn(new AcquireAnswer.Granted(7, 7, Instant.EPOCH, false, null));
		given(this.repository.release(any(), any(), any(), any(), any())).willReturn(held);
	}

	@Test
	void reportAGrantAndItsRelease() {
		grant(true);
		this.contextRunner.withPropertyValues("dblock.name-prefix=app-").run((context) -> {
			context.getBean(LockTemplate.class).acquire("stock").close();
			assertThat(context.getBean(Heard.class).events()).containsExactly(new LockAcquiredEvent("app-stock", 7),
					new LockReleasedEvent("app-stock", 7));
		});
	}

	@Test
	void reachEachKindOfListenerOnceAndTheParentToo() {
		grant(true);
		new ApplicationContextRunner().withBean("above", Kinds.class, Kinds::new)
			.run((parent) -> this.contextRunner.withParent(parent)
				.withBean("own", Kinds.class, Kinds::new)
				.run((context) -> {
					context.getBean(LockTemplate.class).acquire("stock").close();
					assertThat(context.getBean("own", Kinds.class).heard).containsExactlyInAnyOrder("wrapped 7",
							"one of 7", "acquired as stock");
					assertThat(parent.getBean("above", Kinds.class).heard).containsExactlyInAnyOrder("wrapped 7",
							"one of 7", "acquired as stock");
				}));
	}

	@Test
	void reportARefusal() {
		LockInfo held = new LockInfo("stock", true, "holder", "elsewhere", "main", "test", 1, null, null, null, null,
				Duration.ofSeconds(30));
		given(this.repository.acquire(any())).willReturn(new AcquireAnswer.Refused(held));
		this.contextRunner.run((context) -> {
			assertThat(context.getBean(LockTemplate.class).tryAcquire("stock")).isEmpty();
			assertThat(context.getBean(Heard.class).events()).singleElement()
				.isInstanceOfSatisfying(LockUnavailableEvent.class, (event) -> {
					assertThat(event.name()).isEqualTo("stock");
					assertThat(event.refusal().holder()).isSameAs(held);
				});
		});
	}

	@Test
	void reportACrash() {
		JobRun crashed = new JobRun("stock", Instant.EPOCH, 1, Instant.EPOCH, null, JobRun.Outcome.CRASHED, "elsewhere",
				6, null);
		grant(true);
		given(this.repository.acquire(any()))
			.willReturn(new AcquireAnswer.Granted(7, 7, Instant.EPOCH, false, new GrantedRun(null, crashed)));
		this.contextRunner.run((context) -> {
			context.getBean(LockTemplate.class).acquire("stock").close();
			Awaitility.await()
				.atMost(Duration.ofSeconds(60))
				.untilAsserted(() -> assertThat(context.getBean(Heard.class).events())
					.contains(new JobCrashedEvent("stock", crashed)));
		});
	}

	@Test
	void reportALoss() {
		grant(false);
		this.contextRunner.run((context) -> {
			assertThat(context.getBean(LockTemplate.class).acquire("stock").release()).isFalse();
			Awaitility.await()
				.atMost(Duration.ofSeconds(60))
				.untilAsserted(() -> assertThat(context.getBean(Heard.class).events())
					.contains(new LockLostEvent("stock", 7, LossReason.TAKEN_OVER)));
		});
	}

	@Test
	void reportALateRenewal() {
		this.contextRunner.run((context) -> {
			LockHandle handle = mock(LockHandle.class);
			given(handle.name()).willReturn("stock");
			given(handle.token()).willReturn(7L);
			context.getBean("dblockLockEventPublisher", LockListener.class)
				.onRenewedLate(handle, Duration.ofSeconds(3));
			assertThat(context.getBean(Heard.class).events())
				.containsExactly(new LockRenewedLateEvent("stock", 7, Duration.ofSeconds(3)));
		});
	}

	@Test
	void reportALossWhenTheApplicationCloses(CapturedOutput output) {
		grant(true);
		this.contextRunner.run((context) -> {
			Heard heard = context.getBean(Heard.class);
			LockHandle handle = context.getBean(LockTemplate.class).acquire("stock");
			context.close();
			assertThat(heard.events()).contains(new LockLostEvent("stock", 7, LossReason.SHUTDOWN));
			assertThat(output).doesNotContain("listener");
			assertThat(handle.isHeld()).isFalse();
		});
	}

	@Test
	void aListenerThatFailsChangesNothing(CapturedOutput output) {
		grant(true);
		this.contextRunner.withBean(Failing.class).run((context) -> {
			assertThat(context.getBean(LockTemplate.class).acquire("stock").release()).isTrue();
			assertThat(output)
				.contains("A listener of the LockAcquiredEvent for the lock 'stock' failed: an @EventListener")
				.contains("The lock is not affected")
				.contains("scripted")
				.doesNotContain("\tat ")
				.doesNotContain("LockEventPublisher@")
				.doesNotContain("failed when it was notified");
		});
	}

	@Test
	void aListenerThatTheClosingApplicationHasEndedIsNotToBlame(CapturedOutput output) {
		grant(true);
		this.contextRunner.withBean(Standing.class).run((context) -> {
			LockHandle handle = context.getBean(LockTemplate.class).acquire("stock");
			context.close();
			assertThat(handle.isHeld()).isFalse();
			assertThat(output).contains("The application is closing while its work still holds 1")
				.doesNotContain("A listener of");
		});
	}

	@Test
	void aListenerThatAFailedStartCannotCreateAnyMoreIsNotToBlame(CapturedOutput output) {
		grant(true);
		this.contextRunner
			.withBean("late", Standing.class, () -> new Standing(null), (definition) -> definition.setLazyInit(true))
			.withBean(FailingStart.class)
			.run((context) -> {
				assertThat(context.getStartupFailure()).hasStackTraceContaining("scripted");
				assertThat(output).contains("The application is closing while its work still holds 1")
					.doesNotContain("A listener of");
			});
	}

	@Test
	void comeFromOneOfTheListeners() {
		this.contextRunner.run((context) -> assertThat(context).hasSingleBean(LockListener.class));
	}

	/**
	 * The ways in which Spring lets beans listen to application events.
	 */
	static class Kinds implements ApplicationListener<PayloadApplicationEvent<LockReleasedEvent>> {

		final List<String> heard = new CopyOnWriteArrayList<>();

		@Override
		public void onApplicationEvent(PayloadApplicationEvent<LockReleasedEvent> event) {
			this.heard.add("wrapped " + event.getPayload().token());
		}

		@EventListener
		void oneOf(PayloadApplicationEvent<LockAcquiredEvent> event) {
			this.heard.add("one of " + event.getPayload().token());
		}

		@EventListener(condition = "#event.name == 'stock'")
		void acquired(LockAcquiredEvent event) {
			this.heard.add("acquired as " + event.name());
		}

		@EventListener
		void lost(PayloadApplicationEvent<LockLostEvent> event) {
			this.heard.add("lost " + event.getPayload().reason());
		}

	}

	static class Heard {

		private final List<LockEvent> events = new CopyOnWriteArrayList<>();

		@EventListener
		void on(LockEvent event) {
			this.events.add(event);
		}

		List<LockEvent> events() {
			return this.events;
		}

	}

	/**
	 * A listener that is destroyed before the locks that it depends on, and fails if it
	 * is notified afterwards.
	 */
	static class Standing implements DisposableBean {

		private volatile boolean ended;

		Standing(LockTemplate locks) {
		}

		@EventListener
		void on(LockLostEvent event) {
			if (this.ended) {
				throw new IllegalStateException("scripted: it has ended");
			}
		}

		@Override
		public void destroy() {
			this.ended = true;
		}

	}

	static class FailingStart implements SmartLifecycle {

		private final LockTemplate locks;

		FailingStart(LockTemplate locks) {
			this.locks = locks;
		}

		@Override
		public void start() {
			LockHandle held = this.locks.acquire("stock");
			throw new IllegalStateException("scripted, with " + held);
		}

		@Override
		public void stop() {
		}

		@Override
		public boolean isRunning() {
			return false;
		}

	}

	static class Failing {

		@EventListener
		void on(LockAcquiredEvent event) {
			throw new IllegalStateException("scripted");
		}

	}

}
