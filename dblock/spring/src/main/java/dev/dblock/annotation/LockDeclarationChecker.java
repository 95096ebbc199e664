package dev.dblock.annotation;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import dev.dblock.annotation.invocation.InvalidLockDeclarationException;
import dev.dblock.settings.LockSettings;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Fails start-up if locked methods would fail or run unlocked, and reports all of them
 * together. Creates no beans except the lock engine, and that only if there are locked
 * methods.
 */
final class LockDeclarationChecker implements SmartInitializingSingleton {

	private static final Logger logger = LoggerFactory.getLogger(LockDeclarationChecker.class);

	private final BeanInspector beans;

	private final LockChecks checks;

	private final ObjectProvider<LockSettings> settings;

	/**
	 * Create the checker.
	 * @param beanFactory the factory of the beans to inspect
	 * @param advisor the advisor that the beans need
	 */
	LockDeclarationChecker(ConfigurableListableBeanFactory beanFactory, DistributedLockAdvisor advisor) {
		this.beans = new BeanInspector(beanFactory);
		this.checks = advisor.checks();
		this.settings = beanFactory.getBeanProvider(LockSettings.class);
	}

	/**
	 * Check all beans of the context.
	 * @throws InvalidLockDeclarationException if locked methods cannot work
	 */
	@Override
	public void afterSingletonsInstantiated() {
		// Sorted, since neither beans nor methods have a defined order
		Set<String> findings = new TreeSet<>();
		for (InspectedBean bean : this.beans.inspect()) {
			this.checks.findings(bean)
				.forEach((finding) -> findings.add("bean '%s', %s".formatted(bean.name(), finding)));
		}
		if (!findings.isEmpty()) {
			throw new InvalidLockDeclarationException(List.copyOf(findings));
		}
		this.checks.started();
		warnOfUnused();
	}

	private void warnOfUnused() {
		LockSettings settings = this.settings.getIfAvailable(() -> LockSettings.NONE);
		List<String> unused = settings.unusedBy(this.checks.names());
		if (!unused.isEmpty()) {
			logger.warn("dblock.locks or the LockSettings bean has settings that apply to none of the methods with"
					+ " @DistributedLock: {}. Names that only a LockTemplate uses are not known here; if these are not"
					+ " among them, correct them. Names are compared without any prefix, and '*' matches any text",
					String.join(", ", unused));
		}
	}

}
