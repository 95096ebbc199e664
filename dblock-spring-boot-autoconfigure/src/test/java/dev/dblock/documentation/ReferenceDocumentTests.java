package dev.dblock.documentation;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
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
import dev.dblock.testing.SameOnEachJdk;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that {@code docs/reference.md} names exactly the public API.
 */
@SameOnEachJdk
class ReferenceDocumentTests {

	private static final Pattern QUOTED = Pattern.compile("`([^`]+)`");

	private final Markdown page = Markdown.read(Markdown.ROOT.resolve("docs/reference.md"));

	@Test
	void everyAttributeOfTheAnnotationIsDocumentedWithItsDefault() {
		List<String> attributes = new ArrayList<>();
		List<Method> declared = List.of(DistributedLock.class.getDeclaredMethods());
		Set<String> names = declared.stream().map(Method::getName).collect(Collectors.toSet());
		for (Method attribute : declared) {
			String base = attribute.getName().replaceFirst("String$", "");
			if (attribute.getName().endsWith("String") && (names.contains(base + "Seconds") || names.contains(base))) {
				continue;
			}
			Object value = attribute.getDefaultValue();
			boolean isLeftOut = value.equals("") || value.equals(DistributedLock.NOT_SET);
			attributes.add(isLeftOut ? attribute.getName() : attribute.getName() + "," + value);
		}
		assertThat(items("`@DistributedLock`")).containsExactlyInAnyOrderElementsOf(attributes);
	}

	@ParameterizedTest
	@ValueSource(classes = { LockTemplate.class, LockHandle.class, LockOptions.class })
	void everyMethodIsDocumented(Class<?> type) {
		assertThat(listed("`" + type.getSimpleName() + "`")).containsExactlyInAnyOrderElementsOf(methodsOf(type));
	}

	@Test
	void handlesOfSeveralLocksHaveTheMethodsOfOneAndThoseThatAreNamed() {
		Set<String> methods = methodsOf(LockHandle.class);
		assertThat(methods.removeAll(Set.of("name", "permit", "runFailed"))).isTrue();
		methods.add("handles");
		assertThat(methodsOf(LockHandles.class)).isEqualTo(methods);
		assertThat(this.page.text().replace('\n', ' ')).contains("except `name`, `permit` and `runFailed`",
				"`handles()`", "`token(name)`");
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

	private static String quoted(String cell) {
		return QUOTED.matcher(cell).results().map((MatchResult one) -> one.group(1)).collect(Collectors.joining(","));
	}

}
