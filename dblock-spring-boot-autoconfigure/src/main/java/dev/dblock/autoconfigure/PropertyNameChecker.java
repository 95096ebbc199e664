package dev.dblock.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Parameter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.bind.Name;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

/**
 * Rejects properties under {@code dblock} that Spring Boot would silently ignore, or
 * apply to another lock or job than the one meant. The known properties are those of
 * {@link DblockProperties} and, if there are others, those in the configuration metadata
 * of all modules on the classpath.
 * <p>
 * Environment variables are not checked, because a platform can set some that begin with
 * {@code DBLOCK_}. For system properties there is only a warning, because build tools
 * pass their own on to the tests that they start.
 */
final class PropertyNameChecker implements BeanFactoryPostProcessor {

	static final String METADATA = "META-INF/spring-configuration-metadata.json";

	private static final Logger logger = LoggerFactory.getLogger(PropertyNameChecker.class);

	private static final ConfigurationPropertyName ROOT = ConfigurationPropertyName.of("dblock");

	private static final Map<String, Class<?>> ENTRIES = Map.of("dblock.locks", DblockProperties.Lock.class,
			"dblock.jobs", DblockProperties.Job.class);

	// A setting of an entry whose name keeps all of its characters
	private static final Pattern OF_ENTRY = Pattern.compile("\\.[\\w-]+\\.[^.]+|\\.?\\[[^]]+](\\.[^.]+)?");

	private final Environment environment;

	private final Map<ConfigurationPropertyName, String> known = new LinkedHashMap<>();

	private boolean complete;

	PropertyNameChecker(Environment environment) {
		this.environment = environment;
	}

	private void addOwn(ConfigurationPropertyName prefix, Class<?> type) {
		for (Parameter parameter : BeanUtils.getResolvableConstructor(type).getParameters()) {
			ConfigurationPropertyName name = prefix.append(name(parameter));
			if (parameter.getType().isRecord()) {
				addOwn(name, parameter.getType());
			}
			else {
				this.known.put(name, parameter.getType().getName());
			}
		}
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		if (!(this.environment instanceof ConfigurableEnvironment configurable)) {
			return;
		}
		Map<String, @Nullable Object> refused = new LinkedHashMap<>();
		List<String> reasons = new ArrayList<>();
		List<String> warnings = new ArrayList<>();
		Set<String> unreachable = new LinkedHashSet<>();
		List<String> properties = new ArrayList<>();
		for (PropertySource<?> source : configurable.getPropertySources()) {
			if (source instanceof SystemEnvironmentPropertySource variables) {
				for (String variable : variables.getPropertyNames()) {
					if (isUnreachable(variable)) {
						unreachable.add(variable);
					}
				}
			}
			else if (source instanceof EnumerablePropertySource<?> enumerable) {
				boolean refuse = !source.getName().equals(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);
				for (String property : enumerable.getPropertyNames()) {
					properties.add(property);
					String reason = reasonToRefuse(property, source, beanFactory.getBeanClassLoader());
					if (reason != null && refuse && isStrict()) {
						refused.put(property, source.getProperty(property));
						reasons.add(reason);
					}
					else if (reason != null) {
						warnings.add("%s: %s".formatted(property, reason));
					}
				}
			}
		}
		if (!unreachable.isEmpty()) {
			properties.forEach((property) -> variables(property).forEach(unreachable::remove));
			unreachable.forEach(PropertyNameChecker::warnOfUnreachable);
		}
		if (!warnings.isEmpty()) {
			logger.warn("Some properties have no effect. {}", String.join("; ", warnings));
		}
		if (!refused.isEmpty()) {
			List<String> names = List.copyOf(refused.keySet());
			String others = (names.size() > 1) ? "; also refused: " + String.join(", ", names.subList(1, names.size()))
					: "";
			throw new InvalidConfigurationPropertyValueException(names.get(0), refused.get(names.get(0)),
					"%s (dblock.strict=false only logs this%s)".formatted(reasons.get(0), others));
		}
	}

	private boolean isStrict() {
		return Binder.get(this.environment).bind("dblock.strict", Boolean.class).orElse(true);
	}

	private @Nullable String reasonToRefuse(String property, PropertySource<?> source,
			@Nullable ClassLoader classLoader) {
		if (!property.regionMatches(true, 0, "dblock", 0, "dblock".length())) {
			return null;
		}
		// Most applications set no property of dblock, and start faster without the names
		if (this.known.isEmpty()) {
			addOwn(ROOT, DblockProperties.class);
		}
		ConfigurationPropertyName name = ConfigurationPropertyName.adapt(property, '.');
		if (!ROOT.isAncestorOf(name) || this.known.containsKey(name)) {
			return null;
		}
		for (Map.Entry<String, Class<?>> entry : ENTRIES.entrySet()) {
			if (property.startsWith(entry.getKey() + ".") || property.startsWith(entry.getKey() + "[")) {
				String rest = property.substring(entry.getKey().length());
				return (rest.lastIndexOf('.') > 0 || rest.matches("\\[[^]]+]"))
						? reasonToRefuse(entry.getKey(), rest, source.getProperty(property), settings(entry.getValue()))
						: "The key names no setting: write %s.<name>.<setting>. %s".formatted(entry.getKey(),
								advice(property, names()));
			}
		}
		if (this.known.entrySet()
			.stream()
			.anyMatch((each) -> hasElements(each.getValue()) && each.getKey().isAncestorOf(name))) {
			return null;
		}
		if (!this.complete) {
			addOthers(classLoader);
			return reasonToRefuse(property, source, classLoader);
		}
		return "There is no such property. " + advice(property, names());
	}

	private static boolean hasElements(String type) {
		return type.startsWith("java.util.") || type.endsWith("[]");
	}

	private static @Nullable String reasonToRefuse(String map, String rest, @Nullable Object value,
			List<String> settings) {
		int end = rest.lastIndexOf('.');
		if (!OF_ENTRY.matcher(rest).matches()) {
			return ("A name with characters other than letters, digits, '-' and '_' must be written in brackets:"
					+ " %1$s[%2$s]%3$s, which in YAML is the key \"[%2$s]\" under %1$s")
				.formatted(map, rest.substring(1, end), rest.substring(end));
		}
		String setting = rest.substring(end + 1);
		if (settings.stream().noneMatch((each) -> uniform(each).equals(uniform(setting)))) {
			return "There is no setting of that name. " + advice(setting, settings);
		}
		return "".equals(value) ? "The value is empty; set one, such as 5m for a duration, or remove the setting"
				: null;
	}

	private List<String> names() {
		return this.known.keySet().stream().map(ConfigurationPropertyName::toString).toList();
	}

	/**
	 * Return the variables that override the settings of a lock that another source has.
	 * Spring Boot looks for two forms of each name: without dashes, and with underscores
	 * in their place.
	 */
	private static List<String> variables(String property) {
		if (!property.startsWith("dblock.locks")) {
			return List.of();
		}
		ConfigurationPropertyName name = ConfigurationPropertyName.adapt(property, '.');
		if (name.getNumberOfElements() != 4) {
			return List.of();
		}
		return settings(DblockProperties.Lock.class).stream()
			.flatMap((setting) -> Stream.of(name.getElement(2, Form.UNIFORM) + "_" + setting.replace("-", ""),
					(name.getElement(2, Form.ORIGINAL) + "_" + setting).replace('-', '_')))
			.map((each) -> "DBLOCK_LOCKS_" + each.toUpperCase(Locale.ROOT))
			.toList();
	}

	private static boolean isUnreachable(String variable) {
		String prefix = "DBLOCK_LOCKS_";
		return variable.startsWith(prefix) && variable.matches(prefix + "[A-Z0-9]+_.*(?<!_)_("
				+ String.join("|", settings(DblockProperties.Lock.class)).replace("-", "_?").toUpperCase(Locale.ROOT)
				+ ")");
	}

	private static void warnOfUnreachable(String variable) {
		logger.warn(
				"The environment variable {} applies to no lock: a variable reaches only names of letters and"
						+ " digits in lower case, and names that another source has. For other names, set"
						+ " SPRING_APPLICATION_JSON='{\"dblock.locks[<name>].lease\":\"5m\"}', or use a file",
				variable);
	}

	/**
	 * Return the name that was probably meant, or all names if none is similar. A name
	 * that differs only before its last element is similar.
	 */
	private static String advice(String wrong, Collection<String> names) {
		String element = uniform(lastElement(wrong));
		Map<String, Integer> distances = new TreeMap<>();
		names.forEach((name) -> distances.put(name,
				Math.min(distance(uniform(wrong), uniform(name)), distance(element, uniform(lastElement(name))) + 1)));
		return distances.entrySet()
			.stream()
			.min(Map.Entry.comparingByValue())
			.filter((nearest) -> nearest.getValue() <= 1 + element.length() / 3)
			.map((nearest) -> "Did you mean %s?".formatted(nearest.getKey()))
			.orElseGet(() -> "Known are " + String.join(", ", distances.keySet()));
	}

	private static String lastElement(String name) {
		return name.substring(name.lastIndexOf('.') + 1);
	}

	private static String uniform(String name) {
		return name.replaceAll("[-_]", "").toLowerCase(Locale.ROOT);
	}

	/**
	 * Return how many characters have to be inserted, removed or replaced (Levenshtein).
	 */
	private static int distance(String one, String other) {
		int[] before = IntStream.rangeClosed(0, other.length()).toArray();
		for (int i = 1; i <= one.length(); i++) {
			int[] row = new int[other.length() + 1];
			row[0] = i;
			for (int j = 1; j <= other.length(); j++) {
				int replaced = before[j - 1] + ((one.charAt(i - 1) == other.charAt(j - 1)) ? 0 : 1);
				row[j] = Math.min(replaced, 1 + Math.min(before[j], row[j - 1]));
			}
			before = row;
		}
		return before[other.length()];
	}

	static String name(Parameter parameter) {
		Name name = parameter.getAnnotation(Name.class);
		return (name != null) ? name.value() : DataObjectPropertyName.toDashedForm(parameter.getName());
	}

	static List<String> settings(Class<?> entry) {
		return Stream.of(BeanUtils.getResolvableConstructor(entry).getParameters())
			.map(PropertyNameChecker::name)
			.sorted()
			.toList();
	}

	/**
	 * Add the properties of other modules. Reading all metadata can take some tens of
	 * milliseconds, so this is done only once a property is unknown.
	 */
	private void addOthers(@Nullable ClassLoader classLoader) {
		this.complete = true;
		try {
			for (Resource metadata : new PathMatchingResourcePatternResolver(classLoader)
				.getResources("classpath*:" + METADATA)) {
				String json = metadata.getContentAsString(StandardCharsets.UTF_8);
				if (json.contains("\"dblock.")
						&& JsonParserFactory.getJsonParser().parseMap(json).get("properties") instanceof List<?> all) {
					all.forEach((each) -> {
						if (each instanceof Map<?, ?> property
								&& String.valueOf(property.get("name")).startsWith("dblock.")) {
							this.known.put(ConfigurationPropertyName.adapt(String.valueOf(property.get("name")), '.'),
									String.valueOf(property.get("type")));
						}
					});
				}
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException("The configuration metadata cannot be read", ex);
		}
	}

}
