package dev.dblock.annotation.name;

import java.lang.reflect.Method;
import java.time.temporal.TemporalAccessor;
import java.time.temporal.TemporalAmount;
import java.util.Arrays;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.convert.ConversionService;
import org.springframework.core.convert.support.DefaultConversionService;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.expression.spel.support.StandardTypeConverter;
import org.springframework.expression.spel.support.StandardTypeLocator;
import org.springframework.util.function.SingletonSupplier;

/**
 * Creates the evaluation contexts of the expressions in lock names and conditions. They
 * provide arguments by name and by index, {@code #root}, and {@code @beans}.
 * <p>
 * Values are converted to text by a conversion service of its own, not by that of the
 * application. An application's conversions format dates for display, in the locale of
 * the calling thread, so that two instances could use two lock names for the same date.
 */
final class LockNameContexts {

	private final ParameterNameDiscoverer parameterNames = new DefaultParameterNameDiscoverer();

	private final Map<LockedMethod, Map<String, Integer>> parameters = new ConcurrentHashMap<>();

	// Caches the results of reflection for the contexts of all calls. Created lazily,
	// since setting up the conversions would slow down start-up
	private final Supplier<StandardEvaluationContext> shared;

	private final BeanFactory beanFactory;

	LockNameContexts(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
		this.shared = SingletonSupplier.of(() -> shared(beanFactory));
	}

	private static StandardEvaluationContext shared(BeanFactory beanFactory) {
		StandardEvaluationContext context = new StandardEvaluationContext();
		context.setBeanResolver(new BeanFactoryResolver(beanFactory));
		context.setTypeConverter(new StandardTypeConverter(conversions()));
		if (beanFactory instanceof ConfigurableBeanFactory beans) {
			// Otherwise that of the thread of the first call, such as one of the common
			// pool
			context.setTypeLocator(new StandardTypeLocator(beans.getBeanClassLoader()));
		}
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
	 * Convert a date to text that does not depend on the time zone of the process, as
	 * {@link Date#toString()} does. Two of the {@code java.sql} types represent no
	 * instant, and are written as their {@code toString()}.
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
		@Nullable Object[] declared = Arrays.copyOf(arguments, LockedMethod.parameterCount(method.method()));
		StandardEvaluationContext context = new StandardEvaluationContext(
				new LockNameRoot(method.method(), method.method().getName(), target, method.userClass(), declared));
		parameters(method).forEach((name, index) -> context.setVariable(name, declared[index]));
		this.shared.get().applyDelegatesTo(context);
		return context;
	}

	/**
	 * Return why an expression has no value, as the predicate of a sentence.
	 */
	static String reason(RuntimeException failure) {
		// SpEL does not wrap the exceptions of the methods that it calls
		return "cannot be evaluated: "
				+ ((failure instanceof EvaluationException) ? failure.getMessage() : "it failed with " + failure);
	}

	/**
	 * Return whether there is a bean with a name. No bean is created for it.
	 */
	boolean hasBean(String name) {
		return this.beanFactory.containsBean(name);
	}

	/**
	 * Return the names of a method's parameters, each with the index of its parameter. If
	 * an interface has the annotation, its names precede those of the implementation.
	 */
	Map<String, Integer> parameters(LockedMethod method) {
		return this.parameters.computeIfAbsent(method, this::discover);
	}

	private Map<String, Integer> discover(LockedMethod method) {
		int count = LockedMethod.parameterCount(method.method());
		Map<String, Integer> found = new TreeMap<>();
		for (Method declaring : List.of(method.annotated(), method.method())) {
			@Nullable String[] names = this.parameterNames.getParameterNames(declaring);
			for (int i = 0; names != null && i < count; i++) {
				if (names[i] != null) {
					found.putIfAbsent(names[i], i);
				}
			}
		}
		for (int i = 0; i < count; i++) {
			found.putIfAbsent("a" + i, i);
			found.putIfAbsent("p" + i, i);
		}
		return found;
	}

}
