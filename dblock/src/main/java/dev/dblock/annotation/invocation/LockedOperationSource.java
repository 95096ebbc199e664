package dev.dblock.annotation.invocation;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import dev.dblock.LastingTypes;
import dev.dblock.LockEngine;
import dev.dblock.LockTemplates;
import dev.dblock.annotation.name.LockNameContexts;
import dev.dblock.annotation.name.LockNameParser;
import dev.dblock.annotation.name.LockedMethod;
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
import org.springframework.util.StringValueResolver;
import org.springframework.util.function.SingletonSupplier;

/**
 * Finds out once for each method whether and how it is locked. A method's annotations
 * come before its class's (unless they say that both count), an implementation's before
 * its interface's; one on a class applies to the methods that others can call on an
 * instance, inherited ones included, except for those that begin and end it.
 */
public final class LockedOperationSource {

	private final Map<MethodClassKey, Optional<LockDeclaration>> declarations = new ConcurrentHashMap<>();

	private final Map<MethodClassKey, Optional<LockedOperation>> operations = new ConcurrentHashMap<>();

	private final Supplier<LockedOperationParser> parser;

	/**
	 * A source of operations.
	 * @param parser what makes them, asked for with the first
	 */
	LockedOperationSource(Supplier<LockedOperationParser> parser) {
		this.parser = parser;
	}

	/**
	 * A source of the operations of an application context.
	 * @param beanFactory resolves placeholders and beans in expressions
	 * @param engine acquires the locks
	 * @return a source
	 */
	public static LockedOperationSource of(ConfigurableListableBeanFactory beanFactory,
			ObjectProvider<LockEngine> engine) {
		// Without locked methods an application has no use for the parser, and starts
		// sooner without it
		return new LockedOperationSource(SingletonSupplier.of(() -> createParser(beanFactory, engine)));
	}

	private static LockedOperationParser createParser(ConfigurableListableBeanFactory beanFactory,
			ObjectProvider<LockEngine> engine) {
		StringValueResolver placeholders = beanFactory::resolveEmbeddedValue;
		LockDatabases databases = new LockDatabases(engine, beanFactory.getBeanProvider(LockTemplates.class),
				placeholders);
		InvocationStrategies strategies = new InvocationStrategies(new LastingTypes(beanFactory.getBeanClassLoader()));
		return new LockedOperationParser(new LockNameParser(placeholders, new LockNameContexts(beanFactory)),
				new LockDurations(placeholders), strategies, databases::named);
	}

	/**
	 * Find the declaration of a method without looking into it, so that it can be asked
	 * for while beans are created.
	 */
	public Optional<LockDeclaration> declaration(Method method, @Nullable Class<?> targetClass) {
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
	public Collection<LockDeclaration> declarations(Class<?> userClass) {
		MetadataLookup<@Nullable LockDeclaration> lookup = (method) -> declaration(method, userClass).orElse(null);
		return MethodIntrospector.selectMethods(userClass, lookup).values();
	}

	/**
	 * The operation for a call.
	 * @throws InvalidLockDeclarationException when the declaration cannot work
	 */
	public Optional<LockedOperation> operation(Method method, @Nullable Class<?> targetClass) {
		MethodClassKey key = new MethodClassKey(method, targetClass);
		Optional<LockedOperation> known = this.operations.get(key);
		if (known == null) {
			known = declaration(method, targetClass).map(this::check);
			this.operations.put(key, known);
		}
		return known;
	}

	/**
	 * Look into a declaration.
	 * @throws InvalidLockDeclarationException when it cannot work
	 */
	public LockedOperation check(LockDeclaration declaration) {
		return this.parser.get().parse(declaration);
	}

	private static @Nullable LockDeclaration find(Method called, @Nullable Class<?> targetClass) {
		if (ReflectionUtils.isObjectMethod(called)) {
			return null;
		}
		// Proxies and lambdas have methods without a word, in classes that are called
		// otherwise in each process
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
			contradiction = ("it is not clear which lock is meant: %s Correct that annotation: of attributes that mean the"
					+ " same, as name and value do, give only one")
				.formatted(contradiction);
		}
		else if (own.empty() || ofClass.empty()) {
			contradiction = "there is a @DistributedLocks without a lock in it; name one, or leave it out";
		}
		else if (own.alsoOfClass() && !ofClass.arePresent()) {
			contradiction = ("alsoOfClass = true is given, but no lock is declared on %s; declare one there, or leave it"
					+ " out")
				.formatted(method.userClass().getName());
		}
		List<DistributedLock> all = Stream.concat(own.locks().stream(), ofClass.locks().stream()).toList();
		return new LockDeclaration(all, method, contradiction);
	}

	/**
	 * The interface in whose name a proxy or a lambda is locked: one of those that it was
	 * made for, with the annotation on the method or on all of it. The others may be
	 * Spring's own, of which no annotation speaks.
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
		// What several interfaces declare, a proxy takes for a call of the first of them
		Method declared = (type != null && type.isInterface()) ? ClassUtils.getMostSpecificMethod(method, type)
				: method;
		return AopUtils.getMostSpecificMethod(declared, type);
	}

	private static boolean isGenerated(Class<?> type) {
		return Proxy.isProxyClass(type) || type.isHidden();
	}

	/**
	 * What a class inherits from one without the annotation is not its own to change, and
	 * if it is not public, it was not meant to be called from outside either. Spring
	 * calls the methods that make beans while it starts.
	 */
	private static boolean isOpenToClassAnnotation(Method method) {
		int modifiers = method.getModifiers();
		boolean callable = Modifier.isPublic(modifiers)
				|| !Modifier.isPrivate(modifiers) && LockAnnotations.arePresent(method.getDeclaringClass());
		return callable && !Modifier.isStatic(modifiers) && ClassUtils.isUserLevelMethod(method)
				&& !AnnotatedElementUtils.hasAnnotation(method, Bean.class);
	}

	/**
	 * The class in whose name the method is locked: that of the target, unless another
	 * implementation stands behind an interface.
	 */
	private static Class<?> userClass(Method specific, @Nullable Class<?> targetClass) {
		if (targetClass == null) {
			return specific.getDeclaringClass();
		}
		Class<?> userClass = ClassUtils.getUserClass(targetClass);
		return specific.getDeclaringClass().isAssignableFrom(userClass) ? userClass : specific.getDeclaringClass();
	}

}
