package dev.dblock.annotation;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import dev.dblock.annotation.invocation.InvalidLockDeclarationException;
import dev.dblock.annotation.invocation.LifecycleMethods;
import dev.dblock.annotation.invocation.LockAnnotations;
import dev.dblock.annotation.name.LockedMethod;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.MergedBeanDefinitionPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.PriorityOrdered;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils.MethodFilter;

/**
 * Refuses locked methods that Spring calls on the bean itself, such as those with
 * {@code @PostConstruct}, before the first of them is called. Such a method would run
 * unlocked, once in every attempt to start. Reports the methods of all beans whose class
 * is known at that time, and creates no bean.
 */
final class LifecycleMethodChecker implements MergedBeanDefinitionPostProcessor, PriorityOrdered {

	private static final Logger logger = LoggerFactory.getLogger(LifecycleMethodChecker.class);

	private final BeanInspector beans;

	/**
	 * Create the checker.
	 * @param beanFactory the factory of the beans to inspect
	 */
	LifecycleMethodChecker(ConfigurableListableBeanFactory beanFactory) {
		this.beans = new BeanInspector(beanFactory);
	}

	/**
	 * Check a bean before its dependencies are injected, or, ahead of time, a bean that
	 * will be created.
	 * @throws InvalidLockDeclarationException if Spring would call one of its locked
	 * methods without the proxy
	 */
	@Override
	public void postProcessMergedBeanDefinition(RootBeanDefinition definition, Class<?> type, String name) {
		if (AnnotationMentions.OF_LOCKS.in(type)) {
			Class<?> userClass = ClassUtils.getUserClass(type);
			Set<String> findings = new TreeSet<>();
			add(new InspectedBean(name, userClass, null, NamedCallbacks.of(definition, userClass)), findings);
			if (!findings.isEmpty()) {
				this.beans.inspect().forEach((bean) -> add(bean, findings));
				throw new InvalidLockDeclarationException(List.copyOf(findings));
			}
		}
	}

	private static void add(InspectedBean bean, Set<String> findings) {
		lockedLifecycleMethods(bean).map(
				(method) -> "bean '%s', %s: is %s".formatted(bean.name(), method.describe(), LifecycleMethods.OBSTACLE))
			.forEach(findings::add);
	}

	private static Stream<LockedMethod> lockedLifecycleMethods(InspectedBean bean) {
		if (!AnnotationMentions.OF_LOCKS.in(bean.type())) {
			return Stream.empty();
		}
		try {
			return MethodIntrospector.selectMethods(bean.type(), (MethodFilter) LockAnnotations::arePresent)
				.stream()
				.map((method) -> new LockedMethod(method, bean.type()))
				.filter((method) -> LifecycleMethods.contain(method, bean.callbacks()));
		}
		catch (IllegalStateException | LinkageError ex) {
			// A class that refers to an absent library can be a bean as long as that part
			// is not used
			logger.debug("Could not inspect {} for locked methods", bean.type(), ex);
			return Stream.empty();
		}
	}

	@Override
	public int getOrder() {
		return LOWEST_PRECEDENCE;
	}

}
