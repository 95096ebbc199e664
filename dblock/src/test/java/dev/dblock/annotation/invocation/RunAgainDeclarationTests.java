package dev.dblock.annotation.invocation;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import dev.dblock.DistributedLock;
import dev.dblock.LockShutdownException;
import dev.dblock.LockUnavailableException;
import dev.dblock.WhenUnavailable;
import dev.dblock.annotation.LockingConfiguration;
import dev.dblock.settings.LockSettings;
import dev.dblock.LockOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Tests for {@link WhenUnavailable#RUN_AGAIN} on methods.
 */
class RunAgainDeclarationTests {

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	private RecordingEngine engine;

	private Indexes indexes;

	@BeforeEach
	void start() {
		this.context.register(LockingConfiguration.class, Indexes.class);
		this.context.refresh();
		this.engine = this.context.getBean(RecordingEngine.class);
		this.indexes = this.context.getBean(Indexes.class);
	}

	@AfterEach
	void close() {
		this.context.close();
	}

	@Test
	void runsInACallThatGetsTheLock() {
		assertThat(this.indexes.rebuild("eu")).contains("rebuilt eu");
		assertThat(this.engine.events()).containsExactly("lock index-eu", "unlock index-eu");
	}

	@Test
	void asksTheHolderOtherwise() {
		this.engine.holdElsewhere("index-eu");
		assertThat(this.indexes.rebuild("eu")).isEmpty();
		assertThat(this.engine.events()).containsExactly("refuse index-eu", "ask index-eu");
	}

	@Test
	void settingsForTheNameTakePrecedence() {
		this.engine.holdElsewhere("index-eu");
		this.engine.set("index-eu", WhenUnavailable.SKIP);
		assertThat(this.indexes.rebuild("eu")).isEmpty();
		this.engine.set("index-eu", WhenUnavailable.THROW);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.indexes.rebuild("eu"));
		assertThat(this.engine.events()).containsOnly("refuse index-eu");
	}

	@Test
	void settingsCannotLetAMethodRunAgain() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new LockSettings.Setting(LockOptions.defaults(), WhenUnavailable.RUN_AGAIN))
			.withMessageContaining("RUN_AGAIN is declared on the method")
			.withMessageContaining("choose skip, throw or default");
	}

	@Test
	void aCallIsNotLostWithoutAWordWhileTheApplicationCloses() {
		this.engine.beginClosing();
		assertThatExceptionOfType(LockShutdownException.class).isThrownBy(() -> this.indexes.rebuild("eu"));
	}

	@Test
	void methodsThatCannotRunAgainAreRefusedAtTheStart() {
		assertThat(findings(Unsuitable.class)).hasSize(12)
			.allSatisfy((finding) -> assertThat(finding).containsAnyOf("RUN_AGAIN", "primitive"))
			.anySatisfy((finding) -> assertThat(finding).contains("#argument(String)",
					"the run for another call may have other arguments", "#{#a0}"))
			.anySatisfy((finding) -> assertThat(finding).contains("#derived(String)", "other arguments"))
			.anySatisfy((finding) -> assertThat(finding).contains("#two(String, int)", "other arguments"))
			.anySatisfy((finding) -> assertThat(finding).contains("#list(List)", "other arguments"))
			.anySatisfy((finding) -> assertThat(finding).contains("#onlyInTheDefault(String)", "other arguments"))
			.anySatisfy((finding) -> assertThat(finding).contains("#holding()", "remove them"))
			.anySatisfy((finding) -> assertThat(finding).contains("#future()", "returns before its work has ended"))
			.anySatisfy((finding) -> assertThat(finding).contains("#mono()", "returns before its work has ended"))
			.anySatisfy((finding) -> assertThat(finding).contains("#several()", "has several locks; declare one"))
			.anySatisfy(
					(finding) -> assertThat(finding).contains("#waiting()", "a wait and a minimum hold have no effect"))
			.anySatisfy((finding) -> assertThat(finding).contains("#permitted()", "the lock has permits",
					"remove one of the two"))
			.anySatisfy((finding) -> assertThat(finding).contains("#primitive()", "primitive int"));
	}

	private static List<String> findings(Class<?> bean) {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(LockingConfiguration.class, bean);
			return catchThrowableOfType(InvalidLockDeclarationException.class, context::refresh).findings();
		}
	}

	interface Named {

		@DistributedLock(name = "named-#{#name}", whenUnavailable = WhenUnavailable.RUN_AGAIN)
		void byNameOfTheInterface(String name);

	}

	static class Indexes implements Named {

		@DistributedLock(name = "index-#{#region}", whenUnavailable = WhenUnavailable.RUN_AGAIN)
		public Optional<String> rebuild(String region) {
			return Optional.of("rebuilt " + region);
		}

		@DistributedLock(name = "index-#{ #p0 }-part", whenUnavailable = WhenUnavailable.RUN_AGAIN)
		public void byIndex(int part) {
		}

		@Override
		public void byNameOfTheInterface(String id) {
		}

	}

	static class Unsuitable {

		@DistributedLock(name = "index", whenUnavailable = WhenUnavailable.RUN_AGAIN)
		public void argument(String region) {
		}

		@DistributedLock(name = "index-#{#region.length()}", whenUnavailable = WhenUnavailable.RUN_AGAIN)
		public void derived(String region) {
		}

		@DistributedLock(name = "index-#{#region}-#{#part}", whenUnavailable = WhenUnavailable.RUN_AGAIN)
		public void two(String region, int part) {
		}

		@DistributedLock(name = "index-#{#regions}", whenUnavailable = WhenUnavailable.RUN_AGAIN)
		public void list(List<String> regions) {
		}

		@DistributedLock(name = "${user.home:index-#{#region}}", whenUnavailable = WhenUnavailable.RUN_AGAIN)
		public void onlyInTheDefault(String region) {
		}

		@DistributedLock(name = "index", minHoldSeconds = 1, whenUnavailable = WhenUnavailable.RUN_AGAIN)
		public void holding() {
		}

		@DistributedLock(name = "index", whenUnavailable = WhenUnavailable.RUN_AGAIN)
		public CompletableFuture<String> future() {
			return new CompletableFuture<>();
		}

		@DistributedLock(name = "index", whenUnavailable = WhenUnavailable.RUN_AGAIN)
		public Mono<String> mono() {
			return Mono.empty();
		}

		@DistributedLock(name = "index", whenUnavailable = WhenUnavailable.RUN_AGAIN)
		@DistributedLock("other")
		public void several() {
		}

		@DistributedLock(name = "index", waitSeconds = 3, whenUnavailable = WhenUnavailable.RUN_AGAIN)
		public void waiting() {
		}

		@DistributedLock(name = "permitted", permits = 3, whenUnavailable = WhenUnavailable.RUN_AGAIN)
		public void permitted() {
		}

		@DistributedLock(name = "index", whenUnavailable = WhenUnavailable.RUN_AGAIN)
		public int primitive() {
			return 1;
		}

	}

}
