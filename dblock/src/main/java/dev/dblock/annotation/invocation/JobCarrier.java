package dev.dblock.annotation.invocation;

import dev.dblock.job.schedule.JobMethod;
import dev.dblock.job.schedule.BoundCall;
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
 * The outermost advice of a job. Moves the scheduler's call from the thread to the
 * invocation or to the Reactor context. The lock finds it there on any thread and in any
 * retry.
 */
public final class JobCarrier implements MethodInterceptor {

	private static final String CALL = BoundCall.class.getName();

	private static final String JOB = JobMethod.class.getName();

	private static final boolean REACTOR = ClassUtils.isPresent("reactor.core.publisher.Mono",
			JobCarrier.class.getClassLoader());

	private final JobMethod job;

	public JobCarrier(JobMethod job) {
		this.job = job;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		if (invocation instanceof ProxyMethodInvocation proxied) {
			proxied.setUserAttribute(JOB, this.job);
		}
		if (REACTOR && Reactive.isCarrying(invocation.getMethod().getReturnType())) {
			// Spring's scheduler calls the method once, and subscribes at each firing
			return Reactive.carrying(invocation.proceed(), this.job);
		}
		BoundCall call = BoundCall.take(this.job);
		if (call != null && invocation instanceof ProxyMethodInvocation proxied) {
			proxied.setUserAttribute(CALL, call);
		}
		return invocation.proceed();
	}

	/**
	 * Return the scheduler's call that led to an invocation.
	 * @param invocation the invocation
	 * @return the call, or {@code null} if other code calls the method
	 */
	public static @Nullable BoundCall scheduledCall(MethodInvocation invocation) {
		return (invocation instanceof ProxyMethodInvocation proxied
				&& proxied.getUserAttribute(CALL) instanceof BoundCall call) ? call : null;
	}

	/**
	 * Return the job that an invocation calls.
	 * @param invocation the invocation
	 * @return the job, or {@code null} if the method is none
	 */
	public static @Nullable JobMethod job(MethodInvocation invocation) {
		return (invocation instanceof ProxyMethodInvocation proxied
				&& proxied.getUserAttribute(JOB) instanceof JobMethod job && job.isCaptured()) ? job : null;
	}

	/**
	 * The parts that depend on Reactor.
	 */
	static final class Reactive {

		private Reactive() {
		}

		/**
		 * Return the scheduler's call that led to a subscription. For a type without a
		 * Reactor context, the subscription takes place in the scheduler's thread.
		 * @return the call, or {@code null} if other code subscribes
		 */
		static @Nullable BoundCall scheduledCall(MethodInvocation invocation, ContextView context) {
			JobMethod job = job(invocation);
			if (job == null) {
				return null;
			}
			BoundCall call = context.getOrDefault(CALL, null);
			return (call != null && call.isOf(job)) ? call : BoundCall.take(job);
		}

		/**
		 * Remove the scheduler's call from a context, since the subscriptions of the
		 * method itself are not firings of the scheduler.
		 */
		static Context withoutScheduledCall(Context context) {
			return context.delete(CALL);
		}

		static boolean isCarrying(Class<?> returned) {
			return returned == Mono.class || returned == Flux.class;
		}

		static @Nullable Object carrying(@Nullable Object publisher, JobMethod job) {
			if (publisher instanceof Mono<?> mono) {
				return mono.contextWrite((context) -> with(context, BoundCall.take(job)));
			}
			return (publisher instanceof Flux<?> flux)
					? flux.contextWrite((context) -> with(context, BoundCall.take(job))) : publisher;
		}

		private static Context with(Context context, @Nullable BoundCall call) {
			return (call != null) ? context.put(CALL, call) : context;
		}

	}

}
