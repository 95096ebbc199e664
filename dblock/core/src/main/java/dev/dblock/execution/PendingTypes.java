package dev.dblock.execution;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Spliterator;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.BaseStream;

import org.jspecify.annotations.Nullable;

import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Knows the result types of methods and actions whose work continues, or only begins,
 * after they have returned.
 */
public final class PendingTypes {

	/**
	 * The names of types that may be absent.
	 */
	public static final List<String> OPTIONAL = List.of("org.reactivestreams.Publisher",
			"org.springframework.web.context.request.async.DeferredResult",
			"org.springframework.web.context.request.async.WebAsyncTask",
			"org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
			"org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
			"com.mongodb.client.MongoIterable", "com.google.common.util.concurrent.ListenableFuture",
			"kotlin.sequences.Sequence", "kotlinx.coroutines.flow.Flow", "kotlinx.coroutines.Job");

	/**
	 * The name of a class that is present if Reactor is.
	 */
	public static final String REACTOR = "reactor.core.publisher.Flux";

	/**
	 * The type of a response, whose body can be such a result.
	 */
	public static final String RESPONSE = "org.springframework.http.HttpEntity";

	private static final String RUNNING_COROUTINE = "kotlinx.coroutines.Deferred";

	/**
	 * What Spring needs to call a suspending function of Kotlin, with the name of a class
	 * in it.
	 */
	private static final Map<String, String> COROUTINES = new TreeMap<>(
			Map.of("org.jetbrains.kotlinx:kotlinx-coroutines-reactor", "kotlinx.coroutines.reactor.MonoKt",
					"org.jetbrains.kotlin:kotlin-reflect", "kotlin.reflect.full.KCallables"));

	// Sufficient for hand-written types, and ends the recursion for types that refer to
	// themselves
	private static final int DEPTH = 4;

	private final ReactiveAdapterRegistry reactive = ReactiveAdapterRegistry.getSharedInstance();

	// Lazy, because the search takes time, and most locked methods return nothing
	private final Supplier<Libraries> libraries;

	private final ClassValue<Boolean> pending = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			return compute(type);
		}

	};

	/**
	 * Create an instance for the types that a class loader knows.
	 * @param classLoader the class loader
	 */
	public PendingTypes(@Nullable ClassLoader classLoader) {
		this.libraries = SingletonSupplier.of(() -> new Libraries(classLoader));
	}

	private Libraries libraries() {
		return Objects.requireNonNull(this.libraries.get());
	}

	/**
	 * Return the content of a result that wraps a single value, such as a response.
	 * @param result the result
	 * @return its content, or the result itself
	 */
	public @Nullable Object content(@Nullable Object result) {
		Object content = result;
		for (int i = 0; i < DEPTH && content != null; i++) {
			Method body = libraries().body;
			if (content instanceof Optional<?> optional) {
				content = optional.orElse(null);
			}
			else if (body != null && body.getDeclaringClass().isInstance(content)) {
				content = ReflectionUtils.invokeMethod(body, content);
			}
		}
		return content;
	}

	/**
	 * Return the content of a result whose work continues, or only begins, after the
	 * result was returned. A future that has completed is not such a result.
	 * @param result the result
	 * @return the content of the result, or {@code null} if the work has ended
	 */
	public @Nullable Object pending(@Nullable Object result) {
		Object content = content(result);
		if (content == null || !isPending(content.getClass())) {
			return null;
		}
		boolean over = (content instanceof CompletionStage<?> stage)
				? LockedFuture.whenEnded(stage).toCompletableFuture().isDone()
				: (content instanceof Future<?> future && future.isDone());
		return over ? null : content;
	}

	/**
	 * Whether work may continue after a result of this type was returned.
	 * @param type the type
	 * @return {@code false} if the work has ended
	 */
	public boolean isPending(Class<?> type) {
		return !type.isPrimitive() && this.pending.get(type);
	}

	private boolean compute(Class<?> type) {
		return libraries().types.stream().anyMatch((candidate) -> candidate.isAssignableFrom(type))
				|| this.reactive.getAdapter(type) != null;
	}

	boolean isPublisher(Class<?> type) {
		return this.reactive.getAdapter(type) != null && !CompletionStage.class.isAssignableFrom(type);
	}

	/**
	 * Return the libraries that are missing for calls of suspending functions of Kotlin.
	 * @return their coordinates, or nothing if such functions can be called
	 */
	public List<String> missingForCoroutines() {
		return libraries().missingForCoroutines;
	}

	/**
	 * Return the adapter that can wrap a sequence of this type, so that signals between
	 * the sequence and its subscribers can be intercepted. This requires Reactor, and
	 * exactly a type that the adapter can create. A coroutine of Kotlin that already runs
	 * is no sequence, although there is an adapter: cancelling one does not end the
	 * other.
	 * @param type the type
	 * @return its adapter, or {@code null}
	 */
	public @Nullable ReactiveAdapter sequenceAdapter(Class<?> type) {
		ReactiveAdapter adapter = (!type.isPrimitive() && libraries().reactorPresent) ? this.reactive.getAdapter(type)
				: null;
		boolean exact = adapter != null && adapter.getDescriptor().isDeferred() && adapter.getReactiveType() == type
				&& !type.getName().equals(RUNNING_COROUTINE);
		return exact ? adapter : null;
	}

	/**
	 * Find such a type in a declared return type, including its type arguments.
	 * @param type the declared type
	 * @return the type that was found
	 */
	public Optional<Class<?>> find(ResolvableType type) {
		return find(type, DEPTH);
	}

	private Optional<Class<?>> find(ResolvableType type, int depth) {
		Class<?> resolved = type.resolve(Object.class);
		if (isPending(resolved)) {
			return Optional.of(resolved);
		}
		if (depth == 0) {
			return Optional.empty();
		}
		List<ResolvableType> inner = new ArrayList<>(List.of(type.getGenerics()));
		if (type.isArray()) {
			inner.add(type.getComponentType());
		}
		return inner.stream().flatMap((part) -> find(part, depth - 1).stream()).findFirst();
	}

	/**
	 * What is present of the libraries with such types.
	 */
	private static final class Libraries {

		private final List<Class<?>> types = new ArrayList<>(
				List.of(Future.class, CompletionStage.class, Callable.class, BaseStream.class, Iterator.class,
						Spliterator.class, Enumeration.class, Flow.Publisher.class));

		private final @Nullable Method body;

		private final boolean reactorPresent;

		private final List<String> missingForCoroutines;

		Libraries(@Nullable ClassLoader classLoader) {
			this.body = ClassUtils.isPresent(RESPONSE, classLoader)
					? ClassUtils.getMethod(ClassUtils.resolveClassName(RESPONSE, classLoader), "getBody") : null;
			this.reactorPresent = ClassUtils.isPresent(REACTOR, classLoader);
			this.missingForCoroutines = COROUTINES.entrySet()
				.stream()
				.filter((needed) -> !ClassUtils.isPresent(needed.getValue(), classLoader))
				.map(Map.Entry::getKey)
				.toList();
			for (String name : OPTIONAL) {
				if (ClassUtils.isPresent(name, classLoader)) {
					this.types.add(ClassUtils.resolveClassName(name, classLoader));
				}
			}
		}

	}

}
