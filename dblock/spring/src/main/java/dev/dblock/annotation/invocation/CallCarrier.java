package dev.dblock.annotation.invocation;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.util.ClassUtils;

/**
 * The outermost advice of a method whose calls are observed. Moves the observer from the
 * thread to the invocation or to the Reactor context. The lock finds it there on any
 * thread and in any retry.
 */
public final class CallCarrier implements MethodInterceptor {

	static final String CALL = CallObserver.class.getName();

	private static final String SOURCE = CallSource.class.getName();

	private static final boolean REACTOR = ClassUtils.isPresent("reactor.core.publisher.Mono",
			CallCarrier.class.getClassLoader());

	private final CallSource source;

	/**
	 * Create the advice.
	 * @param source makes the calls that are observed
	 */
	public CallCarrier(CallSource source) {
		this.source = source;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		if (invocation instanceof ProxyMethodInvocation proxied) {
			proxied.setUserAttribute(SOURCE, this.source);
		}
		if (REACTOR && Reactive.isCarrying(invocation.getMethod().getReturnType())) {
			// Spring's scheduler calls the method once, and subscribes at each firing
			return Reactive.carrying(invocation.proceed(), this.source);
		}
		CallObserver call = this.source.take();
		if (call != null && invocation instanceof ProxyMethodInvocation proxied) {
			proxied.setUserAttribute(CALL, call);
		}
		return invocation.proceed();
	}

	/**
	 * Return the source that makes observed calls of the invoked method.
	 * @return the source, or {@code null} if no calls are observed
	 */
	static @Nullable CallSource source(MethodInvocation invocation) {
		return (invocation instanceof ProxyMethodInvocation proxied
				&& proxied.getUserAttribute(SOURCE) instanceof CallSource source && source.isActive()) ? source : null;
	}

	/**
	 * The parts that depend on Reactor.
	 */
	static final class Reactive {

		private Reactive() {
		}

		/**
		 * Return the observer of a subscription. For a type without a Reactor context,
		 * the subscription takes place in the thread of the source.
		 * @return the observer, or {@code null} if other code subscribes
		 */
		static @Nullable CallObserver observer(MethodInvocation invocation, ContextView context) {
			CallSource source = source(invocation);
			if (source == null) {
				return null;
			}
			CallObserver call = context.getOrDefault(CALL, null);
			return (call != null && source.isOf(call)) ? call : source.take();
		}

		/**
		 * Remove the observer from a context, since the subscriptions of the method
		 * itself are not calls of the source.
		 */
		static Context withoutObserver(Context context) {
			return context.delete(CALL);
		}

		static boolean isCarrying(Class<?> returned) {
			return returned == Mono.class || returned == Flux.class;
		}

		static @Nullable Object carrying(@Nullable Object publisher, CallSource source) {
			if (publisher instanceof Mono<?> mono) {
				return mono.contextWrite((context) -> with(context, source.take()));
			}
			return (publisher instanceof Flux<?> flux) ? flux.contextWrite((context) -> with(context, source.take()))
					: publisher;
		}

		private static Context with(Context context, @Nullable CallObserver call) {
			return (call != null) ? context.put(CALL, call) : context;
		}

	}

}
