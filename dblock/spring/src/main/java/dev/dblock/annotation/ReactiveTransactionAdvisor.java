package dev.dblock.annotation;

import java.lang.reflect.Method;

import dev.dblock.reactive.ReactiveTransactions;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.core.KotlinDetector;
import org.springframework.core.Ordered;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.util.StringValueResolver;

/**
 * Runs inside of the transaction of each transactional method that returns a reactive
 * type, and has that transaction join the surrounding locks before the method's own work.
 */
@SuppressWarnings("serial")
final class ReactiveTransactionAdvisor extends StaticMethodMatcherPointcutAdvisor {

	private final AnnotationTransactionAttributeSource attributes = new AnnotationTransactionAttributeSource(false);

	/**
	 * Create the advisor.
	 * @param placeholders resolves the placeholders in transaction attributes
	 */
	ReactiveTransactionAdvisor(StringValueResolver placeholders) {
		this.attributes.setEmbeddedValueResolver(placeholders);
		setClassFilter(this.attributes::isCandidateClass);
		setAdvice((MethodInterceptor) ReactiveTransactionAdvisor::invoke);
		// An advisor with the same order as the transaction advisor that is registered
		// later runs inside of it
		setOrder(Ordered.LOWEST_PRECEDENCE);
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		boolean sequence = KotlinDetector.isSuspendingFunction(method) || adapter(method.getReturnType()) != null;
		return sequence && this.attributes.getTransactionAttribute(method, targetClass) != null;
	}

	private static @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Object result = invocation.proceed();
		ReactiveAdapter adapter = adapter(returned(invocation.getMethod(), result));
		return (adapter != null && result != null) ? joined(adapter, result) : result;
	}

	private static Object joined(ReactiveAdapter adapter, Object result) {
		return adapter.fromPublisher(
				adapter.isMultiValue() ? ReactiveTransactions.join().thenMany(Flux.from(adapter.toPublisher(result)))
						: ReactiveTransactions.join().then(Mono.fromDirect(adapter.toPublisher(result))));
	}

	/**
	 * Return the type of a result. That of a suspending function is a publisher for its
	 * interceptors.
	 */
	private static Class<?> returned(Method method, @Nullable Object result) {
		if (!KotlinDetector.isSuspendingFunction(method)) {
			return method.getReturnType();
		}
		return (result instanceof Flux) ? Flux.class : (result instanceof Mono) ? Mono.class : Object.class;
	}

	private static @Nullable ReactiveAdapter adapter(Class<?> returned) {
		ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(returned);
		boolean exact = adapter != null && adapter.getDescriptor().isDeferred()
				&& adapter.getReactiveType() == returned;
		return exact ? adapter : null;
	}

}
