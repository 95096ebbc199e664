package dev.dblock.annotation;

import java.util.List;
import java.util.stream.Stream;

import dev.dblock.annotation.name.LockedMethod;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.annotation.TransactionManagementConfigurer;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.StringUtils;

/**
 * Determines, from the bean definitions, how the transactions that methods declare are
 * handled.
 */
final class DeclaredTransactions {

	private final AnnotationTransactionAttributeSource attributes = new AnnotationTransactionAttributeSource(false);

	private final ConfigurableListableBeanFactory beanFactory;

	DeclaredTransactions(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
		this.attributes.setEmbeddedValueResolver(beanFactory::resolveEmbeddedValue);
	}

	/**
	 * Return whether a method declares a transaction, but the context has no transaction
	 * interceptor that would begin it.
	 */
	boolean isIgnored(LockedMethod locked) {
		return names(TransactionAspectSupport.class).findAny().isEmpty() && attribute(locked) != null;
	}

	/**
	 * Return the name of the transaction manager that begins the transaction of a method.
	 * @param type the type of the manager
	 * @return the name, or {@code null} if the method has no such transaction, or the
	 * manager is not known before the call
	 */
	@Nullable String managerOf(LockedMethod locked, Class<? extends TransactionManager> type) {
		TransactionAttribute attribute = attribute(locked);
		String manager = (attribute != null) ? chosen(attribute, locked.userClass()) : null;
		return (manager != null && this.beanFactory.isTypeMatch(manager, type)) ? manager : null;
	}

	private @Nullable TransactionAttribute attribute(LockedMethod locked) {
		return this.attributes.getTransactionAttribute(locked.method(), locked.userClass());
	}

	private @Nullable String chosen(TransactionAttribute attribute, Class<?> type) {
		if (names(TransactionManagementConfigurer.class).findAny().isPresent()) {
			return null;
		}
		List<String> managers = names(TransactionManager.class).toList();
		String qualifier = attribute.getQualifier();
		if (!StringUtils.hasText(qualifier)) {
			qualifier = BeanFactoryAnnotationUtils.getQualifierValue(type);
		}
		if (StringUtils.hasText(qualifier)) {
			String wanted = qualifier;
			return only(managers.stream()
				.filter((name) -> BeanFactoryAnnotationUtils.isQualifierMatch(wanted::equals, name, this.beanFactory)));
		}
		return (managers.size() > 1) ? only(managers.stream().filter(this::isPrimary)) : only(managers.stream());
	}

	// Neither beans nor products of factory beans are created for the lookup
	private Stream<String> names(Class<?> type) {
		return Stream.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory, type, true, false));
	}

	private boolean isPrimary(String name) {
		return this.beanFactory.containsBeanDefinition(name)
				&& this.beanFactory.getMergedBeanDefinition(name).isPrimary();
	}

	private static @Nullable String only(Stream<String> names) {
		List<String> found = names.toList();
		return (found.size() == 1) ? found.get(0) : null;
	}

}
