package dev.dblock.interceptor;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

import dev.dblock.DistributedLock;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.MethodClassKey;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.MethodIntrospector.MetadataLookup;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds out once for each method whether and how it is locked. A method's annotation
 * comes before its class's, an implementation's before its interface's; one on a class
 * applies to the public methods that an instance has, inherited ones included, except for
 * those that begin and end it.
 */
final class LockOperationSource {

	private final Map<MethodClassKey, Optional<LockDeclaration>> declarations = new ConcurrentHashMap<>();

	private final Map<MethodClassKey, Optional<LockOperation>> operations = new ConcurrentHashMap<>();

	private final LockOperationParser parser;

	LockOperationSource(LockOperationParser parser) {
		this.parser = parser;
	}

	/**
	 * Find the declaration of a method without looking into it, so that it can be asked
	 * for while beans are created.
	 */
	Optional<LockDeclaration> declaration(Method method, @Nullable Class<?> targetClass) {
		MethodClassKey key = new MethodClassKey(method, targetClass);
		Optional<LockDeclaration> known = this.declarations.get(key);
		if (known == null) {
			known = Optional.ofNullable(find(method, targetClass));
			this.declarations.put(key, known);
		}
		return known;
	}

	/**
	 * All declarations of a class.
	 */
	Collection<LockDeclaration> declarations(Class<?> userClass) {
		MetadataLookup<@Nullable LockDeclaration> lookup = (method) -> declaration(method, userClass).orElse(null);
		return MethodIntrospector.selectMethods(userClass, lookup).values();
	}

	/**
	 * The operation for a call.
	 * @throws InvalidLockDeclarationException when the declaration cannot work
	 */
	Optional<LockOperation> operation(Method method, @Nullable Class<?> targetClass) {
		MethodClassKey key = new MethodClassKey(method, targetClass);
		Optional<LockOperation> known = this.operations.get(key);
		if (known == null) {
			known = declaration(method, targetClass).map(this.parser::parse);
			this.operations.put(key, known);
		}
		return known;
	}

	/**
	 * Look into a declaration.
	 * @throws InvalidLockDeclarationException when it cannot work
	 */
	LockOperation check(LockDeclaration declaration) {
		return this.parser.parse(declaration);
	}

	private static @Nullable LockDeclaration find(Method called, @Nullable Class<?> targetClass) {
		if (ReflectionUtils.isObjectMethod(called)) {
			return null;
		}
		// Proxies and lambdas have methods without a word, in classes that are called
		// otherwise in each process
		Method method = isGenerated(called.getDeclaringClass())
				? ClassUtils.getInterfaceMethodIfPossible(called, called.getDeclaringClass()) : called;
		Class<?> known = (targetClass != null && !isGenerated(targetClass)) ? targetClass : null;
		Method specific = AopUtils.getMostSpecificMethod(method, known);
		LockedMethod locked = new LockedMethod(specific, userClass(specific, known));
		DistributedLock annotation = first(specific, method);
		if (annotation == null && isOpenToClassAnnotation(specific)
				&& !LifecycleMethods.contain(specific, locked.userClass())) {
			annotation = first(locked.userClass(), specific.getDeclaringClass(), method.getDeclaringClass());
		}
		return (annotation != null) ? new LockDeclaration(annotation, locked) : null;
	}

	private static boolean isGenerated(Class<?> type) {
		return Proxy.isProxyClass(type) || type.isHidden();
	}

	private static boolean isOpenToClassAnnotation(Method method) {
		return Modifier.isPublic(method.getModifiers()) && !Modifier.isStatic(method.getModifiers())
				&& ClassUtils.isUserLevelMethod(method);
	}

	private static @Nullable DistributedLock first(AnnotatedElement... candidates) {
		for (AnnotatedElement candidate : candidates) {
			DistributedLock annotation = AnnotatedElementUtils.findMergedAnnotation(candidate, DistributedLock.class);
			if (annotation != null) {
				return annotation;
			}
		}
		return null;
	}

	/**
	 * The class in whose name the method is locked: that of the target, unless a proxy or
	 * another implementation stands behind an interface.
	 */
	private static Class<?> userClass(Method specific, @Nullable Class<?> targetClass) {
		if (targetClass == null) {
			return specific.getDeclaringClass();
		}
		Class<?> userClass = ClassUtils.getUserClass(targetClass);
		return specific.getDeclaringClass().isAssignableFrom(userClass) ? userClass : specific.getDeclaringClass();
	}

}
