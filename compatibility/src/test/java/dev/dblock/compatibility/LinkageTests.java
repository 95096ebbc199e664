package dev.dblock.compatibility;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.Handle;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.core.io.support.SpringFactoriesLoader;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whether all that dblock's classes call is there in the libraries that this module's
 * Spring Boot brings, with the same signature: the classes were compiled against those of
 * another.
 */
class LinkageTests {

	/**
	 * What two Spring Boots have under different names. The first two are loaded only
	 * where what they name exists, the last one looks before it calls.
	 */
	private static final Set<String> SEAMS = Set.of("dev.dblock.actuate.LockHealthIndicator",
			"dev.dblock.autoconfigure.DblockHealthAutoConfiguration$Boot4", "dev.dblock.mongodb.FactoryClient");

	/**
	 * What each application with the starter has. All else is optional, and used only
	 * where it exists.
	 */
	private static final List<String> ALWAYS_THERE = List.of("java.", "dev.dblock.", "com.mongodb.", "org.bson.",
			"org.slf4j.", "org.springframework.aop.", "org.springframework.aot.", "org.springframework.beans.",
			"org.springframework.boot.", "org.springframework.context.", "org.springframework.core.",
			"org.springframework.dao.", "org.springframework.data.", "org.springframework.expression.",
			"org.springframework.scheduling.", "org.springframework.transaction.", "org.springframework.util.");

	/**
	 * What is found by its name, because it is called otherwise elsewhere.
	 */
	private static final List<String> FOUND_BY_NAME = List.of("org.springframework.boot.actuate.health.HealthIndicator",
			"org.springframework.boot.actuate.health.Health$Builder",
			"org.springframework.boot.autoconfigure.mongo.MongoClientSettingsBuilderCustomizer",
			"org.springframework.boot.mongodb.autoconfigure.MongoClientSettingsBuilderCustomizer");

	private final ClassLoader classLoader = getClass().getClassLoader();

	private final Set<String> missing = new LinkedHashSet<>();

	private int checked;

	@Test
	void everythingThatIsCalledIsThere() throws IOException {
		String dblock = DistributedLock.class.getProtectionDomain().getCodeSource().getLocation().toString();
		for (Resource resource : new PathMatchingResourcePatternResolver()
			.getResources("classpath*:dev/dblock/**/*.class")) {
			if (resource.getURL().toString().contains(dblock)) {
				try (InputStream stream = resource.getInputStream()) {
					new ClassReader(stream).accept(new Calls(), ClassReader.SKIP_DEBUG);
				}
			}
		}
		assertThat(this.checked).as("references that were looked at").isGreaterThan(1000);
		assertThat(this.missing).isEmpty();
	}

	@Test
	void whatIsFoundByNameIsKeptInANativeImage() {
		RuntimeHints hints = new RuntimeHints();
		SpringFactoriesLoader.forResourceLocation("META-INF/spring/aot.factories", this.classLoader)
			.load(RuntimeHintsRegistrar.class)
			.stream()
			.filter((registrar) -> registrar.getClass().getName().startsWith("dev.dblock."))
			.forEach((registrar) -> registrar.registerHints(hints, this.classLoader));
		List<String> present = FOUND_BY_NAME.stream().filter((name) -> load(name) != null).toList();
		assertThat(present).isNotEmpty()
			.allSatisfy((name) -> assertThat(RuntimeHintsPredicates.reflection().onType(TypeReference.of(name)))
				.accepts(hints));
	}

	private void check(String caller, String owner, String name, String descriptor) {
		this.checked++;
		Type type = Type.getObjectType(owner);
		if (SEAMS.contains(caller) || type.getSort() == Type.ARRAY
				|| type.getClassName().equals("java.lang.invoke.MethodHandle")) {
			return;
		}
		Class<?> found = load(type.getClassName());
		if (found == null) {
			if (ALWAYS_THERE.stream().anyMatch(type.getClassName()::startsWith)) {
				this.missing.add("%s refers to %s".formatted(caller, type.getClassName()));
			}
		}
		else if (hierarchy(found).noneMatch((candidate) -> has(candidate, found, name, descriptor))) {
			this.missing.add("%s refers to %s.%s%s".formatted(caller, type.getClassName(), name, descriptor));
		}
	}

	private @Nullable Class<?> load(String name) {
		try {
			return Class.forName(name, false, this.classLoader);
		}
		catch (ClassNotFoundException | NoClassDefFoundError ex) {
			return null;
		}
	}

	private static Stream<Class<?>> hierarchy(@Nullable Class<?> type) {
		if (type == null) {
			return Stream.empty();
		}
		Stream<Class<?>> inherited = Stream.concat(Stream.of(type.getInterfaces()).flatMap(LinkageTests::hierarchy),
				hierarchy(type.isInterface() ? Object.class : type.getSuperclass()));
		return Stream.concat(Stream.of(type), inherited);
	}

	private static boolean has(Class<?> candidate, Class<?> owner, String name, String descriptor) {
		List<Executable> executables = new ArrayList<>(List.of(candidate.getDeclaredConstructors()));
		executables.addAll(List.of(candidate.getDeclaredMethods()));
		if (name.equals("<init>") && candidate != owner) {
			return false;
		}
		return executables.stream()
			.anyMatch((executable) -> descriptor.equals(descriptor(executable)) && isNamed(executable, name)
					&& isVisible(executable))
				|| Stream.of(candidate.getDeclaredFields())
					.anyMatch((field) -> descriptor.equals(descriptor(field)) && field.getName().equals(name)
							&& isVisible(field));
	}

	private static boolean isNamed(Executable executable, String name) {
		return (executable instanceof Constructor) ? name.equals("<init>") : name.equals(executable.getName());
	}

	private static String descriptor(Executable executable) {
		return (executable instanceof Method method) ? Type.getMethodDescriptor(method)
				: Type.getConstructorDescriptor((Constructor<?>) executable);
	}

	private static String descriptor(Field field) {
		return Type.getDescriptor(field.getType());
	}

	/**
	 * Our own classes may see each other's; whether a protected member is used by a
	 * subclass alone, the compiler has looked after.
	 */
	private static boolean isVisible(Member member) {
		return Modifier.isPublic(member.getModifiers()) || Modifier.isProtected(member.getModifiers())
				|| member.getDeclaringClass().getName().startsWith("dev.dblock.");
	}

	/**
	 * Reads what a class calls.
	 */
	private final class Calls extends ClassVisitor {

		private String caller = "";

		Calls() {
			super(SpringAsmInfo.ASM_VERSION);
		}

		@Override
		public void visit(int version, int access, String name, String signature, String superName,
				String[] interfaces) {
			this.caller = Type.getObjectType(name).getClassName();
		}

		@Override
		public MethodVisitor visitMethod(int access, String method, String of, String signature, String[] exceptions) {
			return new MethodVisitor(SpringAsmInfo.ASM_VERSION) {

				@Override
				public void visitMethodInsn(int opcode, String owner, String name, String descriptor,
						boolean isInterface) {
					check(Calls.this.caller, owner, name, descriptor);
				}

				@Override
				public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
					check(Calls.this.caller, owner, name, descriptor);
				}

				@Override
				public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap,
						Object... arguments) {
					for (Object argument : arguments) {
						if (argument instanceof Handle handle) {
							check(Calls.this.caller, handle.getOwner(), handle.getName(), handle.getDesc());
						}
					}
				}

			};
		}

	}

}
