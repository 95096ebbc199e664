package dev.dblock.interceptor;

import java.lang.reflect.Method;
import java.util.List;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * The methods by which Spring begins and ends a bean, those that it injects into
 * included. It calls them on the bean itself, before there is a proxy or past it.
 */
final class LifecycleMethods {

	private static final List<String> ANNOTATIONS = List.of("jakarta.annotation.PostConstruct",
			"jakarta.annotation.PreDestroy", "jakarta.annotation.Resource", "jakarta.inject.Inject",
			"org.springframework.beans.factory.annotation.Autowired",
			"org.springframework.beans.factory.annotation.Value");

	private LifecycleMethods() {
	}

	static boolean contain(Method method, Class<?> userClass) {
		MergedAnnotations annotations = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
		return ANNOTATIONS.stream().anyMatch(annotations::isPresent)
				|| isCallback(method, userClass, "afterPropertiesSet", InitializingBean.class)
				|| isCallback(method, userClass, "destroy", DisposableBean.class);
	}

	private static boolean isCallback(Method method, Class<?> userClass, String name, Class<?> type) {
		return method.getName().equals(name) && method.getParameterCount() == 0 && type.isAssignableFrom(userClass);
	}

}
