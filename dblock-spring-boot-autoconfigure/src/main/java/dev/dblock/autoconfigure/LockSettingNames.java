package dev.dblock.autoconfigure;

import java.util.regex.Pattern;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * Refuses settings of single locks that would silently apply to no lock, or to another:
 * Spring Boot drops from a name whatever is neither letter, digit, dash nor underscore,
 * takes what follows a dot for something else, and passes by what it does not know,
 * unless the name is in brackets.
 */
final class LockSettingNames implements BeanFactoryPostProcessor {

	static final String PREFIX = "dblock.locks";

	private static final Pattern UNDERSTOOD = Pattern.compile("\\.[\\w-]+\\.[^.]+|\\.?\\[[^]]+](\\.[^.]+)?");

	private final Environment environment;

	LockSettingNames(Environment environment) {
		this.environment = environment;
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		if (this.environment instanceof ConfigurableEnvironment configurable) {
			configurable.getPropertySources().forEach(LockSettingNames::check);
		}
		Binder.get(this.environment)
			.bind(PREFIX, Bindable.mapOf(String.class, DblockProperties.Lock.class),
					new NoUnboundElementsBindHandler(BindHandler.DEFAULT, new UnboundElementsSourceFilter()));
	}

	private static void check(PropertySource<?> source) {
		// Variables of the environment have no other characters to lose
		if (source instanceof EnumerablePropertySource<?> enumerable
				&& !(source instanceof SystemEnvironmentPropertySource)) {
			for (String name : enumerable.getPropertyNames()) {
				if (name.startsWith(PREFIX + ".")) {
					check(name, source);
				}
			}
		}
	}

	private static void check(String property, PropertySource<?> source) {
		String rest = property.substring(PREFIX.length());
		if (UNDERSTOOD.matcher(rest).matches()) {
			return;
		}
		int end = rest.lastIndexOf('.');
		throw new InvalidConfigurationPropertyValueException(property, source.getProperty(property), (end > 0)
				? ("The name of a lock, or a pattern, that has other characters than letters, digits, '-' and '_'"
						+ " in it is written in brackets: %1$s[%2$s]%3$s, which in YAML is the key \"[%2$s]\" under %1$s")
					.formatted(PREFIX, rest.substring(1, end), rest.substring(end))
				: "It says of no lock what is set for it: write %s.<name>.lease".formatted(PREFIX));
	}

}
