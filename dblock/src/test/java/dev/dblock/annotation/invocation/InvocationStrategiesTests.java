package dev.dblock.annotation.invocation;

import java.lang.reflect.Method;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import java.util.stream.Stream;

import dev.dblock.annotation.name.LockedMethod;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.execution.PendingTypes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.ConnectableFlux;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ReactiveTypeDescriptor;
import org.springframework.http.ResponseEntity;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class InvocationStrategiesTests {

	private static final Supplier<DefaultLockTemplate> NONE = () -> {
		throw new IllegalStateException("nothing is locked here");
	};

	private final InvocationStrategies strategies = new InvocationStrategies(
			new PendingTypes(getClass().getClassLoader()));

	private InvocationStrategy strategy(String method) {
		return this.strategies.of(method(method), NONE);
	}

	private static LockedMethod method(String name) {
		Method method = ReflectionUtils.findMethod(Kinds.class, name);
		return new LockedMethod(method, Kinds.class);
	}

	@ParameterizedTest
	@CsvSource({ "nothing, BlockingInvocation", "number, BlockingInvocation", "text, BlockingInvocation",
			"object, BlockingInvocation", "future, FutureInvocation", "stage, FutureInvocation",
			"completable, FutureInvocation", "raw, FutureInvocation", "inVariable, BlockingInvocation",
			"mono, ReactiveInvocation", "flux, ReactiveInvocation", "publisher, ReactiveInvocation",
			"flow, ReactiveInvocation", "sure, ReactiveInvocation" })
	void strategyFollowsFromTheReturnType(String method, String strategy) {
		register();
		assertThat(strategy(method).getClass().getSimpleName()).isEqualTo(strategy);
	}

	@ParameterizedTest
	@CsvSource({ "task, java.util.concurrent.FutureTask", "futureOfStream, java.util.stream.Stream",
			"futureOfMono, reactor.core.publisher.Mono", "futureOfFuture, java.util.concurrent.CompletableFuture",
			"stageOfAnyStream, java.util.stream.Stream", "futureOfResponse, java.util.concurrent.Callable",
			"monoOfCallable, java.util.concurrent.Callable", "fluxOfFutures, java.util.concurrent.Future",
			"entityOfMono, reactor.core.publisher.Mono", "connectable, reactor.core.publisher.ConnectableFlux",
			"callable, java.util.concurrent.Callable", "iterator, java.util.Iterator" })
	void resultWhoseCompletionCannotBeObservedIsRefused(String method, String type) {
		assertThatIllegalArgumentException().isThrownBy(() -> strategy(method))
			.withMessage("with the return type " + type
					+ " its work continues after the method returns, when the lock is already released; finish the"
					+ " work in the method, return a CompletableFuture or a Mono, or acquire the lock where"
					+ " the work is done");
	}

	@ParameterizedTest
	@ValueSource(strings = { "mono", "flux", "publisher" })
	void sequencesAreRefusedWhereThereIsNoReactor(String method) {
		InvocationStrategies without = new InvocationStrategies(new PendingTypes(new FilteredClassLoader("reactor.")));
		assertThatIllegalArgumentException().isThrownBy(() -> without.of(method(method), NONE))
			.withMessageStartingWith("with the return type ");
	}

	@Test
	void sequenceThatAlwaysHasAResultCannotBeSkipped() {
		register();
		assertThat(strategy("sure").skipUnsupportedReason())
			.isEqualTo("a skipped call has nothing to return, because a " + Sure.class.getName()
					+ " always has a result; return a type that may be empty");
		assertThat(strategy("number").skipUnsupportedReason()).contains("primitive int");
		for (String method : List.of("mono", "future", "text", "nothing")) {
			assertThat(strategy(method).skipUnsupportedReason()).isNull();
		}
	}

	private static void register() {
		ReactiveAdapterRegistry.getSharedInstance()
			.registerReactiveType(ReactiveTypeDescriptor.singleRequiredValue(Sure.class),
					(sure) -> Mono.just(sure.toString()), (publisher) -> new Sure());
	}

	static class Sure {

	}

	interface Kinds {

		void nothing();

		int number();

		String text();

		Object object();

		Future<String> future();

		Future<Mono<String>> futureOfMono();

		CompletableFuture<CompletableFuture<String>> futureOfFuture();

		CompletionStage<? extends Stream<?>> stageOfAnyStream();

		CompletableFuture<Optional<ResponseEntity<Callable<String>>>> futureOfResponse();

		CompletionStage<Void> stage();

		CompletableFuture<String> completable();

		@SuppressWarnings("rawtypes")
		Future raw();

		<T extends Comparable<T>> T inVariable();

		Mono<Void> mono();

		Flux<String> flux();

		Publisher<String> publisher();

		Flow.Publisher<String> flow();

		Sure sure();

		FutureTask<String> task();

		CompletableFuture<Stream<String>> futureOfStream();

		Mono<Callable<String>> monoOfCallable();

		Flux<Future<String>> fluxOfFutures();

		ResponseEntity<Mono<String>> entityOfMono();

		ConnectableFlux<String> connectable();

		Callable<String> callable();

		Iterator<String> iterator();

	}

}
