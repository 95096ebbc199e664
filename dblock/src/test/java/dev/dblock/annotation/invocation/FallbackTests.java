package dev.dblock.annotation.invocation;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;

import dev.dblock.DistributedLock;
import dev.dblock.LockContext;
import dev.dblock.LockUnavailableException;
import dev.dblock.WhenUnavailable;
import dev.dblock.annotation.DistributedLockAdvisor;
import dev.dblock.annotation.LockingConfiguration;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.EmptyTargetSource;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Tests for the fallbacks of methods whose lock is not available.
 */
class FallbackTests {

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	@AfterEach
	void close() {
		this.context.close();
	}

	private Orders orders() {
		this.context.register(LockingConfiguration.class, Orders.class);
		this.context.refresh();
		return this.context.getBean(Orders.class);
	}

	private void holdElsewhere() {
		this.context.getBean(RecordingEngine.class).holdElsewhere("order");
	}

	@Test
	void methodItselfRunsWhereTheLockIsAvailable() {
		assertThat(orders().settle("7", 1)).isEqualTo("settled 7");
	}

	@Test
	void fallbackGetsTheSameArguments() {
		Orders orders = orders();
		holdElsewhere();
		assertThat(orders.settle("7", 1)).isEqualTo("later 7, unlocked");
	}

	@Test
	void fallbackGetsTheExceptionIfItTakesOne() throws Exception {
		Orders orders = orders();
		holdElsewhere();
		assertThat(orders.described("7")).contains("The lock 'order' is not available");
		assertThat(orders.future("7").get()).isEqualTo("future of 7");
		assertThat(orders.plain("7").get()).isEqualTo("plain 7");
		orders.scheduled();
		assertThat(this.context.getBean(RecordingEngine.class).events()).endsWith("refuse order", "later");
	}

	@Test
	void exceptionOfTheFallbackPassesUnchanged() {
		Orders orders = orders();
		holdElsewhere();
		assertThatExceptionOfType(FileNotFoundException.class).isThrownBy(() -> orders.failing("7"))
			.withMessage("scripted");
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> orders.rethrowing("7").get())
			.withCauseInstanceOf(LockUnavailableException.class);
	}

	@Test
	void genericMethodOfASuperclassHasItsFallbackInTheSubclass() {
		Orders orders = orders();
		holdElsewhere();
		assertThat(orders.inherited(7)).isEqualTo(Optional.of(8));
	}

	@Test
	void fallbackOfAnInterfaceIsCalledOnTheProxyWhereTheTargetDoesNotImplementIt() {
		orders();
		holdElsewhere();
		ProxyFactory factory = new ProxyFactory(Declarative.class, EmptyTargetSource.INSTANCE);
		factory.addAdvisor(this.context.getBean(DistributedLockAdvisor.class));
		factory.addAdvice((MethodInterceptor) (invocation) -> "proxy's " + invocation.getMethod().getName());
		assertThat(((Declarative) factory.getProxy()).call("7")).isEqualTo("proxy's instead");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					absent   | fallback = "nobody" names no method of %s with the same arguments; declare one with the parameters (String), optionally followed by a LockUnavailableException
					itself   | fallback = "itself" names no method of %s with the same arguments; declare one with the parameters (String), optionally followed by a LockUnavailableException
					other    | fallback = "later" names no method of %s with the same arguments, only with (int); declare one with the parameters (String), optionally followed by a LockUnavailableException
					returns  | fallback = "number" returns java.lang.Integer, but this method returns java.lang.String; make it return the same type
					nothing  | fallback = "nothingInstead" returns java.lang.Integer, but this method returns void; make it return the same type
					locked   | fallback = "lockedToo" names a method that is locked itself, but would be called without its lock; name one that needs no lock
					throwing | fallback = "throwsMore" throws java.io.IOException, which this method does not declare; declare it here, or throw another
					narrow   | fallback = "throwsWider" throws java.lang.Exception, which this method does not declare; declare it here, or throw another
					twice    | fallback = "two" matches two methods; rename the one that you do not mean
					both     | both fallback = "fine" and whenUnavailable = SKIP are set; remove one of them
					""")
	void invalidFallbackFailsStartup(String method, String reason) {
		this.context.register(LockingConfiguration.class);
		this.context.registerBean("orders", Wrong.class);
		InvalidLockDeclarationException refused = catchThrowableOfType(InvalidLockDeclarationException.class,
				this.context::refresh);
		List<String> findings = refused.findings();
		String type = Wrong.class.getName();
		assertThat(findings).filteredOn((finding) -> finding.startsWith("bean 'orders', " + type + "#" + method + "("))
			.singleElement()
			.asString()
			.endsWith(reason.formatted(type));
		assertThat(findings).hasSize(10);
	}

	interface Declarative {

		@DistributedLock(name = "order", fallback = "instead")
		String call(String id);

		default String instead(String id) {
			return "instead of " + id;
		}

	}

	abstract static class Base<T> {

		@DistributedLock(name = "order", fallback = "instead")
		public Optional<T> inherited(T argument) {
			return Optional.of(argument);
		}

		protected abstract Optional<T> instead(T argument);

	}

	public static class Orders extends Base<Integer> {

		private final RecordingEngine engine;

		Orders(RecordingEngine engine) {
			this.engine = engine;
		}

		@DistributedLock(name = "order", fallback = "later")
		public String settle(String id, int count) {
			return "settled " + id;
		}

		private String later(String id, int count) {
			return "later " + id + (LockContext.current().isPresent() ? ", locked" : ", unlocked");
		}

		private String later(String id) {
			throw new IllegalStateException("another " + id);
		}

		@DistributedLock(name = "order", fallback = "describe")
		public String described(String id) {
			return id;
		}

		String describe(String id, LockUnavailableException ex) {
			return ex.getMessage();
		}

		@DistributedLock(name = "order", fallback = "futureInstead")
		public CompletableFuture<String> future(String id) {
			return new CompletableFuture<>();
		}

		private static CompletableFuture<String> futureInstead(String id) {
			return CompletableFuture.completedFuture("future of " + id);
		}

		@DistributedLock(name = "order", fallback = "plainInstead")
		public Future<String> plain(String id) {
			return new CompletableFuture<>();
		}

		private Future<String> plainInstead(String id) {
			FutureTask<String> task = new FutureTask<>(() -> "plain " + id);
			task.run();
			return task;
		}

		@Scheduled(fixedRate = 1000)
		@DistributedLock(name = "order", fallback = "notScheduled")
		public void scheduled() {
		}

		void notScheduled() {
			this.engine.event("later");
		}

		@DistributedLock(name = "order", fallback = "fail")
		public String failing(String id) throws IOException {
			return id;
		}

		private String fail(String id) throws FileNotFoundException, IllegalStateException {
			throw new FileNotFoundException("scripted");
		}

		@DistributedLock(name = "order", fallback = "rethrow")
		public CompletableFuture<String> rethrowing(String id) {
			return new CompletableFuture<>();
		}

		private CompletableFuture<String> rethrow(String id, LockUnavailableException ex) {
			throw ex;
		}

		@Override
		protected Optional<Integer> instead(Integer argument) {
			return Optional.of(argument + 1);
		}

	}

	public static class Wrong {

		@DistributedLock(fallback = "nobody")
		public String absent(String id) {
			return id;
		}

		@DistributedLock(fallback = "itself")
		public String itself(String id) {
			return id;
		}

		@DistributedLock(fallback = "later")
		public String other(String id) {
			return id;
		}

		String later(int count) {
			return "";
		}

		@DistributedLock(fallback = "number")
		public String returns(String id) {
			return id;
		}

		Integer number(String id) {
			return 1;
		}

		@DistributedLock(fallback = "nothingInstead")
		public void nothing() {
		}

		Integer nothingInstead() {
			return 1;
		}

		@DistributedLock(fallback = "lockedToo")
		public String locked(String id) {
			return id;
		}

		@DistributedLock
		public String lockedToo(String id) {
			return id;
		}

		@DistributedLock(fallback = "throwsMore")
		public String throwing(String id) {
			return id;
		}

		String throwsMore(String id) throws IOException {
			throw new IOException(id);
		}

		@DistributedLock(fallback = "throwsWider")
		public String narrow(String id) throws IOException {
			return id;
		}

		String throwsWider(String id) throws Exception {
			throw new IOException(id);
		}

		@DistributedLock(fallback = "two")
		public String twice(String id) {
			return id;
		}

		String two(String id) {
			return id;
		}

		String two(String id, LockUnavailableException ex) {
			return id;
		}

		@DistributedLock(fallback = "fine", whenUnavailable = WhenUnavailable.SKIP)
		public String both(String id) {
			return id;
		}

		String fine(String id) {
			return id;
		}

	}

}
