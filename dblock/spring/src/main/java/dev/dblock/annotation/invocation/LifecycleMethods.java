package dev.dblock.annotation.invocation;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

import dev.dblock.annotation.name.LockedMethod;

import org.springframework.beans.factory.Aware;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;

/**
 * The initialization and destruction methods of a bean, including its injection points.
 * Spring calls them on the bean itself, before a proxy exists or without it.
 */
public final class LifecycleMethods {

	private static final List<String> ANNOTATIONS = List.of("jakarta.annotation.PostConstruct",
			"jakarta.annotation.PreDestroy", "jakarta.annotation.Resource", "jakarta.inject.Inject",
			"org.springframework.beans.factory.annotation.Autowired",
			"org.springframework.beans.factory.annotation.Value");

	/** The problem with a lifecycle method that is locked. */
	public static final String OBSTACLE = "called by Spring without the proxy that locks it; move the work into a locked"
			+ " method of another bean, or into an ApplicationRunner";

	private LifecycleMethods() {
	}

	/**
	 * Return whether Spring calls a locked method on the bean itself. An annotation that
	 * is declared on the class only does not apply to methods that the bean's definition
	 * names.
	 * @param locked the method
	 * @param callbacks the names of the methods that the bean's definition names
	 * @return whether Spring calls it on the bean itself
	 */
	public static boolean contain(LockedMethod locked, Set<String> callbacks) {
		Method method = locked.method();
		return contain(method, locked.userClass()) || callbacks.contains(method.getName())
				&& method.getParameterCount() == 0 && LockAnnotations.arePresent(method);
	}

	static boolean contain(Method method, Class<?> userClass) {
		MergedAnnotations annotations = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
		return ANNOTATIONS.stream().anyMatch(annotations::isPresent)
				|| isCallback(method, userClass, "afterPropertiesSet", InitializingBean.class)
				|| isCallback(method, userClass, "destroy", DisposableBean.class)
				|| method.getName().startsWith("set") && isOfAware(method, userClass);
	}

	private static boolean isCallback(Method method, Class<?> userClass, String name, Class<?> type) {
		return method.getName().equals(name) && method.getParameterCount() == 0 && type.isAssignableFrom(userClass);
	}

	private static boolean isOfAware(Method method, Class<?> userClass) {
		return Arrays.stream(ClassUtils.getAllInterfacesForClass(userClass))
			.anyMatch((type) -> Aware.class.isAssignableFrom(type) && ClassUtils.hasMethod(type, method));
	}

}
