package dev.dblock.interceptor;

import dev.dblock.job.schedule.ScheduledCall;
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
 * The outermost advice of a job: moves the scheduler's call from the thread into the
 * invocation, or into the Reactor context, where the lock finds it on whatever thread and
 * in whatever retry it is asked for.
 */
final class JobCarrier implements MethodInterceptor {

	private static final String KEY = ScheduledCall.class.getName();

	private static final boolean REACTOR = ClassUtils.isPresent("reactor.core.publisher.Mono",
			JobCarrier.class.getClassLoader());

	private final Class<?> type;

	JobCarrier(Class<?> type) {
		this.type = type;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		String method = invocation.getMethod().getName();
		Class<?> returned = invocation.getMethod().getReturnType();
		if (REACTOR && Reactive.isCarrying(returned)) {
			// Spring's scheduler calls the method once, and subscribes at each firing
			return Reactive.carrying(invocation.proceed(), this.type, method);
		}
		ScheduledCall call = ScheduledCall.take(this.type, method);
		if (call != null && invocation instanceof ProxyMethodInvocation proxied) {
			proxied.setUserAttribute(KEY, call);
		}
		return invocation.proceed();
	}

	/**
	 * The scheduler's call that an invocation is.
	 * @return {@code null} if other code calls the method
	 */
	static @Nullable ScheduledCall scheduledCall(LockOperation operation, MethodInvocation invocation) {
		return (operation.job() != null && invocation instanceof ProxyMethodInvocation proxied
				&& proxied.getUserAttribute(KEY) instanceof ScheduledCall call) ? call : null;
	}

	/**
	 * What needs Reactor.
	 */
	static final class Reactive {

		private Reactive() {
		}

		/**
		 * The scheduler's call that a subscription is. A type that has no Reactor context
		 * is subscribed to in the scheduler's thread.
		 * @return {@code null} if other code subscribes
		 */
		static @Nullable ScheduledCall scheduledCall(LockOperation operation, ContextView context) {
			if (operation.job() == null) {
				return null;
			}
			LockedMethod method = operation.method();
			ScheduledCall call = context.getOrDefault(KEY, null);
			return (call != null && call.isOf(method.userClass(), method.method().getName())) ? call
					: ScheduledCall.take(method.userClass(), method.method().getName());
		}

		/**
		 * What the method itself subscribes to is no firing.
		 */
		static Context withoutScheduledCall(Context context) {
			return context.delete(KEY);
		}

		static boolean isCarrying(Class<?> returned) {
			return returned == Mono.class || returned == Flux.class;
		}

		static @Nullable Object carrying(@Nullable Object publisher, Class<?> type, String method) {
			if (publisher instanceof Mono<?> mono) {
				return mono.contextWrite((context) -> with(context, ScheduledCall.take(type, method)));
			}
			return (publisher instanceof Flux<?> flux)
					? flux.contextWrite((context) -> with(context, ScheduledCall.take(type, method))) : publisher;
		}

		private static Context with(Context context, @Nullable ScheduledCall call) {
			return (call != null) ? context.put(KEY, call) : context;
		}

	}

}
