package dev.dblock.actuate;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

import dev.dblock.core.DefaultLockEngine;
import dev.dblock.core.EngineState;
import dev.dblock.core.EngineState.ReleaseNews;
import dev.dblock.store.LockRepository.StoreTime;
import dev.dblock.store.StoreLoginException;
import dev.dblock.store.UnreachableStoreException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.dao.PermissionDeniedDataAccessException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.dao.UncategorizedDataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.willDoNothing;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.mock;

/**
 * Tests for {@link LockHealthIndicator}.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockHealthIndicatorTests {

	private final DefaultLockEngine engine = mock(DefaultLockEngine.class);

	private final EngineState state = mock(EngineState.class);

	private final LockHealthIndicator indicator = new LockHealthIndicator(() -> LockHealth.of(this.engine, Map.of()));

	@BeforeEach
	void setUp() {
		given(this.engine.state()).willReturn(this.state);
		given(this.engine.storeTime(any())).willReturn(Optional.empty());
		given(this.state.watchdogDelay()).willReturn(Duration.ofMillis(3));
		given(this.state.releases()).willReturn(ReleaseNews.STREAM);
		given(this.state.held()).willReturn(2);
		given(this.state.waiting()).willReturn(1);
	}

	@Test
	void isUpWithAReachableStoreAndAWatchdog() {
		Health health = this.indicator.health();
		assertThat(health.getStatus()).isEqualTo(Status.UP);
		assertThat(health.getDetails()).containsEntry("store", "reachable")
			.containsEntry("watchdog", "alive")
			.containsEntry("releases", "stream")
			.containsEntry("held", 2)
			.containsEntry("waiting", 1)
			.doesNotContainKey("clockOffsetMillis");
	}

	@Test
	void reportsByHowMuchTheClocksDiffer() {
		given(this.engine.storeTime(any())).willAnswer((call) -> {
			Instant ahead = Instant.now().plusSeconds(3600);
			return Optional.of(new StoreTime(ahead.minusMillis(10), ahead.plusMillis(10)));
		});
		Health health = this.indicator.health();
		assertThat(health.getStatus()).isEqualTo(Status.UP);
		assertThat(health.getDetails()).containsEntry("clockUncertaintyMillis", 10L);
		assertThat((long) health.getDetails().get("clockOffsetMillis")).isLessThanOrEqualTo(3_600_000L)
			.isGreaterThan(3_000_000L);
	}

	@Test
	void isDownWhenTheStoreCannotBeAsked() {
		given(this.engine.storeTime(any())).willThrow(new DataAccessResourceFailureException("no server"));
		Health health = this.indicator.health();
		assertThat(health.getStatus()).isEqualTo(Status.DOWN);
		assertThat(health.getDetails()).containsEntry("store", "unreachable")
			.hasEntrySatisfying("error", (error) -> assertThat(error).asString().contains("no server"));
	}

	static Stream<Arguments> failures() {
		return Stream.of(
				arguments(new StoreLoginException("the login failed", new Exception()), "authentication failed"),
				arguments(new PermissionDeniedDataAccessException("MongoDB denied it", new Exception()),
						"not authorized"),
				arguments(new InvalidDataAccessResourceUsageException("the server is FerretDB"), "unsuitable"),
				arguments(new UnreachableStoreException("no server", new Exception()), "unreachable"),
				arguments(new QueryTimeoutException("too late"), "unreachable"),
				arguments(new UncategorizedDataAccessException("MongoDB refused it", new Exception()) {
				}, "failing"));
	}

	@ParameterizedTest
	@MethodSource("failures")
	void reportsWhyTheStoreCannotBeAsked(RuntimeException failure, String store, CapturedOutput output) {
		given(this.engine.storeTime(any())).willThrow(failure);
		Health health = this.indicator.health();
		assertThat(health.getStatus()).isEqualTo(Status.DOWN);
		assertThat(health.getDetails()).containsEntry("store", store);
		assertThat(output).contains("The lock store is not healthy: " + failure.getMessage()).doesNotContain("\tat ");
	}

	@Test
	void isDownAfterAFailedRequestUntilACheckSucceeds() {
		given(this.engine.isFailing()).willReturn(true);
		willThrow(new QueryTimeoutException("no majority")).given(this.engine).check(any());
		Health health = this.indicator.health();
		assertThat(health.getStatus()).isEqualTo(Status.DOWN);
		assertThat(health.getDetails()).containsEntry("store", "unreachable")
			.hasEntrySatisfying("error", (error) -> assertThat(error).asString().contains("no majority"));
		willDoNothing().given(this.engine).check(any());
		assertThat(this.indicator.health().getStatus()).isEqualTo(Status.UP);
	}

	@Test
	void isDownWhenTheWatchdogIsStuck() {
		given(this.state.watchdogDelay()).willReturn(Duration.ofSeconds(12));
		Health health = this.indicator.health();
		assertThat(health.getStatus()).isEqualTo(Status.DOWN);
		assertThat(health.getDetails()).containsEntry("watchdog", "stuck for 12 s").containsEntry("store", "reachable");
	}

	@Test
	void knowsNothingWithoutAnEngine() {
		assertThat(new LockHealthIndicator(() -> LockHealth.of(null, Map.of())).health().getStatus())
			.isEqualTo(Status.UNKNOWN);
	}

	@Test
	void isDownWhenTheStoreOfAnotherDatabaseIs() {
		DefaultLockEngine orders = mock(DefaultLockEngine.class);
		given(orders.state()).willReturn(this.state);
		given(orders.storeTime(any())).willReturn(Optional.empty());
		LockHealthIndicator several = new LockHealthIndicator(
				() -> LockHealth.of(this.engine, Map.of("orders", orders)));
		Health health = several.health();
		assertThat(health.getStatus()).isEqualTo(Status.UP);
		assertThat(health.getDetails()).containsEntry("store", "reachable")
			.hasEntrySatisfying("databases",
					(databases) -> assertThat(databases).asString().contains("orders={status=UP", "store=reachable"));
		given(orders.storeTime(any())).willThrow(new DataAccessResourceFailureException("no server"));
		health = several.health();
		assertThat(health.getStatus()).isEqualTo(Status.DOWN);
		assertThat(health.getDetails()).containsEntry("store", "reachable")
			.hasEntrySatisfying("error", (error) -> assertThat(error).asString().contains("no server"))
			.hasEntrySatisfying("databases",
					(databases) -> assertThat(databases).asString().contains("orders={status=DOWN"));
		given(this.engine.storeTime(any())).willThrow(new DataAccessResourceFailureException("none at all"));
		assertThat(several.health().getDetails()).hasEntrySatisfying("error",
				(error) -> assertThat(error).asString().contains("none at all"));
	}

}
