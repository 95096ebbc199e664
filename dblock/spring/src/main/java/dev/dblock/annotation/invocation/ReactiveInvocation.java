package dev.dblock.annotation.invocation;

import java.util.Objects;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import dev.dblock.LockContext;
import dev.dblock.LockShutdownException;
import dev.dblock.LockedAction;
import dev.dblock.LockedFallback;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.reactive.LockedCoroutine;
import dev.dblock.reactive.ReactiveLockTemplate;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

import org.springframework.core.ReactiveAdapter;
import org.springframework.dao.DataAccessException;

/**
 * Holds the lock from each subscription to the returned publisher until its termination.
 * The method is called once for each subscription, under the lock.
 * <p>
 * Spring's proxies convert between suspending functions and publishers: the caller of
 * such a function subscribes to the publisher that is returned here, and the function
 * itself is a publisher for its interceptors.
 */
final class ReactiveInvocation implements InvocationStrategy {

	private static final String FLOW = "kotlinx.coroutines.flow.Flow";

	private final Supplier<DefaultLockTemplate> template;

	private final PendingResults results;

	private final ReactiveAdapter adapter;

	/** The result of a suspending function; {@code null} for any other method. */
	private final @Nullable SuspendedResult suspended;

	ReactiveInvocation(Supplier<DefaultLockTemplate> template, PendingResults results, ReactiveAdapter adapter,
			@Nullable SuspendedResult suspended) {
		this.template = template;
		this.results = results;
		this.adapter = adapter;
		this.suspended = suspended;
	}

	@Override
	public Object invoke(LockedOperation operation, MethodInvocation invocation) {
		Object result = this.adapter.fromPublisher(this.adapter.isMultiValue()
				? Flux.deferContextual((context) -> subscribed(operation, invocation, context))
				: Mono.deferContextual((context) -> Mono.fromDirect(subscribed(operation, invocation, context))));
		return isFlow() ? LockedCoroutine.unbuffered(result) : result;
	}

	private Publisher<Object> subscribed(LockedOperation operation, MethodInvocation invocation, ContextView context) {
		CallObserver observer = (this.suspended != null) ? CallObserver.of(invocation)
				: CallCarrier.Reactive.observer(invocation, context);
		LockCall call = LockCall.of(operation, this.template, invocation, observer);
		if (call == null) {
			return unlocked(invocation);
		}
		ReactiveLockTemplate locks = new ReactiveLockTemplate(call.template().engine());
		LockedAction<Publisher<Object>> work = () -> {
			call.begin();
			call.granted(LockContext.current());
			UnaryOperator<Publisher<Object>> checked = (publisher) -> inside(call, Flux.from(publisher))
				.doOnNext((element) -> this.results.delivered(operation.method(), element));
			return isCoroutine() ? Coroutine.of(this, invocation, checked) : checked.apply(proceed(invocation));
		};
		LockedFallback<Publisher<Object>> fallback = (refusal) -> publisher(call.unavailable(refusal));
		Publisher<Object> locked = this.adapter.isMultiValue()
				? locks.executeMany(call.name(), call.options(), work, fallback)
				: locks.execute(call.name(), call.options(), work, fallback);
		return Flux.from(locked)
			.onErrorResume(LockShutdownException.class, (shutdown) -> answer(() -> call.answer(shutdown)))
			.onErrorResume(DataAccessException.class, (failure) -> answer(() -> call.answer(failure)));
	}

	private static Flux<Object> inside(LockCall call, Flux<Object> work) {
		return call.isObserved() ? work.doOnComplete(call::ended)
			.doOnCancel(call::ended)
			.contextWrite(CallCarrier.Reactive::withoutObserver) : work;
	}

	private Publisher<Object> answer(Supplier<@Nullable Object> answer) {
		try {
			return publisher(answer.get());
		}
		catch (LockShutdownException | DataAccessException ex) {
			return Mono.error(ex);
		}
	}

	private Publisher<Object> unlocked(MethodInvocation invocation) {
		try {
			return proceed(invocation);
		}
		catch (Throwable ex) {
			return Mono.error(ex);
		}
	}

	/**
	 * Call the method for one subscription.
	 */
	private Publisher<Object> proceed(MethodInvocation invocation) throws Throwable {
		return publisher(InvocationStrategy.proceed(invocation, invocation.getArguments().clone()));
	}

	private boolean isCoroutine() {
		return this.suspended != null || isFlow();
	}

	private boolean isFlow() {
		return this.adapter.getReactiveType().getName().equals(FLOW);
	}

	private Publisher<Object> publisher(@Nullable Object result) {
		// The fallback of a suspending function need not suspend
		return (this.suspended != null && !(result instanceof Publisher)) ? Mono.justOrEmpty(result)
				: this.adapter.toPublisher(result);
	}

	@Override
	public Object skipped() {
		return (this.suspended != null) ? this.suspended.skipped() : this.adapter.fromPublisher(Flux.empty());
	}

	@Override
	public @Nullable String skipUnsupportedReason() {
		if (this.suspended != null) {
			return this.suspended.skipUnsupportedReason();
		}
		return this.adapter.supportsEmpty() ? null
				: ("a skipped call has nothing to return, because a %s always has a result; return a type that may be"
						+ " empty")
					.formatted(this.adapter.getReactiveType().getName());
	}

	/**
	 * The parts that depend on coroutines.
	 */
	private static final class Coroutine {

		private Coroutine() {
		}

		/**
		 * Call a method whose work is a coroutine, which then works under the lock.
		 */
		static Publisher<Object> of(ReactiveInvocation strategy, MethodInvocation invocation,
				UnaryOperator<Publisher<Object>> checked) throws Throwable {
			LockedCoroutine coroutine = new LockedCoroutine();
			@Nullable Object[] arguments = invocation.getArguments().clone();
			if (strategy.suspended != null) {
				int last = arguments.length - 1;
				arguments[last] = coroutine.continuation(Objects.requireNonNull(arguments[last]));
			}
			Object result = InvocationStrategy.proceed(invocation, arguments);
			Publisher<Object> publisher = (strategy.suspended != null || result == null) ? strategy.publisher(result)
					: coroutine.publisher(result);
			return coroutine.sequence(checked.apply(publisher));
		}

	}

}
