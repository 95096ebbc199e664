package dev.dblock.annotation.invocation;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.dblock.execution.PendingTypes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ReactiveTypeDescriptor;
import org.springframework.core.ResolvableType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

import static org.assertj.core.api.Assertions.assertThat;

class PendingTypesTests {

	private final PendingTypes types = new PendingTypes(getClass().getClassLoader());

	@ParameterizedTest
	@CsvSource({ "future, java.util.concurrent.Future", "scheduled, java.util.concurrent.ScheduledFuture",
			"stage, java.util.concurrent.CompletionStage", "completable, java.util.concurrent.CompletableFuture",
			"callable, java.util.concurrent.Callable", "flow, java.util.concurrent.Flow$Publisher",
			"publisher, org.reactivestreams.Publisher", "mono, reactor.core.publisher.Mono",
			"flux, reactor.core.publisher.Flux", "stream, java.util.stream.Stream",
			"intStream, java.util.stream.IntStream",
			"deferred, org.springframework.web.context.request.async.DeferredResult",
			"task, org.springframework.web.context.request.async.WebAsyncTask",
			"emitter, org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
			"events, org.springframework.web.servlet.mvc.method.annotation.SseEmitter",
			"body, org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
			"inEntity, org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
			"inMap, java.util.concurrent.Future", "inArray, java.util.concurrent.CompletableFuture",
			"inVariable, java.util.concurrent.CompletableFuture" })
	void workGoesOn(String method, String type) {
		assertThat(find(Kinds.class, method).map(Class::getName)).contains(type);
	}

	@ParameterizedTest
	@ValueSource(strings = { "nothing", "number", "object", "text", "list", "entity", "optional", "recursive" })
	void workIsOver(String method) {
		assertThat(find(Kinds.class, method)).isEmpty();
	}

	@Test
	void typeVariableIsSeenThroughTheImplementation() {
		assertThat(find(Implementation.class, "run")).contains(CompletableFuture.class);
	}

	@Test
	void typesOfTheReactiveRegistryCount() {
		assertThat(this.types.isPending(Eventual.class)).isFalse();
		ReactiveAdapterRegistry.getSharedInstance()
			.registerReactiveType(ReactiveTypeDescriptor.noValue(Eventual.class, Eventual::new),
					(eventual) -> Mono.empty(), (publisher) -> new Eventual());
		assertThat(new PendingTypes(null).isPending(Eventual.class)).isTrue();
	}

	@Test
	void optionalTypesMayBeAbsent() {
		PendingTypes without = new PendingTypes(new FilteredClassLoader("org.springframework.web"));
		assertThat(without.isPending(SseEmitter.class)).isFalse();
		assertThat(without.isPending(CompletableFuture.class)).isTrue();
	}

	private Optional<Class<?>> find(Class<?> type, String name) {
		return this.types.find(ResolvableType.forMethodReturnType(method(type, name), type));
	}

	private static Method method(Class<?> type, String name) {
		return Arrays.stream(type.getMethods())
			.filter((candidate) -> candidate.getName().equals(name))
			.findFirst()
			.orElseThrow();
	}

	static class Eventual {

	}

	abstract static class Base<T> {

		public T run() {
			return null;
		}

	}

	static class Implementation extends Base<CompletableFuture<String>> {

	}

	interface Kinds {

		Future<String> future();

		ScheduledFuture<?> scheduled();

		CompletionStage<Void> stage();

		CompletableFuture<Void> completable();

		Callable<String> callable();

		Flow.Publisher<String> flow();

		Publisher<String> publisher();

		Mono<Void> mono();

		Flux<String> flux();

		Stream<String> stream();

		IntStream intStream();

		DeferredResult<String> deferred();

		WebAsyncTask<String> task();

		ResponseBodyEmitter emitter();

		SseEmitter events();

		StreamingResponseBody body();

		ResponseEntity<StreamingResponseBody> inEntity();

		Map<String, List<Future<?>>> inMap();

		CompletableFuture<?>[] inArray();

		<T extends CompletableFuture<?>> T inVariable();

		void nothing();

		int number();

		Object object();

		String text();

		List<String> list();

		ResponseEntity<String> entity();

		Optional<String> optional();

		<T extends Comparable<T>> T recursive();

	}

}
