package dev.dblock.compatibility;

import java.util.concurrent.locks.Lock;

import dev.dblock.LockInfo;
import dev.dblock.LockTemplate;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The registry of locks for the Spring Integration that this module's Spring Boot has.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LockRegistryTests {

	private ConfigurableApplicationContext application;

	private ConfigurableApplicationContext other;

	@BeforeAll
	void start(MongoServer server) {
		String uri = server.uri(server.freshDatabase());
		this.application = start(uri);
		this.other = start(uri);
	}

	private static ConfigurableApplicationContext start(String uri) {
		return new SpringApplicationBuilder(CompatibilityApplication.class)
			.properties("spring.mongodb.uri=" + uri, "spring.data.mongodb.uri=" + uri)
			.web(WebApplicationType.NONE)
			.run();
	}

	@AfterAll
	void stop() {
		this.other.close();
		this.application.close();
	}

	private static Lock obtain(ConfigurableApplicationContext context) {
		return context.getBean(LockRegistry.class).obtain("group-1");
	}

	private boolean isHeld() {
		return this.application.getBean(LockTemplate.class)
			.inspect("integration:group-1")
			.filter(LockInfo::held)
			.isPresent();
	}

	@Test
	void registryIsTheOneForThisSpringIntegration() {
		boolean seven = ClassUtils.isPresent("org.springframework.integration.support.locks.DistributedLock", null);
		assertThat(this.application.getBean(LockRegistry.class).getClass().getSimpleName())
			.isEqualTo(seven ? "DblockLockRegistry" : "DblockLockRegistry6");
	}

	@Test
	void lockIsEnteredAgainGivenBackAndRefusedToAnotherOwner() throws InterruptedException {
		Lock lock = obtain(this.application);
		Lock ofOther = obtain(this.other);
		lock.lockInterruptibly();
		assertThat(lock.tryLock()).as("entered again").isTrue();
		assertThat(ofOther.tryLock()).isFalse();
		assertThatIllegalStateException().isThrownBy(ofOther::unlock);
		lock.unlock();
		assertThat(isHeld()).isTrue();
		assertThat(ofOther.tryLock()).isFalse();
		lock.unlock();
		assertThat(isHeld()).isFalse();
		assertThat(ofOther.tryLock()).isTrue();
		ofOther.unlock();
	}

}
