package dev.dblock.documentation;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import dev.dblock.DistributedLock;
import dev.dblock.LockHandle;
import dev.dblock.LockHandles;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.event.LockListener;
import dev.dblock.testing.SameOnEachJdk;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that {@code docs/reference.md} names exactly the public API, and
 * {@code docs/observability.md} its events.
 */
@SameOnEachJdk
class ReferenceDocumentTests {

	private static final Pattern QUOTED = Pattern.compile("`([^`]+)`");

	private static final Markdown OBSERVABILITY = Markdown.read(Markdown.ROOT.resolve("docs/observability.md"));

	private final Markdown page = Markdown.read(Markdown.ROOT.resolve("docs/reference.md"));

	@Test
	void everyAttributeOfTheAnnotationIsDocumentedWithItsDefault() {
		Map<String, List<String>> attributes = new TreeMap<>();
		List<Method> declared = List.of(DistributedLock.class.getDeclaredMethods());
		Set<String> names = declared.stream().map(Method::getName).collect(Collectors.toSet());
		for (Method attribute : declared) {
			if (names.contains(attribute.getName().replaceFirst("String$", "Seconds"))
					&& attribute.getName().endsWith("String")) {
				continue;
			}
			Object value = attribute.getDefaultValue();
			boolean isLeftOut = value.equals("") || value.equals(DistributedLock.NOT_SET);
			attributes.put(attribute.getName(), List.of(isLeftOut ? "" : value.toString()));
		}
		assertThat(rows("attribute", 2)).isEqualTo(attributes);
	}

	static Stream<Arguments> methods() {
		return Stream.of(Arguments.of(LockTemplate.class), Arguments.of(LockHandle.class),
				Arguments.of(LockOptions.class));
	}

	@ParameterizedTest
	@MethodSource("methods")
	void everyMethodIsDocumented(Class<?> type) {
		assertThat(listed("`" + type.getSimpleName() + "`")).containsExactlyInAnyOrderElementsOf(methodsOf(type));
	}

	@Test
	void handlesOfSeveralLocksHaveTheMethodsOfOneAndThoseThatAreNamed() {
		Set<String> methods = methodsOf(LockHandle.class);
		assertThat(methods.removeAll(Set.of("name", "run", "runFailed"))).isTrue();
		methods.add("handles");
		assertThat(methodsOf(LockHandles.class)).isEqualTo(methods);
		assertThat(this.page.text().replace('\n', ' ')).contains("except `name`, `run` and `runFailed`", "`handles()`",
				"`token(name)`");
	}

	@Test
	void everyMethodOfAListenerIsNamedBesideItsEvent() {
		Set<String> methods = methodsOf(LockListener.class);
		assertThat(methods.remove("publishingTo")).isTrue();
		assertThat(OBSERVABILITY.text()).contains("`LockListener.publishingTo(context)`");
		assertThat(rows(OBSERVABILITY, "event", 2).values()
			.stream()
			.map((cells) -> cells.get(0))
			.filter((method) -> !method.isEmpty())).containsExactlyInAnyOrderElementsOf(methods);
	}

	private static Set<String> methodsOf(Class<?> type) {
		Set<String> components = type.isRecord()
				? Stream.of(type.getRecordComponents()).map(RecordComponent::getName).collect(Collectors.toSet())
				: Set.of();
		Predicate<Method> isAccessor = (method) -> method.getParameterCount() == 0
				&& components.contains(method.getName());
		return Stream.of(type.getMethods())
			.filter((method) -> method.getDeclaringClass().getName().startsWith("dev.dblock"))
			.filter(isAccessor.negate().and((method) -> !isOfObject(method)))
			.map(Method::getName)
			.collect(Collectors.toCollection(TreeSet::new));
	}

	private static boolean isOfObject(Method method) {
		return Stream.of(Object.class.getMethods()).anyMatch((one) -> one.getName().equals(method.getName()));
	}

	@Test
	void everyTypeThatUsersImportIsNamed() {
		Set<String> types = new TreeSet<>();
		for (JavaClass found : new ClassFileImporter().withImportOption(new ImportOption.DoNotIncludeTests())
			.importPackages("dev.dblock")) {
			if (found.getPackageName().equals("dev.dblock") && found.isTopLevelClass()
					&& found.getModifiers().contains(JavaModifier.PUBLIC)) {
				types.add(found.getSimpleName());
			}
		}
		assertThat(types).hasSizeGreaterThan(20).contains("LockTemplate");
		assertThat(types).allSatisfy((type) -> assertThat(this.page.text()).containsPattern("`@?" + type + "[`#.(]"));
	}

	@Test
	void everyExceptionIsDocumentedWithItsType() {
		List<String> exceptions = new ArrayList<>();
		for (JavaClass found : new ClassFileImporter().withImportOption(new ImportOption.DoNotIncludeTests())
			.importPackages("dev.dblock")) {
			if (found.isAssignableTo(Throwable.class) && found.getModifiers().contains(JavaModifier.PUBLIC)) {
				Class<?> type = found.reflect();
				exceptions.add(type.getSimpleName() + "," + type.getSuperclass().getSimpleName());
			}
		}
		assertThat(items("Exceptions")).containsExactlyInAnyOrderElementsOf(exceptions);
	}

	@Test
	void everyFieldOfTheDocumentIsDocumented() throws Exception {
		Set<String> fields = new TreeSet<>();
		for (Field constant : Class.forName("dev.dblock.mongodb.request.LockDocument").getDeclaredFields()) {
			if (Modifier.isStatic(constant.getModifiers()) && constant.getType() == String.class) {
				AccessibleObject.setAccessible(new Field[] { constant }, true);
				fields.add((String) constant.get(null));
			}
		}
		assertThat(listed("Lock document")).containsExactlyInAnyOrderElementsOf(fields);
	}

	/**
	 * The names, without the brackets after them, that the items of a list begin with.
	 */
	private List<String> listed(String heading) {
		return items(heading).stream().flatMap((names) -> Stream.of(names.split(","))).toList();
	}

	private List<String> items(String heading) {
		List<String[]> items = this.page.text()
			.lines()
			.dropWhile((line) -> !line.equals("## " + heading))
			.skip(1)
			.takeWhile((line) -> !line.startsWith("## "))
			.filter((line) -> line.startsWith("- "))
			.map((line) -> line.split(": ", 2))
			.toList();
		assertThat(items).isNotEmpty().allSatisfy((item) -> assertThat(item).as(item[0]).hasSize(2));
		return items.stream().map((item) -> quoted(item[0]).replaceAll("\\([^)]*\\)", "")).toList();
	}

	/**
	 * The names in the first column, without the brackets after them, and the code in the
	 * columns after it.
	 */
	private Map<String, List<String>> rows(String title, int columns) {
		return rows(this.page, title, columns);
	}

	private static Map<String, List<String>> rows(Markdown page, String title, int columns) {
		Map<String, List<String>> rows = new TreeMap<>();
		page.text()
			.lines()
			.dropWhile((line) -> !line.startsWith("| " + title + " |"))
			.skip(2)
			.takeWhile((line) -> line.startsWith("|"))
			.map((line) -> line.substring(1).split("\\|"))
			.forEach((cells) -> {
				assertThat(cells[cells.length - 1]).as(cells[0]).isNotBlank();
				assertThat(rows.put(quoted(cells[0]).replaceAll("\\([^)]*\\)", ""),
						Arrays.stream(cells).skip(1).limit(columns - 1L).map(ReferenceDocumentTests::quoted).toList()))
					.as(cells[0])
					.isNull();
			});
		return rows;
	}

	private static String quoted(String cell) {
		return QUOTED.matcher(cell).results().map((MatchResult one) -> one.group(1)).collect(Collectors.joining(","));
	}

}
