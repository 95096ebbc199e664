package dev.dblock.annotation.name;

import java.time.temporal.TemporalAccessor;
import java.time.temporal.TemporalAmount;
import java.util.Date;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.convert.ConversionService;
import org.springframework.core.convert.support.DefaultConversionService;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.expression.spel.support.StandardTypeConverter;
import org.springframework.util.function.SingletonSupplier;

/**
 * What the expressions in names are evaluated against: arguments by name and by index,
 * {@code #root}, and {@code @beans}.
 * <p>
 * Values become text through conversions of its own, not those of the application: these
 * print dates for people, in the language of the calling thread, and two instances would
 * lock two names for one date.
 */
public final class LockNameContexts {

	private final ParameterNameDiscoverer parameterNames = new DefaultParameterNameDiscoverer();

	// Holds what is found by reflection, so that the context of each call need not find
	// it again; no start waits for all those conversions
	private final Supplier<StandardEvaluationContext> shared;

	public LockNameContexts(BeanFactory beanFactory) {
		this.shared = SingletonSupplier.of(() -> shared(beanFactory));
	}

	private static StandardEvaluationContext shared(BeanFactory beanFactory) {
		StandardEvaluationContext context = new StandardEvaluationContext();
		context.setBeanResolver(new BeanFactoryResolver(beanFactory));
		context.setTypeConverter(new StandardTypeConverter(conversions()));
		return context;
	}

	private static ConversionService conversions() {
		DefaultConversionService conversions = new DefaultConversionService();
		conversions.addConverter(TemporalAccessor.class, String.class, Object::toString);
		conversions.addConverter(TemporalAmount.class, String.class, Object::toString);
		conversions.addConverter(Date.class, String.class, LockNameContexts::text);
		return conversions;
	}

	/**
	 * A date's own text depends on the time zone of the process. Of those of
	 * {@code java.sql}, two are no instants but what that text says.
	 */
	private static String text(Date date) {
		try {
			return date.toInstant().toString();
		}
		catch (UnsupportedOperationException ex) {
			return date.toString();
		}
	}

	EvaluationContext create(LockedMethod method, @Nullable Object target, @Nullable Object[] arguments) {
		LockNameRoot root = new LockNameRoot(method.method(), method.method().getName(), target, method.userClass(),
				arguments);
		MethodBasedEvaluationContext context = new MethodBasedEvaluationContext(root, method.method(), arguments,
				this.parameterNames);
		this.shared.get().applyDelegatesTo(context);
		return context;
	}

	/**
	 * The names of a method's parameters.
	 * @return the names, or {@code null} when they were not compiled into the class
	 */
	@Nullable String @Nullable [] parameterNames(LockedMethod method) {
		return this.parameterNames.getParameterNames(method.method());
	}

}
