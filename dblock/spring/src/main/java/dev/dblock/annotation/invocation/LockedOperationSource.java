package dev.dblock.annotation.invocation;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.name.LockedMethod;
import dev.dblock.engine.LockEngine;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.core.MethodClassKey;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.MethodIntrospector.MetadataLookup;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Determines once for each method whether and how it is locked. The annotations of a
 * method take precedence over those of its class, unless they declare that both apply.
 * The annotations of an implementation take precedence over those of its interface. An
 * annotation on a class applies to the methods that can be called on an instance from
 * outside, including inherited methods, except for lifecycle methods.
 */
public final class LockedOperationSource {

	private final Map<MethodClassKey, Optional<LockDeclaration>> declarations = new ConcurrentHashMap<>();

	private final Map<MethodClassKey, Optional<LockedOperation>> operations = new ConcurrentHashMap<>();

	private final Supplier<LockedOperationParser> parser;

	/**
	 * Create a source for the operations of an application context.
	 * @param beanFactory resolves placeholders and beans in expressions
	 * @param engine acquires the locks
	 */
	public LockedOperationSource(ConfigurableListableBeanFactory beanFactory, ObjectProvider<LockEngine> engine) {
		// Lazily, since an application without locked methods starts faster without the
		// parser
		this.parser = SingletonSupplier.of(() -> new LockedOperationParser(beanFactory, engine));
	}

	/**
	 * Return the advice that runs each locked method under its lock.
	 */
	public MethodInterceptor interceptor() {
		return new LockInterceptor(this);
	}

	/**
	 * Return whether a method is locked, without parsing its declaration, so that this
	 * can be called while beans are created.
	 */
	public boolean isLocked(Method method, Class<?> targetClass) {
		return declaration(method, targetClass).isPresent();
	}

	/**
	 * Return the locked methods of a class.
	 */
	public List<Declared> lockedMethods(Class<?> userClass) {
		MetadataLookup<@Nullable LockDeclaration> lookup = (method) -> declaration(method, userClass).orElse(null);
		return MethodIntrospector.selectMethods(userClass, lookup)
			.values()
			.stream()
			.map((declaration) -> new Declared(declaration.method(), () -> parse(declaration)))
			.toList();
	}

	/**
	 * Find the declaration of a method, not yet parsed.
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
	 * Return the operation for a call.
	 * @throws InvalidLockDeclarationException if the declaration cannot work
	 */
	public Optional<LockedOperation> operation(Method method, @Nullable Class<?> targetClass) {
		MethodClassKey key = new MethodClassKey(method, targetClass);
		Optional<LockedOperation> known = this.operations.get(key);
		if (known == null) {
			known = declaration(method, targetClass).map(this::parse);
			this.operations.put(key, known);
		}
		return known;
	}

	private LockedOperation parse(LockDeclaration declaration) {
		return this.parser.get().parse(declaration);
	}

	private static @Nullable LockDeclaration find(Method called, @Nullable Class<?> targetClass) {
		if (ReflectionUtils.isObjectMethod(called)) {
			return null;
		}
		// The methods of proxies and lambdas have no annotations, and the names of their
		// classes differ between processes
		Method method = isGenerated(called.getDeclaringClass())
				? ClassUtils.getInterfaceMethodIfPossible(called, called.getDeclaringClass()) : called;
		Class<?> known = (targetClass != null && isGenerated(targetClass)) ? lockedInterface(method, targetClass)
				: targetClass;
		Method specific = specific(method, known);
		LockedMethod locked = new LockedMethod(specific, userClass(specific, known));
		LockAnnotations own = LockAnnotations.first(specific, method);
		boolean underClass = own.alsoOfClass() || !own.arePresent() && isOpenToClassAnnotation(specific)
				&& !LifecycleMethods.contain(specific, locked.userClass());
		LockAnnotations ofClass = underClass
				? LockAnnotations.first(locked.userClass(), specific.getDeclaringClass(), method.getDeclaringClass())
				: LockAnnotations.NONE;
		return (own.arePresent() || ofClass.arePresent()) ? declaration(own, ofClass, locked) : null;
	}

	private static LockDeclaration declaration(LockAnnotations own, LockAnnotations ofClass, LockedMethod method) {
		String contradiction = (own.contradiction() != null) ? own.contradiction() : ofClass.contradiction();
		if (contradiction != null) {
			contradiction = ("it is not clear which lock is meant: %s Correct that annotation: of attributes with the"
					+ " same meaning, such as name and value, set only one")
				.formatted(contradiction);
		}
		else if (own.empty() || ofClass.empty()) {
			contradiction = "there is a @DistributedLocks without a lock; add one, or remove the annotation";
		}
		else if (own.alsoOfClass() && !ofClass.arePresent()) {
			contradiction = ("alsoOfClass = true is set, but %s declares no lock; declare one there, or remove the"
					+ " attribute")
				.formatted(method.userClass().getName());
		}
		List<DistributedLock> all = Stream.concat(own.locks().stream(), ofClass.locks().stream()).toList();
		return new LockDeclaration(all, method, contradiction);
	}

	/**
	 * Return the interface whose declaration locks a proxy or a lambda: one of its
	 * interfaces, with the annotation on the method or on the interface itself. Its other
	 * interfaces may be Spring's own, without annotations.
	 */
	private static @Nullable Class<?> lockedInterface(Method method, Class<?> generated) {
		List<Class<?>> interfaces = Arrays.stream(generated.getInterfaces())
			.filter((type) -> has(type, method))
			.toList();
		Stream<Class<?>> onMethod = interfaces.stream()
			.filter((type) -> LockAnnotations.arePresent(specific(method, type)));
		return Stream.concat(onMethod, interfaces.stream().filter(LockAnnotations::arePresent))
			.findFirst()
			.orElse(null);
	}

	private static boolean has(Class<?> type, Method method) {
		return method.getDeclaringClass().isAssignableFrom(type) || ClassUtils.hasMethod(type, method);
	}

	private static Method specific(Method method, @Nullable Class<?> type) {
		// A method that several interfaces declare reaches the proxy as that of the first
		// of them
		Method declared = (type != null && type.isInterface()) ? ClassUtils.getMostSpecificMethod(method, type)
				: method;
		return AopUtils.getMostSpecificMethod(declared, type);
	}

	private static boolean isGenerated(Class<?> type) {
		return Proxy.isProxyClass(type) || type.isHidden();
	}

	/**
	 * Return whether an annotation on the class applies to a method. A non-public method
	 * that is inherited from a class without the annotation is not included: the
	 * application may not be able to change it, and it is not intended to be called from
	 * outside. Spring calls the bean factory methods during start-up.
	 */
	private static boolean isOpenToClassAnnotation(Method method) {
		int modifiers = method.getModifiers();
		boolean callable = Modifier.isPublic(modifiers)
				|| !Modifier.isPrivate(modifiers) && LockAnnotations.arePresent(method.getDeclaringClass());
		return callable && !Modifier.isStatic(modifiers) && ClassUtils.isUserLevelMethod(method)
				&& !AnnotatedElementUtils.hasAnnotation(method, Bean.class);
	}

	/**
	 * Return the class in whose name the method is locked: the target class, unless the
	 * method belongs to another implementation behind an interface.
	 */
	private static Class<?> userClass(Method specific, @Nullable Class<?> targetClass) {
		if (targetClass == null) {
			return specific.getDeclaringClass();
		}
		Class<?> userClass = ClassUtils.getUserClass(targetClass);
		return specific.getDeclaringClass().isAssignableFrom(userClass) ? userClass : specific.getDeclaringClass();
	}

	/**
	 * A locked method of a class.
	 *
	 * @param method the method
	 * @param operation parses its declaration, and throws
	 * {@link InvalidLockDeclarationException} if that cannot work
	 */
	public record Declared(LockedMethod method, Supplier<LockedOperation> operation) {
	}

}
