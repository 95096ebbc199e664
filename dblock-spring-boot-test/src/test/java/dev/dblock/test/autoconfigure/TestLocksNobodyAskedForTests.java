package dev.dblock.test.autoconfigure;

import dev.dblock.LockTemplate;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ResetLocksTestExecutionListener} where no test asks for
 * {@link TestLocks}.
 */
@SpringBootTest
@AutoConfigureDblock
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class TestLocksNobodyAskedForTests {

	@Autowired
	private LockTemplate template;

	@Autowired
	private LockRecorder recorder;

	@Autowired
	private ConfigurableApplicationContext context;

	@Test
	@Order(1)
	void aTestAcquiresALock() {
		this.template.acquire("stock").release();
		assertThat(this.recorder.events()).isNotEmpty();
	}

	@Test
	@Order(2)
	void theNextOneFindsNoTestLocksAndNothingRecorded() {
		assertThat(this.context.getBeanFactory().containsSingleton("dblockTestLocks")).isFalse();
		assertThat(this.recorder.events()).isEmpty();
	}

	@SpringBootConfiguration
	static class Application {

	}

}
