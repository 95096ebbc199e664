package dev.dblock.shedlock;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;

import dev.dblock.LockTemplate;
import dev.dblock.autoconfigure.DblockAutoConfiguration;
import dev.dblock.autoconfigure.DblockJobsAutoConfiguration;
import dev.dblock.autoconfigure.DblockProperties;
import net.javacrumbs.shedlock.core.LockProvider;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration for ShedLock with the locks of dblock, in applications without a
 * {@link LockProvider} of their own, or beside it.
 */
@AutoConfiguration(after = { DblockAutoConfiguration.class, DblockJobsAutoConfiguration.class })
@ConditionalOnBean(LockTemplate.class)
public final class DblockShedLockAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(DblockShedLockAutoConfiguration.class);

	private static final String PROVIDER = "dblockLockProvider";

	private static final String BESIDE = "dblock.shedlock.beside";

	// Bound here, because the bean of the properties would be created early
	@Bean
	@ConditionalOnClass(name = "net.javacrumbs.shedlock.spring.annotation.SchedulerLock")
	@ConditionalOnBean(LockProvider.class)
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static SchedulerLockMethods dblockSchedulerLockMethods(ConfigurableListableBeanFactory beans) {
		return new SchedulerLockMethods(beans);
	}

	/**
	 * Return those of several providers that are used where none is named.
	 */
	static List<String> candidates(ConfigurableListableBeanFactory beans, List<String> providers) {
		return (providers.size() > 1)
				? providers.stream().filter((name) -> beans.getMergedBeanDefinition(name).isPrimary()).toList()
				: providers;
	}

	private static boolean isTrue(Environment environment, String property, boolean otherwise) {
		return Binder.get(environment).bind(property, Boolean.class).orElse(otherwise);
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnProperty(name = BESIDE, havingValue = "false", matchIfMissing = true)
	static class Alone {

		@Bean(PROVIDER)
		@ConditionalOnMissingBean(LockProvider.class)
		DblockLockProvider dblockLockProvider(LockTemplate template, DblockProperties properties) {
			return new DblockLockProvider(template, properties.shedlock().keepAlive());
		}

		/**
		 * Reports that the locks are still those of a store of ShedLock, since that is
		 * easily missed.
		 */
		@Bean
		@ConditionalOnMissingBean(DblockLockProvider.class)
		SmartInitializingSingleton dblockUnusedLockProvider(ListableBeanFactory beans) {
			return () -> beans.getBeansOfType(LockProvider.class, true, false)
				.entrySet()
				.stream()
				.filter((bean) -> bean.getValue().getClass().getName().startsWith("net.javacrumbs.shedlock."))
				.forEach((bean) -> logger.warn(
						"ShedLock uses the application's bean '{}' ({}), and not dblock. Remove the bean; set {}=true"
								+ " instead while instances without dblock are still running",
						bean.getKey(), bean.getValue().getClass().getSimpleName(), BESIDE));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnProperty(BESIDE)
	static class Beside {

		private static final String OTHER = "other";

		@Bean(PROVIDER)
		@Primary
		DblockLockProvider dblockLockProvider(LockTemplate template, DblockProperties properties,
				ConfigurableListableBeanFactory beans) {
			boolean keepAlive = properties.shedlock().keepAlive();
			String other = (String) Objects.requireNonNull(beans.getBeanDefinition(PROVIDER).getAttribute(OTHER));
			LockProvider provider = beans.getBean(other, LockProvider.class);
			try {
				DblockLockProvider both = new DblockLockProvider(template, keepAlive).beside(provider);
				logger.info(
						"Each lock of ShedLock is acquired from the application's bean '{}' too. Remove the bean and {}"
								+ " when no instance without dblock is running",
						other, BESIDE);
				return both;
			}
			catch (IllegalArgumentException ex) {
				throw (provider instanceof DblockLockProvider)
						? new InvalidConfigurationPropertyValueException(BESIDE, true, ex.getMessage())
						: new InvalidConfigurationPropertyValueException("dblock.shedlock.keep-alive", keepAlive,
								ex.getMessage());
			}
		}

		/**
		 * Finds the application's provider, which no longer is the primary one.
		 */
		@Bean
		static BeanFactoryPostProcessor dblockOtherLockProvider(Environment environment) {
			return (beans) -> {
				if (!isTrue(environment, BESIDE, false)) {
					// The condition of this class knows no other word
					throw new InvalidConfigurationPropertyValueException(BESIDE, environment.getProperty(BESIDE),
							"Write false instead, or remove the property");
				}
				List<String> all = Arrays.stream(beans.getBeanNamesForType(LockProvider.class, true, false))
					.filter((name) -> !name.equals(PROVIDER))
					.toList();
				List<String> used = candidates(beans, all);
				if (used.size() != 1) {
					throw new InvalidConfigurationPropertyValueException(BESIDE, true, all.isEmpty()
							? "The application has no LockProvider of its own. Keep the bean until no instance without"
									+ " dblock is running, or remove the property"
							: "The application has several LockProviders (" + String.join(", ", all)
									+ "). Mark the one of the instances without dblock as @Primary");
				}
				String other = used.get(0);
				if (beans.containsBeanDefinition(other)) {
					beans.getBeanDefinition(other).setPrimary(false);
				}
				beans.getBeanDefinition(PROVIDER).setAttribute(OTHER, other);
			};
		}

	}

}
