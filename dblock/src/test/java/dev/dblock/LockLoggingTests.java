package dev.dblock;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import ch.qos.logback.classic.Level;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.core.LockWorld;
import dev.dblock.local.LocalLockRepository;
import dev.dblock.local.LocalLockStore;
import dev.dblock.settings.EngineSettings;
import dev.dblock.testing.StructuredLog;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

import org.springframework.dao.DataAccessResourceFailureException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the log of a thread that works under a lock.
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
	void namesTheLockWhileTheWorkRuns() {
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
	void logsNothingForALockThatIsNotAvailable() {
		this.world.seize("stock", Duration.ofSeconds(30));
		this.template.<String>execute("stock", LockOptions.defaults(), () -> "work", (refusal) -> {
			assertThat(fields()).isEmpty();
			return "fallback";
		});
	}

	private void lose(LockHandle handle) {
		this.world.rob(handle.name());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::renew);
	}

	@Test
	void namesTheLockThatWasLostWhicheverThreadLogsIt() {
		LockHandle handle = this.template.acquire("stock");
		try (StructuredLog log = new StructuredLog("ecs")) {
			this.template.execute("another", () -> lose(handle));
			assertThat(log.line("Lost the lock 'stock' (fencing token " + handle.token() + ")").get("dblock"))
				.isEqualTo(new Document(dblock(handle)));
		}
		assertThat(fields()).isEmpty();
	}

	private static Map<String, Object> dblock(LockHandle handle) {
		return Map.of("name", handle.name(), "token", Long.toString(handle.token()));
	}

	@Test
	void namesALockThatWasLostWithinItsOwnWorkOnce() {
		try (StructuredLog log = new StructuredLog("logstash")) {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.template.execute("stock", () -> {
				LockHandle handle = LockContext.current().get();
				lose(handle);
				assertThat(log.line("Lost the lock 'stock'")).containsEntry("dblock.name", "stock")
					.containsEntry("dblock.token", Long.toString(handle.token()));
				assertThat(fields()).isEqualTo(fieldsOf(handle));
			}));
		}
	}

	@Test
	void logsGrantAndReleaseAtDebug() {
		try (StructuredLog log = new StructuredLog("ecs", Level.DEBUG)) {
			LockHandle handle = this.template.acquire("stock");
			this.world.clock().advance(Duration.ofSeconds(2));
			handle.close();
			String lock = " the lock 'stock' (fencing token " + handle.token() + ") ";
			Document granted = log.line("Acquired" + lock + "for 30 s after 0 ms");
			Document released = log.line("Released" + lock + "after holding it for 2 s");
			assertThat(List.of(granted, released)).allSatisfy((line) -> {
				assertThat(line.get("dblock")).isEqualTo(new Document(dblock(handle)));
				assertThat(line.get("log", Document.class)).containsEntry("level", "DEBUG");
			});
		}
	}

	@Test
	void doesNotLogAReleaseThatFailed() {
		LockHandle handle = this.template.acquire("stock");
		this.world.failReleases(new DataAccessResourceFailureException("scripted"));
		try (StructuredLog log = new StructuredLog("ecs", Level.DEBUG)) {
			handle.close();
			assertThat(log.messages()).noneMatch((line) -> line.startsWith("Released"))
				.anyMatch((line) -> line.startsWith("The lock 'stock'") && line
					.endsWith(" Cause: org.springframework.dao.DataAccessResourceFailureException: scripted"));
		}
	}

	@Test
	void logsWhereLocksAreAtTheStart() {
		try (StructuredLog log = new StructuredLog("ecs")) {
			DefaultLockEngine engine = new DefaultLockEngine(new LocalLockRepository(new LocalLockStore()),
					EngineSettings.defaults("invoices-1"), List.of());
			engine.close();
			assertThat(log.messages())
				.containsExactly("Locks are in memory (only inside this application), lease 30 s, acquirer invoices-1");
		}
	}

	@Test
	void namesTheLockWhoseHolderCouldNotBeNotified() {
		LockHandle handle = this.template.acquire("stock");
		handle.onLost((reason) -> {
			throw new IllegalStateException("scripted");
		});
		try (StructuredLog log = new StructuredLog("ecs")) {
			lose(handle);
			LockWorld.eventually()
				.untilAsserted(() -> assertThat(log.line("its holder's onLost callback").get("dblock"))
					.isEqualTo(new Document(dblock(handle))));
		}
	}

}
