package dev.dblock.annotation;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.function.Supplier;

import dev.dblock.annotation.invocation.InvalidLockDeclarationException;
import dev.dblock.annotation.invocation.LifecycleMethods;
import dev.dblock.annotation.invocation.LockAnnotations;
import dev.dblock.annotation.invocation.LockedOperation;
import dev.dblock.annotation.invocation.LockedOperationSource;
import dev.dblock.annotation.invocation.LockedOperationSource.Declared;
import dev.dblock.annotation.name.LockedMethod;
import dev.dblock.engine.LockEngine;
import dev.dblock.settings.LockSettings;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.autoproxy.ProxyCreationContext;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.KotlinDetector;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.util.ClassUtils;

/**
 * Checks the requirements for beans with locked methods. Beans that exist when the
 * application has started, or whose class is known by then, are checked together. A class
 * that appears later is checked before its first bean is proxied.
 */
final class LockChecks {

	private static final Logger logger = LoggerFactory.getLogger(LockChecks.class);

	// Those from which Spring reads transaction attributes
	private static final AnnotationMentions TRANSACTIONAL = new AnnotationMentions(
			"org.springframework.transaction.annotation.Transactional", "jakarta.transaction.Transactional",
			"jakarta.ejb.TransactionAttribute");

	private final LockedOperationSource source;

	private final ProxyRules proxies;

	private final Supplier<DeclaredTransactions> transactions;

	private final ObjectProvider<LockEngine> engine;

	private final Set<Class<?>> sound = ConcurrentHashMap.newKeySet();

	private final Set<String> names = ConcurrentHashMap.newKeySet();

	private final Map<LockKey, Permits> permits = new ConcurrentHashMap<>();

	private volatile boolean started;

	LockChecks(LockedOperationSource source, ProxyRules proxies, Supplier<DeclaredTransactions> transactions,
			ObjectProvider<LockEngine> engine) {
		this.source = source;
		this.proxies = proxies;
		this.transactions = transactions;
		this.engine = engine;
	}

	/**
	 * Mark the application as started. From now on, each class is checked individually.
	 */
	void started() {
		this.started = true;
	}

	/**
	 * Return the lock names that were checked so far, with {@link LockSettings#ANYTHING}
	 * in place of each part that depends on the call.
	 */
	Set<String> names() {
		return this.names;
	}

	/**
	 * Return whether a class can be proxied. During start-up, a class that cannot be
	 * proxied is skipped, to be reported with all others. After start-up, it is refused.
	 * @throws InvalidLockDeclarationException if the class is refused
	 */
	boolean admits(Class<?> type) {
		if (!AnnotationMentions.OF_LOCKS.in(type)) {
			return false;
		}
		String name = ProxyCreationContext.getCurrentProxiedBeanName();
		if (!this.started) {
			return this.proxies.obstacle(name, type) == null;
		}
		Class<?> userClass = ClassUtils.getUserClass(type);
		if (!this.sound.contains(userClass)) {
			List<String> findings = findings(new InspectedBean(Objects.requireNonNullElse(name, ""), userClass, null));
			if (!findings.isEmpty()) {
				throw new InvalidLockDeclarationException(findings.stream().sorted().toList());
			}
			this.sound.add(userClass);
		}
		return true;
	}

	/**
	 * Return all problems of a bean's locked methods, if it has any. A mock locks
	 * nothing. Mockito attaches an agent when it is called, so it is called only for
	 * beans without a locking proxy.
	 */
	List<String> findings(InspectedBean bean) {
		List<Declared> declared = lockedMethods(bean.type());
		List<String> findings = new ArrayList<>();
		if (declared.isEmpty() || (bean.isUnlocked() && TestDoubles.isMock(bean.instance()))) {
			return findings;
		}
		if (this.engine.getIfAvailable() == null) {
			findings.add("%s: has locked methods, but there is no LockEngine bean to lock them with; %s"
				.formatted(bean.type().getName(), MissingEngine.remedy()));
		}
		boolean proxyable = checkProxy(bean, findings);
		boolean lockedTwice = bean.advisors().filter(DistributedLockAdvisor.class::isInstance).count() > 1;
		if (lockedTwice) {
			findings.add("%s: its methods would be locked twice, by one advisor inside of another; %s"
				.formatted(bean.type().getName(), this.proxies.remedyOfTwoAdvisors()));
		}
		for (Declared each : declared) {
			LockedMethod method = each.method();
			if (proxyable && isLeftOut(bean, method)) {
				continue;
			}
			if (proxyable) {
				checkReach(bean, method, findings);
			}
			if (proxyable && !lockedTwice) {
				checkAsync(bean, method, findings);
			}
			try {
				LockedOperation operation = each.operation().get();
				operation.names().forEach((name) -> this.names.add(name.shape()));
				checkPermits(operation, findings);
				warn(method);
			}
			catch (InvalidLockDeclarationException ex) {
				findings.addAll(ex.findings());
			}
		}
		return findings;
	}

	/**
	 * Refuse a number of permits other than that of another method with the same lock.
	 * Only one of them could run.
	 */
	private void checkPermits(LockedOperation operation, List<String> findings) {
		operation.permits().forEach((name, permits) -> {
			LockKey lock = new LockKey(operation.engine(), name);
			Permits own = new Permits(permits, operation.method().describe());
			Permits first = Objects.requireNonNullElse(this.permits.putIfAbsent(lock, own), own);
			if (first.number() != own.number()) {
				findings.add(("%s: the lock '%s' has %s, but %s for %s; declare the same number for both, or set it in"
						+ " dblock.locks")
					.formatted(own.method(), name, own.describe(), first.describe(), first.method()));
			}
		});
	}

	private void warn(LockedMethod method) {
		try {
			warnOfTransaction(method);
		}
		catch (RuntimeException ex) {
			// An invalid transaction declaration is reported by the transaction manager
			logger.debug("Could not determine the transaction of {}", method.describe(), ex);
		}
	}

	/**
	 * Warn of a transaction that a stale holder could commit: both annotations together
	 * suggest that it cannot. A reactive transaction finds its locks in the Reactor
	 * context. If the method returns a future, its lock is not in that context.
	 */
	private void warnOfTransaction(LockedMethod method) {
		if (!TRANSACTIONAL.in(method.userClass())) {
			return;
		}
		DeclaredTransactions transactions = this.transactions.get();
		if (transactions.isIgnored(method)) {
			logger.warn("{} is @Transactional, but no transaction manager handles it: it runs without a transaction,"
					+ " and the writes of a stale holder are not rejected. Spring Boot does not create a transaction"
					+ " manager for MongoDB; declare a MongoTransactionManager bean", method.describe());
			return;
		}
		String manager = CompletionStage.class.isAssignableFrom(method.method().getReturnType())
				? transactions.managerOf(method, ReactiveTransactionManager.class) : null;
		if (manager != null) {
			logger.warn("{} has a reactive transaction (of the bean '{}') that does not depend on the lock around it,"
					+ " because the method returns a future: it commits even if the lock was lost before."
					+ " Return a Mono to make the transaction depend on the lock, or use a blocking"
					+ " transaction manager", method.describe(), manager);
		}
		String blocking = KotlinDetector.isSuspendingFunction(method.method())
				? transactions.managerOf(method, PlatformTransactionManager.class) : null;
		if (blocking != null) {
			logger.warn("{} is a suspend function, but its transaction manager (the bean '{}') is not reactive: the"
					+ " transaction is committed before the work of the function begins. Use a reactive transaction"
					+ " manager, or a TransactionTemplate in the function", method.describe(), blocking);
		}
	}

	private List<Declared> lockedMethods(Class<?> type) {
		if (!AnnotationMentions.OF_LOCKS.in(type)) {
			return List.of();
		}
		try {
			return this.source.lockedMethods(type);
		}
		catch (IllegalStateException | LinkageError ex) {
			// A class that refers to an absent library can be a bean as long as that part
			// is not used
			logger.debug("Could not inspect {} for locked methods", type, ex);
			return List.of();
		}
	}

	private boolean checkProxy(InspectedBean bean, List<String> findings) {
		String obstacle = this.proxies.obstacle(bean.name(), bean.type());
		if (obstacle != null) {
			findings.add("%s: has locked methods, but the class %s, so no proxy can lock them; open the class"
				.formatted(bean.type().getName(), obstacle));
		}
		else if (bean.isUnlocked()) {
			findings.add(("%s: has locked methods, but no proxy that locks them, so they would run unlocked: the bean"
					+ " was created too early (a bean post-processor depends on it), or not by Spring; let Spring"
					+ " create it after the post-processors")
				.formatted(bean.type().getName()));
		}
		return obstacle == null;
	}

	/**
	 * Return whether a method that cannot be locked is not meant by the annotation of its
	 * class. It is either an internal helper method, or inherited from a class without
	 * the annotation, which the application may not be able to change.
	 */
	private boolean isLeftOut(InspectedBean bean, LockedMethod locked) {
		Method method = locked.method();
		boolean closed = Modifier.isFinal(method.getModifiers()) || isOfAnotherPackage(bean, locked);
		boolean meant = Modifier.isPublic(method.getModifiers())
				&& LockAnnotations.arePresent(method.getDeclaringClass());
		return closed && !meant && bean.isProxiedBySubclass(this.proxies) && !LockAnnotations.arePresent(method);
	}

	private void checkReach(InspectedBean bean, LockedMethod method, List<String> findings) {
		String reason = LifecycleMethods.contain(method, bean.callbacks()) ? LifecycleMethods.OBSTACLE
				: hidden(bean, method, bean.isProxiedBySubclass(this.proxies));
		if (reason != null) {
			findings.add(method.describe() + ": is " + reason);
		}
	}

	/**
	 * Refuse a method that is called in another thread after its lock was released. A
	 * method that returns a future is locked until that has completed.
	 */
	private static void checkAsync(InspectedBean bean, LockedMethod locked, List<String> findings) {
		boolean inside = bean.advisors()
			.dropWhile((advisor) -> !(advisor instanceof DistributedLockAdvisor))
			.anyMatch((advisor) -> isAsync(advisor, locked));
		if (inside && !Future.class.isAssignableFrom(locked.method().getReturnType())) {
			findings.add(locked.describe()
					+ ": is called asynchronously inside of its lock, which would be released before the work begins;"
					+ " remove the order of @EnableAsync, so that @Async is applied outside of the lock, or return a"
					+ " CompletableFuture");
		}
	}

	private static boolean isAsync(Advisor advisor, LockedMethod locked) {
		return advisor.getAdvice() instanceof AsyncExecutionInterceptor && advisor instanceof PointcutAdvisor pointcut
				&& pointcut.getPointcut().getMethodMatcher().matches(locked.method(), locked.userClass());
	}

	private static @Nullable String hidden(InspectedBean bean, LockedMethod locked, boolean bySubclass) {
		Method method = locked.method();
		if (Modifier.isStatic(method.getModifiers())) {
			return "static, so no proxy can lock it; make it an instance method";
		}
		if (Modifier.isPrivate(method.getModifiers()) || bySubclass && Modifier.isFinal(method.getModifiers())) {
			return "%s, so no proxy can lock it; make it neither private nor final"
				.formatted(Modifier.isPrivate(method.getModifiers()) ? "private" : "final");
		}
		return (bySubclass && isOfAnotherPackage(bean, locked))
				? "package-private in another package%s, so no proxy can lock it; make it protected or public"
					.formatted(hasSamePackageName(locked) ? " of the same name, that of another class loader" : "")
				: null;
	}

	private static boolean isOfAnotherPackage(InspectedBean bean, LockedMethod locked) {
		int visible = Modifier.PUBLIC | Modifier.PROTECTED | Modifier.PRIVATE;
		return (locked.method().getModifiers() & visible) == 0
				&& !bean.isProxiedInPackageOf(locked.method().getDeclaringClass());
	}

	private static boolean hasSamePackageName(LockedMethod locked) {
		return locked.method().getDeclaringClass().getPackageName().equals(locked.userClass().getPackageName());
	}

	private record LockKey(@Nullable LockEngine engine, String name) {
	}

	/**
	 * The permits of a lock.
	 *
	 * @param number how many it has; zero for a plain lock
	 * @param method a method that is locked by it
	 */
	private record Permits(int number, String method) {

		String describe() {
			return (this.number == 0) ? "no permits" : (this.number == 1) ? "1 permit" : this.number + " permits";
		}

	}

}
