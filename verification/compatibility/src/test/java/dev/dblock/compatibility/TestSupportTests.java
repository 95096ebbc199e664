package dev.dblock.compatibility;

import dev.dblock.LockUnavailableException;
import dev.dblock.test.autoconfigure.AutoConfigureDblock;
import dev.dblock.test.autoconfigure.TestLocks;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What dblock has for an application's own tests, on the Spring Boot that this module has
 * and without a MongoDB.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.NONE)
@AutoConfigureDblock
class TestSupportTests {

	@Autowired
	private TestLocks locks;

	@Autowired
	private OrderService orders;

	@Test
	void methodRunsUnderItsLock() {
		assertThat(this.orders.settle(new Order("1"))).hasValue("compatibility-1-settle");
		assertThat(this.locks).hasAcquired("compatibility-1-settle", 1).doesNotHold("compatibility-1-settle");
	}

	@Test
	void methodIsRefusedWhileAnotherInstanceHoldsItsLock() {
		this.locks.holdElsewhere("compatibility-1-settle");
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.orders.settle(new Order("1")));
		assertThat(this.locks).wasRefused("compatibility-1-settle").hasNotAcquired("compatibility-1-settle");
	}

}
