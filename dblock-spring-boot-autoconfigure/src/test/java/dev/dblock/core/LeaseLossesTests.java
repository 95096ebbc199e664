package dev.dblock.core;

import java.util.concurrent.atomic.AtomicInteger;

import dev.dblock.LockHandle;
import dev.dblock.LossReason;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Who is told of a loss, whatever else fails.
 */
@Timeout(120)
class LeaseLossesTests {

	private final LockWorld world = new LockWorld();

	@AfterEach
	void close() {
		this.world.close();
	}

	@Test
	void aLossIsToldThoughNoThreadCanBeStartedForIt() {
		LockHandle handle = this.world.template().acquire("a");
		AtomicInteger told = new AtomicInteger();
		handle.onLost(told::incrementAndGet);
		LeaseRegistry registry = new LeaseRegistry((ended) -> {
		});
		RecordingListener listener = new RecordingListener();
		LeaseLosses losses = new LeaseLosses(registry, listener, (task) -> {
			throw new OutOfMemoryError("unable to create native thread (scripted)");
		});
		losses.lose(((LeaseHandle) handle).lease(), LossReason.EXPIRED, "scripted");
		assertThat(told).hasValue(1);
		assertThat(listener.news()).containsExactly("lost a EXPIRED");
	}

}
