package dev.dblock.scenario;

import java.time.Instant;
import java.util.Date;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import dev.dblock.ForeignDocumentException;
import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.LossReason;
import dev.dblock.job.JobFiring;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Names and documents that are not as they should be, met by an application.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BadInputTests {

	private Instances instances;

	private Locked locked;

	private LockTemplate locks;

	private Instance other;

	@BeforeAll
	void start(MongoServer server) {
		this.instances = new Instances(server);
		ConfigurableApplicationContext application = this.instances.startApplication("application",
				LockedConfiguration.class);
		this.locked = application.getBean(Locked.class);
		this.locks = application.getBean(LockTemplate.class);
		this.other = this.instances.start("other");
	}

	@AfterAll
	void stop() throws Exception {
		this.instances.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "$$ROOT", "$$NOW", "$$REMOVE", "$where", "$_id", "$", ".", "a.b", "{ $gt: '' }",
			"{\"$ne\": null}", "it's \"quoted\" \\ and `ticked`", "\uD83D\uDD12 \u00E9\u4E2D", "${user.home}",
			"#{1 + 1}", "#name", " padded " })
	void oddNameIsLockedAsTheTextThatItIs(String name) {
		this.other.locks().execute("neighbour", () -> this.locked.run(name, () -> {
			assertThat(this.instances.document(name)).containsEntry("_id", name)
				.containsEntry("acquirer", "application")
				.containsKey("holder");
			assertThat(this.other.locks().tryAcquire(name)).isEmpty();
			assertThat(this.instances.documents().countDocuments(new Document("holder", new Document("$exists", true))))
				.as("this name and its neighbour")
				.isEqualTo(2);
		}));
		assertThat(this.instances.isReleased(name)).isTrue();
		this.other.locks().acquire(name).close();
	}

	@Test
	void failureOfAJobIsRecordedAsAShortText() {
		Instant planned = Instant.now().minusSeconds(1);
		String message = "line\nnext\u0000\u001b[31m \ud83d" + "x".repeat(1 << 20);
		assertThatIllegalArgumentException().isThrownBy(
				() -> this.locks.execute("failing-job", LockOptions.defaults().claim(JobFiring.at(planned)), () -> {
					throw new IllegalArgumentException(message);
				}));
		Document last = this.instances.document("failing-job")
			.get("jobs", Document.class)
			.get("failing-job", Document.class)
			.get("last", Document.class);
		assertThat(last).containsEntry("outcome", "FAILED");
		assertThat(last.getString("error")).startsWith("java.lang.IllegalArgumentException: line next  [31m ")
			.hasSizeLessThanOrEqualTo(300)
			.doesNotContainPattern("\\p{Cntrl}");
	}

	@Test
	void longestNameIsLocked() {
		String name = "\u20AC".repeat(333) + "x";
		this.locked.run(name, () -> assertThat(this.instances.document(name)).containsKey("holder"));
		assertThat(this.instances.isReleased(name)).isTrue();
	}

	@ParameterizedTest
	@NullSource
	@MethodSource
	void invalidNames(String name) {
		long documents = this.instances.documents().countDocuments();
		assertThatIllegalArgumentException().isThrownBy(() -> this.locked.run(name, Locked::mustNotRun))
			.satisfies((ex) -> assertThat(ex.getMessage()).containsPattern("1000 bytes|empty|blank|null|control"));
		assertThat(this.instances.documents().countDocuments()).isEqualTo(documents);
	}

	static Stream<String> invalidNames() {
		return Stream.of("", "  ", "x".repeat(8192), "\u20AC".repeat(334), "line\nbreak");
	}

	@ParameterizedTest
	@ValueSource(strings = { "{ text: 'mine' }", "{ token: 'x' }", "{ token: 1 }",
			"{ token: NumberLong(1), expiresAt: 'soon' }", "{ token: NumberLong(1), holder: 5 }" })
	void documentOfAnotherKindIsRefusedAndLeftAsItIs(String content) {
		Document foreign = Document.parse(content).append("_id", "foreign").append("since", new Date(0));
		this.instances.documents().insertOne(foreign);
		try {
			assertThatExceptionOfType(ForeignDocumentException.class)
				.isThrownBy(() -> this.locked.run("foreign", Locked::mustNotRun))
				.withMessageContaining("'foreign'")
				.withMessageContaining("'dblock_locks'");
			assertThatExceptionOfType(ForeignDocumentException.class)
				.isThrownBy(() -> this.locks.forceReleaseNow("foreign"));
			assertThat(this.instances.document("foreign")).isEqualTo(foreign);
		}
		finally {
			this.instances.documents().deleteOne(new Document("_id", "foreign"));
		}
	}

	@Test
	void releasedHandleDoesNothingMore() throws Exception {
		LockHandle handle = this.locks.acquire("stock");
		assertThat(Work.start(handle::release).result()).as("from another thread").isTrue();
		LockHandle next = this.other.locks().acquire("stock");
		Document taken = this.instances.document("stock");
		assertThat(handle.release()).isFalse();
		handle.close();
		for (Runnable use : new Runnable[] { handle::renew, handle::ensureHeld, handle::startRenewal }) {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(use::run)
				.extracting(LockLostException::reason)
				.isEqualTo(LossReason.RELEASED);
		}
		assertThat(this.instances.document("stock")).isEqualTo(taken);
		assertThat(next.release()).isTrue();
	}

	static class Locked {

		@DistributedLock(name = "#{#name}", leaseSeconds = 60)
		public void run(String name, Runnable work) {
			work.run();
		}

		static void mustNotRun() {
			throw new AssertionError("The method ran without its lock");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class LockedConfiguration {

		@Bean
		Locked locked() {
			return new Locked();
		}

	}

}
