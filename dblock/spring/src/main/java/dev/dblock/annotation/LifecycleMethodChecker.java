package dev.dblock.annotation;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.invocation.InvalidLockDeclarationException;
import dev.dblock.annotation.invocation.LifecycleMethods;
import dev.dblock.annotation.invocation.LockAnnotations;
import dev.dblock.annotation.name.LockedMethod;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.SmartInstantiationAwareBeanPostProcessor;
import org.springframework.beans.factory.support.MergedBeanDefinitionPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.annotation.AnnotationFilter;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.annotation.RepeatableContainers;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils.MethodFilter;

/**
 * Refuses locked methods that Spring calls on the bean itself, such as those with
 * {@code @PostConstruct}, before the first of them is called. Such a method would run
 * unlocked, once in every attempt to start. Reports the methods of all beans whose class
 * is known at that time, and creates no bean. Warns of methods that post-processors may
 * call on the bean itself.
 */
final class LifecycleMethodChecker
		implements MergedBeanDefinitionPostProcessor, SmartInstantiationAwareBeanPostProcessor, PriorityOrdered {

	private static final Logger logger = LoggerFactory.getLogger(LifecycleMethodChecker.class);

	/** Annotations of methods that are called through the bean of the context. */
	private static final AnnotationFilter OF_CALLS_BY_PROXY = AnnotationFilter.packages("dev.dblock.job",
			"io.github.resilience4j", "io.micrometer", "jakarta.annotation", "jakarta.transaction", "java.lang",
			"org.springframework.aot", "org.springframework.cache", "org.springframework.context.event",
			"org.springframework.lang", "org.springframework.resilience", "org.springframework.retry",
			"org.springframework.scheduling", "org.springframework.security", "org.springframework.transaction",
			"org.springframework.web");

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

	/**
	 * Warn of a bean in a circular reference whose locked methods a post-processor may
	 * call, as that of message listeners does. Spring passes such a bean to all further
	 * post-processors without its proxy. Not refused, since calls by other beans are
	 * locked.
	 */
	@Override
	public Object getEarlyBeanReference(Object bean, String name) {
		Class<?> type = ClassUtils.getUserClass(AopProxyUtils.ultimateTargetClass(bean));
		new InspectedBean(name, type, bean).advisors()
			.filter(DistributedLockAdvisor.class::isInstance)
			.flatMap((advisor) -> ((DistributedLockAdvisor) advisor).lockedMethods(type).stream())
			.filter(LifecycleMethodChecker::hasFurtherAnnotation)
			.forEach((method) -> logger.warn("bean '{}', {}: runs without its lock if a bean post-processor calls it"
					+ " because of its other annotations, as that of message listeners does. The bean was requested"
					+ " while it was being created, as in a circular reference, and Spring passes such a bean to"
					+ " post-processors without its proxy. Remove the circular reference, for example by @Lazy at one"
					+ " of its injection points", name, new LockedMethod(method, type).describe()));
		return bean;
	}

	private static boolean hasFurtherAnnotation(Method method) {
		return MergedAnnotations
			.from(method, SearchStrategy.TYPE_HIERARCHY, RepeatableContainers.none(), OF_CALLS_BY_PROXY)
			.stream()
			.map(MergedAnnotation::getType)
			.anyMatch((type) -> type.getPackage() != DistributedLock.class.getPackage()
					&& !LockAnnotations.arePresent(type));
	}

	@Override
	public int getOrder() {
		return LOWEST_PRECEDENCE;
	}

}
