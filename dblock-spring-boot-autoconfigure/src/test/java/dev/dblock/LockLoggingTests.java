package dev.dblock;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;

import dev.dblock.core.LockWorld;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for what a thread logs that works under a lock.
 */
class LockLoggingTests {

	private final LockWorld world = new LockWorld();

	private final LockTemplate template = this.world.template();

	@AfterEach
	void close() {
		this.world.close();
		MDC.clear();
	}

	private static Map<String, String> fields() {
		Map<String, String> fields = MDC.getCopyOfContextMap();
		return (fields != null) ? fields : Map.of();
	}

	private static Map<String, String> fieldsOf(LockHandle handle) {
		return Map.of("dblock.name", handle.name(), "dblock.token", Long.toString(handle.token()));
	}

	@Test
	void namesTheLockWhileTheWorkGoesOn() {
		this.template.execute("stock", () -> assertThat(fields()).isEqualTo(fieldsOf(LockContext.current().get())));
		assertThat(fields()).isEmpty();
	}

	@Test
	void namesTheInnermostOfSeveralLocks() {
		this.template.execute("outer", () -> {
			Map<String, String> outer = fields();
			this.template.execute("inner",
					() -> assertThat(fields()).isEqualTo(fieldsOf(LockContext.current().get())).isNotEqualTo(outer));
			assertThat(fields()).isEqualTo(outer);
		});
		assertThat(fields()).isEmpty();
	}

	@Test
	void namesALockThatIsReentered() {
		this.template.execute("stock", () -> {
			Map<String, String> outer = fields();
			this.template.execute("stock", () -> assertThat(fields()).isEqualTo(outer));
			assertThat(fields()).isEqualTo(outer);
		});
	}

	@Test
	void leavesTheFieldsOfTheCallerAsTheyWere() {
		MDC.put("request", "r1");
		MDC.put("dblock.name", "the caller's own");
		this.template.execute("stock", () -> {
			assertThat(fields()).containsEntry("request", "r1").containsEntry("dblock.name", "stock");
			MDC.put("dblock.name", "changed");
			MDC.remove("dblock.token");
		});
		assertThat(fields()).isEqualTo(Map.of("request", "r1", "dblock.name", "the caller's own"));
	}

	@Test
	void leavesThemSoWhenTheWorkFails() {
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> this.template.execute("stock", () -> {
			throw new IOException("scripted");
		}));
		assertThat(fields()).isEmpty();
	}

	@Test
	void saysNothingOfALockThatIsNotAvailable() {
		this.world.seize("stock", Duration.ofSeconds(30));
		this.template.<String, RuntimeException>execute("stock", LockOptions.defaults(), () -> "work", (refusal) -> {
			assertThat(fields()).isEmpty();
			return "fallback";
		});
	}

}
