package dev.dblock.reactive;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

import dev.dblock.LockContext;
import dev.dblock.LockInfo;
import dev.dblock.LockOptions;
import dev.dblock.core.LockWorld;
import dev.dblock.execution.DefaultLockTemplate;
import kotlinx.coroutines.CompletableJob;
import kotlinx.coroutines.JobKt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.publisher.Sinks;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(300)
class LockedCoroutineTests {

	private final LockWorld world = new LockWorld();

	private final DefaultLockTemplate template = this.world.template();

	private final CompletableJob job = JobKt.Job(null);

	private final LockedCoroutine coroutine = new LockedCoroutine(this.job);

	private final AtomicReference<Thread> beginner = new AtomicReference<>();

	private final Sinks.Empty<String> sequence = Sinks.empty();

	@AfterEach
	void close() {
		this.world.close();
	}

	private boolean isHeld() {
		return this.template.inspect("a").filter(LockInfo::held).isPresent();
	}

	private Publisher<String> begin() {
		assertThat(LockContext.current()).isPresent();
		this.beginner.set(Thread.currentThread());
		return this.coroutine.sequence(this.sequence.asMono());
	}

	private Disposable subscribe() {
		Disposable subscription = new ReactiveLockTemplate(this.template.engine())
			.execute("a", LockOptions.defaults(), this::begin, (refusal) -> Mono.error(refusal.toException()))
			.onErrorComplete()
			.subscribe();
		LockWorld.eventually().until(() -> this.beginner.get() != null && !this.beginner.get().isAlive());
		return subscription;
	}

	@ParameterizedTest
	@EnumSource(names = { "CANCEL", "ON_COMPLETE", "ON_ERROR" })
	void lockIsHeldUntilTheCoroutineHasEndedHoweverItsSequenceEnds(SignalType end) {
		Disposable subscription = subscribe();
		switch (end) {
			case CANCEL -> subscription.dispose();
			case ON_COMPLETE -> this.sequence.tryEmitEmpty();
			default -> this.sequence.tryEmitError(new IllegalStateException("timed out"));
		}
		assertThat(this.job.isActive()).isTrue();
		LockWorld.eventually().during(Duration.ofMillis(200)).until(this::isHeld);
		this.job.complete();
		LockWorld.eventually().until(() -> !isHeld());
	}

	@Test
	void cancelledCoroutineThatHasEndedReleasesAtOnce() {
		Disposable subscription = subscribe();
		this.job.complete();
		assertThat(isHeld()).isTrue();
		subscription.dispose();
		LockWorld.eventually().until(() -> !isHeld());
	}

}
