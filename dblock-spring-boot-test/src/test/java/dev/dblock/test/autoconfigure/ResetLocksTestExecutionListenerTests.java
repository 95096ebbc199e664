package dev.dblock.test.autoconfigure;

import dev.dblock.LockTemplate;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ResetLocksTestExecutionListener}, as it is found by a test.
 */
@SpringBootTest
@AutoConfigureDblock
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ResetLocksTestExecutionListenerTests {

	@Autowired
	private TestLocks locks;

	@Autowired
	private LockTemplate template;

	@Test
	@Order(1)
	void aTestLeavesALockHeldElsewhere() {
		this.locks.holdElsewhere("stock");
		assertThat(this.template.tryAcquire("stock")).isEmpty();
	}

	@Test
	@Order(2)
	void theNextTestFindsItFreeAndNothingRecorded() {
		assertThatNothingWasRecorded();
		assertThat(this.template.tryAcquire("stock")).isPresent();
	}

	private void assertThatNothingWasRecorded() {
		assertThat(this.locks.events()).isEmpty();
	}

	@SpringBootConfiguration
	static class Application {

	}

}
