package dev.dblock.autoconfigure;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.NamedBeanHolder;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.util.StringUtils;

/**
 * Databases of an application, by the names of their factories.
 */
final class MongoDatabases {

	static final String PROPERTY = "dblock.mongodb.database-factory";

	private final ConfigurableListableBeanFactory beanFactory;

	MongoDatabases(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * Return the default database of the locks.
	 * @param configured the name of its factory, or {@code null} if it is not configured
	 * @throws InvalidSetupException if the database cannot be determined
	 */
	NamedBeanHolder<MongoDatabaseFactory> usual(@Nullable String configured) {
		if (StringUtils.hasText(configured)) {
			return named(configured, "%s=%s".formatted(PROPERTY, configured));
		}
		try {
			return this.beanFactory.resolveNamedBean(MongoDatabaseFactory.class);
		}
		catch (NoUniqueBeanDefinitionException ex) {
			throw undetermined(candidates(ex), ex);
		}
		catch (NoSuchBeanDefinitionException ex) {
			throw undetermined(names(), ex);
		}
	}

	private static InvalidSetupException undetermined(List<String> candidates, Exception cause) {
		return candidates.isEmpty() ? new InvalidSetupException(
				"dblock keeps its locks in the application's MongoDB, but there is no MongoDatabaseFactory bean",
				"Set spring.mongodb.uri (with Spring Boot 3 spring.data.mongodb.uri) and leave Spring Boot's"
						+ " MongoDB auto-configuration on, define a MongoDatabaseFactory or a LockRepository bean, or"
						+ " set dblock.mode=local for locks that apply only inside this process, or"
						+ " dblock.mode=none to run without locks",
				cause)
				: new InvalidSetupException(
						"dblock keeps its locks in one database, but there are several MongoDatabaseFactory beans and"
								+ " none of them is primary: " + String.join(", ", candidates),
						"Name the one whose database keeps the locks (dblock.mongodb.database-factory), or mark it as"
								+ " @Primary, or define a LockRepository bean: new MongoLockRepository(factory,"
								+ " settings)",
						cause);
	}

	private static List<String> candidates(NoUniqueBeanDefinitionException ex) {
		Collection<String> names = ex.getBeanNamesFound();
		return (names != null) ? List.copyOf(names) : List.of();
	}

	/**
	 * Return a database by the name or an alias of its factory.
	 * @param name the name or alias
	 * @param source the source of the name
	 * @return the factory with the name of its bean
	 * @throws InvalidSetupException if there is no factory of that name
	 */
	NamedBeanHolder<MongoDatabaseFactory> named(String name, String source) {
		if (!this.beanFactory.containsBean(name) || !this.beanFactory.isTypeMatch(name, MongoDatabaseFactory.class)) {
			List<String> known = names();
			throw new InvalidSetupException(
					source + " is not the name of a MongoDatabaseFactory bean; "
							+ (known.isEmpty() ? "there are none" : "there are: " + String.join(", ", known)),
					"Use the name of one of them, or omit it to keep the locks in the default database", null);
		}
		return new NamedBeanHolder<>(canonical(name), this.beanFactory.getBean(name, MongoDatabaseFactory.class));
	}

	// For an alias, getAliases also returns the name of the bean
	private String canonical(String name) {
		List<String> others = List.of(this.beanFactory.getAliases(name));
		return others.isEmpty() ? name : names().stream().filter(others::contains).findFirst().orElse(name);
	}

	/**
	 * Return whether the default repository uses the factory of that name.
	 */
	boolean isUsual(String name) {
		return Arrays.asList(this.beanFactory.getDependenciesForBean(DblockAutoConfiguration.REPOSITORY))
			.contains(name);
	}

	private List<String> names() {
		return Arrays
			.asList(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory, MongoDatabaseFactory.class));
	}

}
