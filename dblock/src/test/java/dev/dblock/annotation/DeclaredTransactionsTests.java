package dev.dblock.annotation;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

import dev.dblock.DistributedLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.annotation.TransactionManagementConfigurer;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.interceptor.TransactionInterceptor;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Transactions that are not there, and reactive ones that cannot know of the lock around
 * them.
 */
@ExtendWith(OutputCaptureExtension.class)
class DeclaredTransactionsTests {

	private static final String IGNORED = "no transaction manager handles it";

	private static final String UNSEEN = "does not depend on the lock";

	private static String warnings(CapturedOutput output, String kind, Class<?>... managers) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		context.register(LockingConfiguration.class, Orders.class, QualifiedOrders.class);
		context.register(managers);
		try (context) {
			context.refresh();
		}
		return String.join("\n", output.getOut().lines().filter((line) -> line.contains(kind)).toList());
	}

	@Test
	void futureWithATransactionOfTheOnlyManagerIsNamed(CapturedOutput output) {
		assertThat(warnings(output, UNSEEN, Interceptor.class, ReactiveOnly.class)).contains("WARN")
			.contains("Orders#settle() has a reactive transaction (of the bean 'reactive')")
			.contains("Return a Mono")
			.doesNotContain("Orders#plain()")
			.doesNotContain("Orders#sequence()")
			.doesNotContain("Orders#text()")
			.doesNotContain("Orders#withoutTransaction()");
	}

	@Test
	void blockingManagerIsNotNamed(CapturedOutput output) {
		assertThat(warnings(output, UNSEEN, Interceptor.class, BlockingOnly.class)).isEmpty();
	}

	@Test
	void primaryManagerOrTheNamedOneCounts(CapturedOutput output) {
		assertThat(warnings(output, UNSEEN, Interceptor.class, BlockingFirst.class)).contains("Orders#named()")
			.contains("QualifiedOrders#settle()")
			.doesNotContain("$Orders#settle()");
	}

	@Test
	void transactionThatCannotBeDeterminedIsNotNamed(CapturedOutput output) {
		assertThat(warnings(output, UNSEEN, Interceptor.class, Undecided.class)).contains("Orders#named()")
			.doesNotContain("$Orders#settle()");
	}

	@Test
	void managerThatIsChosenInCodeIsNotGuessed(CapturedOutput output) {
		assertThat(warnings(output, UNSEEN, Interceptor.class, Configured.class)).isEmpty();
	}

	@Test
	void withoutManagersThereIsNothingToName(CapturedOutput output) {
		assertThat(warnings(output, UNSEEN, NoManagers.class)).isEmpty();
	}

	@Test
	void methodWithoutATransactionManagerIsNamed(CapturedOutput output) {
		assertThat(warnings(output, IGNORED, NoManagers.class)).contains("WARN")
			.contains("$Orders#text() is @Transactional")
			.contains("$Orders#settle()")
			.contains("QualifiedOrders#settle()")
			.contains("declare a MongoTransactionManager bean")
			.doesNotContain("withoutTransaction()");
	}

	@Test
	void placeholdersInTransactionsAreResolved(CapturedOutput output) {
		assertThat(warnings(output, IGNORED, Timed.class)).contains("$Timed#settle() is @Transactional");
	}

	@Test
	void unknownTransactionDeclarationIsIgnored(CapturedOutput output) {
		assertThat(warnings(output, IGNORED, Unresolved.class)).doesNotContain("$Unresolved#settle()");
	}

	@Test
	void managerWithoutWhatAsksItMakesNone(CapturedOutput output) {
		assertThat(warnings(output, IGNORED, BlockingOnly.class)).contains("$Orders#text()");
	}

	@Test
	void methodsWithTransactionsAreNotNamed(CapturedOutput output) {
		assertThat(warnings(output, IGNORED, Interceptor.class, BlockingOnly.class)).isEmpty();
		assertThat(warnings(output, IGNORED, Aspect.class, BlockingOnly.class)).isEmpty();
	}

	static class Interceptor {

		@Bean
		@Lazy
		TransactionInterceptor interceptor() {
			throw new IllegalStateException("Nobody needs it");
		}

	}

	static class Aspect {

		@Bean
		@Lazy
		TransactionAspectSupport aspect() {
			throw new IllegalStateException("Nobody needs it");
		}

	}

	static class NoManagers {

	}

	static class ReactiveOnly {

		@Bean
		@Lazy
		ReactiveTransactionManager reactive() {
			throw new IllegalStateException("Nobody needs it");
		}

	}

	static class BlockingOnly {

		@Bean
		@Lazy
		PlatformTransactionManager blocking() {
			throw new IllegalStateException("Nobody needs it");
		}

	}

	static class BlockingFirst extends ReactiveOnly {

		@Bean
		@Lazy
		@Primary
		PlatformTransactionManager blocking() {
			throw new IllegalStateException("Nobody needs it");
		}

	}

	static class Undecided extends ReactiveOnly {

		@Bean
		@Lazy
		PlatformTransactionManager blocking() {
			throw new IllegalStateException("Nobody needs it");
		}

	}

	static class Configured extends ReactiveOnly {

		@Bean
		@Lazy
		TransactionManagementConfigurer configurer() {
			throw new IllegalStateException("Nobody needs it");
		}

	}

	static class Orders {

		@Transactional
		@DistributedLock("settle")
		public CompletableFuture<String> settle() {
			return new CompletableFuture<>();
		}

		@Transactional
		@DistributedLock("plain")
		public Future<String> plain() {
			return new CompletableFuture<>();
		}

		@Transactional("reactive")
		@DistributedLock("named")
		public CompletableFuture<String> named() {
			return new CompletableFuture<>();
		}

		@Transactional
		@DistributedLock("sequence")
		public Mono<String> sequence() {
			return Mono.empty();
		}

		@Transactional
		@DistributedLock("text")
		public String text() {
			return "text";
		}

		@DistributedLock("without")
		public CompletableFuture<String> withoutTransaction() {
			return new CompletableFuture<>();
		}

	}

	static class Timed {

		@Transactional(timeoutString = "${orders.timeout:7}")
		@DistributedLock("timed")
		public void settle() {
		}

	}

	static class Unresolved {

		@Transactional(timeoutString = "${orders.none}")
		@DistributedLock("unresolved")
		public void settle() {
		}

	}

	@Qualifier("reactive")
	static class QualifiedOrders {

		@Transactional
		@DistributedLock("qualified")
		public CompletableFuture<String> settle() {
			return new CompletableFuture<>();
		}

	}

}
