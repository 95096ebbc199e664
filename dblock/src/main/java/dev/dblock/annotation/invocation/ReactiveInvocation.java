package dev.dblock.annotation.invocation;

import java.util.function.Supplier;

import dev.dblock.LockContext;
import dev.dblock.LockShutdownException;
import dev.dblock.LockedAction;
import dev.dblock.LockedFallback;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.reactive.ReactiveLockTemplate;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.core.ReactiveAdapter;
import org.springframework.dao.DataAccessException;

/**
 * Holds the lock from each subscription to the returned publisher until its termination.
 * The method is called once for each subscription, under the lock.
 */
final class ReactiveInvocation implements InvocationStrategy {

	private final Supplier<DefaultLockTemplate> template;

	private final PendingResults results;

	private final ReactiveAdapter adapter;

	ReactiveInvocation(Supplier<DefaultLockTemplate> template, PendingResults results, ReactiveAdapter adapter) {
		this.template = template;
		this.results = results;
		this.adapter = adapter;
	}

	@Override
	public Object invoke(LockedOperation operation, MethodInvocation invocation) {
		return this.adapter.fromPublisher(this.adapter.isMultiValue()
				? Flux.deferContextual((context) -> subscribed(operation, invocation, context))
				: Mono.deferContextual((context) -> Mono.fromDirect(subscribed(operation, invocation, context))));
	}

	private Publisher<Object> subscribed(LockedOperation operation, MethodInvocation invocation, ContextView context) {
		LockCall call = LockCall.of(operation, this.template, invocation,
				JobCarrier.Reactive.scheduledCall(invocation, context));
		if (call == null) {
			return unlocked(invocation);
		}
		ReactiveLockTemplate locks = new ReactiveLockTemplate(call.template().engine());
		LockedAction<Publisher<Object>> work = () -> {
			call.begin();
			call.granted(LockContext.current());
			return inside(call, Flux.from(proceed(invocation)))
				.doOnNext((element) -> this.results.delivered(operation.method(), element));
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
		return call.isScheduled() ? work.contextWrite(JobCarrier.Reactive::withoutScheduledCall) : work;
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
	 * Call the method for one subscription. The interceptors inside of this one keep the
	 * progress of an invocation as state, so each subscription gets its own clone. It is
	 * exposed to advice that obtains the invocation from the thread.
	 */
	private Publisher<Object> proceed(MethodInvocation invocation) throws Throwable {
		MethodInvocation call = (invocation instanceof ProxyMethodInvocation proxied) ? proxied.invocableClone()
				: invocation;
		return publisher(ExposeInvocationInterceptor.INSTANCE.invoke(call));
	}

	private Publisher<Object> publisher(@Nullable Object result) {
		return this.adapter.toPublisher(result);
	}

	@Override
	public Object skipped() {
		return this.adapter.fromPublisher(Flux.empty());
	}

	@Override
	public @Nullable String obstacleToSkip() {
		return this.adapter.supportsEmpty() ? null
				: ("a skipped call has nothing to return, because a %s always has a result; return a type that may be"
						+ " empty")
					.formatted(this.adapter.getReactiveType().getName());
	}

}
