package dev.dblock.core;

import java.time.Duration;
import java.util.Optional;

import dev.dblock.LockHandle;
import dev.dblock.core.Request.Kind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link StoreHealth}.
 */
@Timeout(300)
class StoreHealthTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	private final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	private final DefaultLockEngine engine = this.world.engine();

	@AfterEach
	void close() {
		this.world.close();
	}

	private void failOnce() {
		this.repository.always(Kind.ACQUIRE, Fault.lost(() -> new DataAccessResourceFailureException("no majority")));
		assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> this.world.template().tryAcquire("stock"));
	}

	@Test
	void failureCountsUntilALockIsGranted() {
		assertThat(this.engine.isFailing()).isFalse();
		failOnce();
		assertThat(this.engine.isFailing()).isTrue();
		this.repository.heal();
		this.world.template().acquire("stock").close();
		assertThat(this.engine.isFailing()).isFalse();
	}

	@Test
	void refusalShowsNothing() {
		LockHandle held = this.world.anotherProcess().acquire("stock");
		failOnce();
		this.repository.heal();
		assertThat(this.world.template().tryAcquire("stock")).isEmpty();
		assertThat(this.engine.isFailing()).isTrue();
		held.close();
	}

	@Test
	void checkAfterAFailedRequestAcquiresALock() {
		failOnce();
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> this.engine.check(TIMEOUT))
			.withMessage("no majority");
		assertThat(this.engine.isFailing()).isTrue();
		this.repository.heal();
		this.engine.check(TIMEOUT);
		assertThat(this.engine.isFailing()).isFalse();
		assertThat(this.repository.find("dblock-check")).hasValueSatisfying((lock) -> {
			assertThat(lock.held()).isFalse();
			assertThat(lock.remaining()).isZero();
		});
	}

	@Test
	void checkBeforeAnyFailureAcquiresNoLock() {
		this.engine.check(TIMEOUT);
		assertThat(this.repository.find("dblock-check")).isEqualTo(Optional.empty());
	}

}
