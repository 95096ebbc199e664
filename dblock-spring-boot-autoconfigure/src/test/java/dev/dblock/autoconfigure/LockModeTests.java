package dev.dblock.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import com.mongodb.client.ClientSession;
import dev.dblock.DistributedLock;
import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockInfo;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.LockUnavailableException;
import dev.dblock.LossReason;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.core.EngineState.ReleaseNews;
import dev.dblock.engine.LockEngine;
import dev.dblock.event.LockListener;
import dev.dblock.local.LocalLockStore;
import dev.dblock.mongodb.LockFence;
import dev.dblock.settings.EngineSettings;
import dev.dblock.store.LockRepository;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.BeansException;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.mongodb.autoconfigure.DataMongoAutoConfiguration;
import org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.support.TestPropertySourceUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.verifyNoInteractions;

/**
 * Tests for {@code dblock.mode}: the whole engine without MongoDB.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockModeTests {

	private static final LockOptions UNRENEWED = LockOptions.lease(Duration.ofSeconds(2)).autoRenew(false);

	private static final LockOptions PATIENT = LockOptions.defaults().waitUpTo(Duration.ofMinutes(1));

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DblockAutoConfiguration.class, DblockAopAutoConfiguration.class));

	private final ApplicationContextRunner localRunner = this.contextRunner.withPropertyValues("dblock.mode=local");

	@Test
	void localNeedsNoMongodbAndTheConsequencesAreLogged(CapturedOutput output) {
		this.localRunner.run((context) -> {
			assertThat(context).hasSingleBean(DefaultLockEngine.class);
			assertThat(context.getBean(LockTemplate.class).<String>execute("stock", () -> "done")).isEqualTo("done");
			assertThat(output).containsOnlyOnce("dblock.mode is local")
				.contains("apply only inside this application", "Other instances");
		});
	}

	@Test
	void noneNeedsNoMongodbAndTheConsequencesAreLogged(CapturedOutput output) {
		this.contextRunner.withPropertyValues("dblock.mode=none").run((context) -> {
			assertThat(context).getBean(LockEngine.class)
				.hasSameClassAs(LockEngine.unlocked(EngineSettings.defaults("test")));
			LockTemplate locks = context.getBean(LockTemplate.class);
			try (LockHandle first = locks.acquire("stock"); LockHandle second = locks.acquire("stock")) {
				assertThat(second.token()).isGreaterThan(first.token());
			}
			assertThat(output).containsOnlyOnce("dblock.mode is none: no locks are acquired");
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "dblock.mode=local", "dblock.mode=none" })
	void testThatSetsTheModeIsNotWarned(String property, CapturedOutput output) {
		this.contextRunner
			.withInitializer((context) -> TestPropertySourceUtils.addInlinedPropertiesToEnvironment(context, property))
			.run((context) -> {
				context.getBean(LockTemplate.class).<String>execute("stock", () -> "done");
				assertThat(output).doesNotContain("WARN");
			});
	}

	@Test
	void anUnknownModeStopsTheStartWithThoseThatThereAre(CapturedOutput output) {
		assertThatExceptionOfType(BeansException.class)
			.isThrownBy(() -> new SpringApplicationBuilder(DblockAutoConfiguration.class).web(WebApplicationType.NONE)
				.run("--dblock.mode=memory"));
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("dblock.mode", "memory", "LOCAL", "MONGODB", "NONE");
	}

	@Test
	void mongodbIsTheMode() {
		this.contextRunner.run((context) -> assertThat(context.getStartupFailure()).rootCause()
			.hasMessageContaining("MongoDatabaseFactory"));
	}

	@Test
	void localAsksNothingOfAMongodbThatIsThere(CapturedOutput output) {
		this.localRunner
			.withConfiguration(AutoConfigurations.of(MongoAutoConfiguration.class, DataMongoAutoConfiguration.class))
			.withPropertyValues("spring.mongodb.uri=mongodb://127.0.0.1:1/test?serverSelectionTimeoutMS=100")
			.run((context) -> {
				context.getBean(LockTemplate.class).acquire("stock").close();
				assertThat(context.getBeanFactory().containsSingleton("dblockLockRepository")).isFalse();
			});
	}

	@Test
	void modeDecidesAlsoBesideARepositoryOfTheApplication() {
		LockRepository own = mock(LockRepository.class);
		this.localRunner.withBean(LockRepository.class, () -> own).run((context) -> {
			context.getBean(LockTemplate.class).acquire("stock").close();
			verifyNoInteractions(own);
		});
	}

	@Test
	void aMethodIsLockedAndItsLockIsFreeAfterwards() {
		this.localRunner.withUserConfiguration(JobConfiguration.class).run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			try (LockHandle held = locks.acquire("job")) {
				assertThatExceptionOfType(LockUnavailableException.class)
					.isThrownBy(() -> context.getBean(Job.class).run());
			}
			assertThat(context.getBean(Job.class).run()).isEqualTo("job");
			assertThat(locks.inspect("job")).get().extracting(LockInfo::held).isEqualTo(false);
		});
	}

	@Test
	void tokensRise() {
		this.localRunner.run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			long last = 0;
			for (int i = 0; i < 5; i++) {
				try (LockHandle handle = locks.acquire("stock")) {
					assertThat(handle.token()).isGreaterThan(last);
					last = handle.token();
				}
			}
		});
	}

	@Test
	void anUnrenewedLeaseExpiresAndItsHolderKnows() {
		this.localRunner.run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			LockHandle forgotten = locks.acquire("stock", UNRENEWED);
			LockHandle next = locks.acquire("stock", PATIENT);
			assertThat(next.token()).isGreaterThan(forgotten.token());
			assertThat(forgotten.isHeld()).isFalse();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(forgotten::close);
			assertThat(next.release()).isTrue();
		});
	}

	@Test
	void aLeaseIsRenewedForAsLongAsItIsHeld() {
		this.localRunner.withPropertyValues("dblock.lease=3s").run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			try (LockHandle handle = locks.acquire("stock")) {
				Instant firstEnd = locks.inspect("stock").orElseThrow().expiresAt();
				eventually().until(() -> locks.inspect("stock").orElseThrow().updatedAt().isAfter(firstEnd));
				assertThat(handle.isHeld()).isTrue();
			}
		});
	}

	@Test
	void aWaiterIsWokenByTheReleaseOfAnotherInstance() {
		LocalLockStore store = new LocalLockStore();
		ApplicationContextRunner sharing = this.localRunner.withBean(LocalLockStore.class, () -> store)
			.withPropertyValues("dblock.lease=1h", "dblock.poll-interval=1h");
		sharing.run((one) -> sharing.run((two) -> {
			LockHandle held = one.getBean(LockTemplate.class).acquire("stock");
			LockTemplate others = two.getBean(LockTemplate.class);
			assertThat(others.tryAcquire("stock")).isEmpty();
			CompletableFuture<Boolean> waiting = CompletableFuture
				.supplyAsync(() -> others.acquire("stock", PATIENT).release());
			eventually().until(() -> two.getBean(DefaultLockEngine.class).state().releases() == ReleaseNews.STREAM);
			assertThat(held.release()).isTrue();
			assertThat(waiting.get(1, TimeUnit.MINUTES)).isTrue();
		}));
	}

	@Test
	void aWaiterPollsIfTheReleaseFeedIsSwitchedOff() {
		LocalLockStore store = new LocalLockStore();
		ApplicationContextRunner sharing = this.localRunner.withBean(LocalLockStore.class, () -> store)
			.withPropertyValues("dblock.lease=1h", "dblock.release-feed=poll", "dblock.poll-interval=50ms");
		sharing.run((one) -> sharing.run((two) -> {
			LockHandle held = one.getBean(LockTemplate.class).acquire("stock");
			CompletableFuture<Boolean> waiting = CompletableFuture
				.supplyAsync(() -> two.getBean(LockTemplate.class).acquire("stock", PATIENT).release());
			eventually().until(() -> two.getBean(DefaultLockEngine.class).state().releases() == ReleaseNews.POLL);
			assertThat(held.release()).isTrue();
			assertThat(waiting.get(1, TimeUnit.MINUTES)).isTrue();
			assertThat(two.getBean(DefaultLockEngine.class).state().releases()).isNotEqualTo(ReleaseNews.STREAM);
		}));
	}

	@Test
	void anOvertakenHolderLearnsOfTheLoss() {
		LocalLockStore store = new LocalLockStore();
		BlockingQueue<LossReason> losses = new LinkedBlockingQueue<>();
		ApplicationContextRunner sharing = this.localRunner.withBean(LocalLockStore.class, () -> store);
		sharing.withPropertyValues("dblock.lease=1s")
			.withBean(LockListener.class, () -> reportsLosses(losses))
			.run((one) -> sharing.run((two) -> {
				LockHandle held = one.getBean(LockTemplate.class).acquire("stock");
				store.expire("stock");
				Optional<LockHandle> overtaker = two.getBean(LockTemplate.class).tryAcquire("stock");
				assertThat(overtaker).isPresent();
				assertThat(losses.poll(1, TimeUnit.MINUTES)).isIn(LossReason.TAKEN_OVER, LossReason.EXPIRED);
				assertThat(held.isHeld()).isFalse();
				assertThat(overtaker.get().release()).isTrue();
			}));
	}

	private static LockListener reportsLosses(BlockingQueue<LossReason> losses) {
		return new LockListener() {

			@Override
			public void onLost(LockHandle handle, LossReason reason) {
				losses.add(reason);
			}

		};
	}

	@Test
	void operatorsSeeAndForceReleases() {
		this.localRunner.withPropertyValues("dblock.name-prefix=shop-", "dblock.acquirer=pod-7").run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			LockHandle handle = locks.acquire("stock", LockOptions.defaults().why("a test"));
			assertThat(locks.listAll("", 10).locks()).singleElement().satisfies((lock) -> {
				assertThat(lock.name()).isEqualTo("shop-stock");
				assertThat(lock.acquirer()).isEqualTo("pod-7");
				assertThat(lock.why()).isEqualTo("a test");
				assertThat(lock.held()).isTrue();
			});
			assertThat(locks.forceRelease("stock")).isTrue();
			assertThat(locks.tryAcquire("stock")).as("its lease is not over").isEmpty();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::renew);
			assertThat(locks.forceReleaseNow("stock")).isTrue();
			assertThat(locks.tryAcquire("stock")).isPresent();
		});
	}

	@Test
	void theStoreOfTheApplicationReturnsItsTime() {
		this.localRunner
			.run((context) -> assertThat(context.getBean(DefaultLockEngine.class).storeTime(Duration.ofSeconds(1)))
				.isPresent());
	}

	@Test
	void aFenceOnlyChecksTheLockWhereLocksAreNotInMongodb() {
		this.localRunner.run((context) -> {
			LockFence fence = context.getBean(LockFence.class);
			ClientSession session = mock(ClientSession.class);
			given(session.hasActiveTransaction()).willReturn(true);
			LockHandle handle = context.getBean(LockTemplate.class).acquire("stock");
			fence.fence(session, handle);
			verify(session).hasActiveTransaction();
			handle.close();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> fence.fence(session, handle));
		});
	}

	@Test
	void everyContextHasLocksOfItsOwn() {
		this.localRunner.run((one) -> this.localRunner.run((two) -> {
			try (LockHandle held = one.getBean(LockTemplate.class).acquire("stock")) {
				assertThat(two.getBean(LockTemplate.class).tryAcquire("stock")).isPresent();
			}
		}));
	}

	private static ConditionFactory eventually() {
		return Awaitility.await().atMost(Duration.ofMinutes(1)).pollInterval(Duration.ofMillis(5));
	}

	@Configuration(proxyBeanMethods = false)
	static class JobConfiguration {

		@Bean
		Job job() {
			return new Job();
		}

	}

	static class Job {

		@DistributedLock("job")
		String run() {
			return LockContext.current().orElseThrow().name();
		}

	}

}
