package dev.dblock.autoconfigure;

import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * Rejects settings of single locks that would silently apply to no lock, or to another
 * lock. Unless a name is in brackets, Spring Boot drops all characters except letters,
 * digits, dashes and underscores, treats the text after a dot as another element, and
 * ignores unknown settings. Logs a warning for environment variables that apply to no
 * lock.
 */
final class LockSettingNames implements BeanFactoryPostProcessor {

	static final String PREFIX = "dblock.locks";

	private static final Logger logger = LoggerFactory.getLogger(LockSettingNames.class);

	private static final String VARIABLE = "DBLOCK_LOCKS_";

	// dblock, locks, the name of the lock, the option
	private static final int ELEMENTS = 4;

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
		try {
			Binder.get(this.environment)
				.bind(PREFIX, Bindable.mapOf(String.class, DblockProperties.Lock.class),
						new NoUnboundElementsBindHandler(BindHandler.DEFAULT, new UnboundElementsSourceFilter()));
		}
		catch (BindException ex) {
			if (ex.getCause() instanceof UnboundConfigurationPropertiesException unbound) {
				throw refusal(unbound.getUnboundProperties().iterator().next());
			}
			throw ex;
		}
	}

	private static InvalidConfigurationPropertyValueException refusal(ConfigurationProperty unknown) {
		return new InvalidConfigurationPropertyValueException(unknown.getName().toString(), unknown.getValue(),
				isOption(unknown.getName())
						? "The value is empty; set one, such as 5m for a duration, or remove the setting"
						: "A lock has no setting of that name; its settings are %s"
							.formatted(String.join(", ", options())));
	}

	// Spring Boot binds an empty value to nothing, so that its name seems to be unknown
	private static boolean isOption(ConfigurationPropertyName name) {
		return name.getNumberOfElements() == ELEMENTS && options().stream()
			.anyMatch((option) -> option.replace("-", "").equals(name.getLastElement(Form.UNIFORM)));
	}

	private static void check(PropertySource<?> source) {
		if (source instanceof SystemEnvironmentPropertySource environment) {
			Stream.of(environment.getPropertyNames()).forEach(LockSettingNames::checkVariable);
		}
		else if (source instanceof EnumerablePropertySource<?> enumerable) {
			for (String name : enumerable.getPropertyNames()) {
				if (name.startsWith(PREFIX + ".")) {
					check(name, source);
				}
			}
		}
	}

	// Not rejected, because Kubernetes also sets such variables for a service named
	// dblock-locks
	private static void checkVariable(String name) {
		if (!name.startsWith(VARIABLE)) {
			return;
		}
		String options = String.join("|", options()).replace("-", "_?");
		if (!name.matches("(?i)" + VARIABLE + "[A-Z0-9]+_(" + options + ")")) {
			logger.warn("The environment variable {} applies to no lock. Variables have the form {}<NAME>_<OPTION> and"
					+ " reach only names of letters and digits in lower case; the options are {}. For other names,"
					+ " set SPRING_APPLICATION_JSON='{\"{}[<name>].lease\":\"5m\"}', or use a file", name, VARIABLE,
					String.join(", ", options()).replace("-", "").toUpperCase(Locale.ROOT), PREFIX);
		}
	}

	private static List<String> options() {
		return Stream.of(BeanUtils.getPropertyDescriptors(DblockProperties.Lock.class))
			.filter((property) -> property.getWriteMethod() != null)
			.map((property) -> property.getName().replaceAll("(?=[A-Z])", "-").toLowerCase(Locale.ROOT))
			.toList();
	}

	private static void check(String property, PropertySource<?> source) {
		String rest = property.substring(PREFIX.length());
		if (UNDERSTOOD.matcher(rest).matches()) {
			return;
		}
		int end = rest.lastIndexOf('.');
		throw new InvalidConfigurationPropertyValueException(property, source.getProperty(property), (end > 0)
				? ("The name of a lock, or a pattern, with characters other than letters, digits, '-' and '_' must be"
						+ " written in brackets: %1$s[%2$s]%3$s, which in YAML is the key \"[%2$s]\" under %1$s")
					.formatted(PREFIX, rest.substring(1, end), rest.substring(end))
				: "The key names no setting of a lock: write %s.<name>.lease".formatted(PREFIX));
	}

}
