package dev.dblock.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import dev.dblock.DistributedLock;
import dev.dblock.LockOperations;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.AnnotationUtils;

/**
 * Stops the start of an application that has locked methods which would fail, or run
 * unlocked, and reports all of them together. Creates no bean but the template.
 */
public final class LockDeclarationChecker implements SmartInitializingSingleton {

	private static final Logger logger = LoggerFactory.getLogger(LockDeclarationChecker.class);

	private final BeanInspector beans;

	private final LockOperationSource source;

	private final ProxyRules proxies;

	private final ObjectProvider<LockOperations> template;

	/**
	 * Create the checker.
	 * @param beanFactory the beans to look at
	 * @param advisor what should be around them
	 * @param template what takes the locks
	 */
	public LockDeclarationChecker(ConfigurableListableBeanFactory beanFactory, DistributedLockAdvisor advisor,
			ObjectProvider<LockOperations> template) {
		this.beans = new BeanInspector(beanFactory);
		this.source = advisor.source();
		this.proxies = advisor.proxies();
		this.template = template;
	}

	/**
	 * Check all beans of the context.
	 * @throws InvalidLockDeclarationException when locked methods cannot work
	 */
	@Override
	public void afterSingletonsInstantiated() {
		Set<String> findings = new LinkedHashSet<>();
		for (InspectedBean bean : this.beans.inspect()) {
			Collection<LockDeclaration> declarations = declarations(bean);
			if (!declarations.isEmpty()) {
				check(bean, declarations)
					.forEach((finding) -> findings.add("bean '%s', %s".formatted(bean.name(), finding)));
			}
		}
		if (!findings.isEmpty()) {
			throw new InvalidLockDeclarationException(List.copyOf(findings));
		}
	}

	private Collection<LockDeclaration> declarations(InspectedBean bean) {
		if (!AnnotationUtils.isCandidateClass(bean.type(), DistributedLock.class)) {
			return List.of();
		}
		try {
			return this.source.declarations(bean.type());
		}
		catch (IllegalStateException | LinkageError ex) {
			// A class that refers to an absent library; it can be a bean as long as
			// nobody uses that part
			logger.debug("Did not look for locked methods in {}", bean.type(), ex);
			return List.of();
		}
	}

	private List<String> check(InspectedBean bean, Collection<LockDeclaration> declarations) {
		List<String> findings = new ArrayList<>();
		if (this.template.getIfAvailable() == null) {
			findings.add(bean.type().getName() + ": there are locked methods, but no LockOperations bean to lock them"
					+ " with; configure MongoDB, or set dblock.enabled=false to run them unlocked");
		}
		boolean proxyable = checkProxy(bean, findings);
		for (LockDeclaration declaration : declarations) {
			if (proxyable) {
				checkReach(bean, declaration.method(), findings);
			}
			try {
				this.source.check(declaration);
			}
			catch (InvalidLockDeclarationException ex) {
				findings.addAll(ex.findings());
			}
		}
		return findings;
	}

	private boolean checkProxy(InspectedBean bean, List<String> findings) {
		String obstacle = this.proxies.obstacle(bean.type());
		if (obstacle != null) {
			findings.add("%s: has locked methods, but the class %s, so that no proxy can lock them; open the class"
				.formatted(bean.type().getName(), obstacle));
		}
		else if (bean.isUnlocked()) {
			findings.add(("%s: has locked methods, but no proxy that locks them, so that they would run unlocked: the"
					+ " bean was created too early (a bean post-processor needs it), or by hand; have Spring create it"
					+ " after the post-processors")
				.formatted(bean.type().getName()));
		}
		return obstacle == null;
	}

	private void checkReach(InspectedBean bean, LockedMethod method, List<String> findings) {
		String reason = hidden(method.method(), bean.isProxiedBySubclass(this.proxies));
		if (reason != null) {
			findings.add("%s: is %s, so that no proxy can lock it; make it %s".formatted(method.describe(), reason,
					"static".equals(reason) ? "a method of the bean" : "neither private nor final"));
		}
	}

	private static @Nullable String hidden(Method method, boolean bySubclass) {
		if (Modifier.isStatic(method.getModifiers())) {
			return "static";
		}
		if (Modifier.isPrivate(method.getModifiers())) {
			return "private";
		}
		return (bySubclass && Modifier.isFinal(method.getModifiers())) ? "final" : null;
	}

}
