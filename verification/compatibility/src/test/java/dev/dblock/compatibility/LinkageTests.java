package dev.dblock.compatibility;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.EnableDistributedLocks;
import dev.dblock.autoconfigure.DblockAutoConfiguration;
import dev.dblock.console.DblockConsoleAutoConfiguration;
import dev.dblock.job.JobRun;
import dev.dblock.mongodb.MongoLockRepository;
import dev.dblock.test.autoconfigure.AutoConfigureDblock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.FieldVisitor;
import org.springframework.asm.Handle;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;
import org.springframework.boot.SpringBootVersion;
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
	 * What two Spring Boots have under different names. They are loaded only where what
	 * they name exists.
	 */
	private static final Set<String> SEAMS = Set.of("dev.dblock.actuate.LockHealthIndicator",
			"dev.dblock.actuate.DblockActuateAutoConfiguration$Boot4Health");

	/**
	 * For Spring Integration 7 alone, and loaded only there.
	 */
	private static final Set<String> FOR_A_LATER_INTEGRATION = Set.of("dev.dblock.integration.DblockLockRegistry",
			"dev.dblock.integration.IntegrationDistributedLock");

	/**
	 * What each application with the starter has, and its tests; and Spring Integration,
	 * which the tests of this module have. All else is optional, and used only where it
	 * exists.
	 */
	private static final List<String> ALWAYS_THERE = List.of("dev.dblock.", "com.mongodb.", "org.assertj.", "org.bson.",
			"org.slf4j.", "org.springframework.aop.", "org.springframework.aot.", "org.springframework.beans.",
			"org.springframework.boot.", "org.springframework.context.", "org.springframework.core.",
			"org.springframework.dao.", "org.springframework.data.", "org.springframework.expression.",
			"org.springframework.integration.", "org.springframework.scheduling.", "org.springframework.test.",
			"org.springframework.transaction.", "org.springframework.util.");

	/**
	 * Optional though its name begins as that of something that is always there.
	 */
	private static final String REACTIVE_DRIVER = "com.mongodb.reactivestreams.";

	/**
	 * What is found by its name in Spring Boot 3, because it is called otherwise in
	 * Spring Boot 4.
	 */
	private static final List<String> FOUND_BY_NAME = List.of("org.springframework.boot.actuate.health.HealthIndicator",
			"org.springframework.boot.actuate.health.Health$Builder");

	private final ClassLoader classLoader = getClass().getClassLoader();

	private final Set<String> missing = new LinkedHashSet<>();

	private final Map<String, @Nullable Members> known = new HashMap<>();

	private int checked;

	@Test
	void everythingThatIsCalledIsThere() throws IOException {
		List<String> published = Stream
			.of(DistributedLock.class, MongoLockRepository.class, EnableDistributedLocks.class, JobRun.class,
					DblockAutoConfiguration.class, AutoConfigureDblock.class, DblockConsoleAutoConfiguration.class)
			.map(LinkageTests::home)
			.toList();
		Set<String> seen = new LinkedHashSet<>();
		for (Resource resource : new PathMatchingResourcePatternResolver()
			.getResources("classpath*:dev/dblock/**/*.class")) {
			String url = resource.getURL().toString();
			if (published.stream().filter(url::contains).peek(seen::add).findAny().isPresent()) {
				try (InputStream stream = resource.getInputStream()) {
					new ClassReader(stream).accept(new Calls(), ClassReader.SKIP_DEBUG);
				}
			}
		}
		assertThat(seen).hasSize(7);
		assertThat(this.checked).as("references that were looked at").isGreaterThan(1000);
		assertThat(this.missing).isEmpty();
	}

	private static String home(Class<?> type) {
		return type.getProtectionDomain().getCodeSource().getLocation().toString();
	}

	@Test
	void whatIsFoundByNameIsKeptInANativeImage() {
		RuntimeHints hints = new RuntimeHints();
		SpringFactoriesLoader.forResourceLocation("META-INF/spring/aot.factories", this.classLoader)
			.load(RuntimeHintsRegistrar.class)
			.stream()
			.filter((registrar) -> registrar.getClass().getName().startsWith("dev.dblock."))
			.forEach((registrar) -> registrar.registerHints(hints, this.classLoader));
		List<String> present = FOUND_BY_NAME.stream().filter(this::isPresent).toList();
		assertThat(present).hasSize(SpringBootVersion.getVersion().startsWith("3.") ? FOUND_BY_NAME.size() : 0)
			.allSatisfy((name) -> assertThat(RuntimeHintsPredicates.reflection().onType(TypeReference.of(name)))
				.accepts(hints));
	}

	private void check(String caller, String owner, String name, String descriptor) {
		this.checked++;
		String type = Type.getObjectType(owner).getClassName();
		// The JDK's own are what the compiler was told to compile for
		if (SEAMS.contains(caller) || type.startsWith("java.") || type.endsWith("[]")) {
			return;
		}
		Members members = members(owner);
		if (members == null) {
			checkAbsent(caller, type);
		}
		else if (!has(members, name + descriptor, name.equals("<init>"))) {
			this.missing.add("%s refers to %s.%s%s".formatted(caller, type, name, descriptor));
		}
	}

	private void checkParent(String caller, String parent) {
		this.checked++;
		String type = Type.getObjectType(parent).getClassName();
		if (!SEAMS.contains(caller) && !type.startsWith("java.") && members(parent) == null) {
			checkAbsent(caller, type);
		}
	}

	private void checkAbsent(String caller, String type) {
		if (ALWAYS_THERE.stream().anyMatch(type::startsWith) && !type.startsWith(REACTIVE_DRIVER)
				&& !FOR_A_LATER_INTEGRATION.contains(caller)) {
			this.missing.add("%s refers to %s".formatted(caller, type));
		}
	}

	private boolean has(Members members, String member, boolean constructor) {
		if (members.visible().contains(member) || constructor) {
			return members.visible().contains(member);
		}
		return members.parents()
			.stream()
			.map(this::members)
			.anyMatch((parent) -> parent != null && has(parent, member, false));
	}

	/**
	 * What a class declares, read and not loaded: much of it is about libraries that are
	 * optional.
	 */
	private @Nullable Members members(String type) {
		if (!this.known.containsKey(type)) {
			this.known.put(type, read(type));
		}
		return this.known.get(type);
	}

	private @Nullable Members read(String type) {
		try (InputStream stream = this.classLoader.getResourceAsStream(type + ".class")) {
			if (stream == null) {
				return null;
			}
			Declarations declarations = new Declarations(type.startsWith("dev/dblock/"));
			new ClassReader(stream).accept(declarations, ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG);
			return new Members(declarations.visible, declarations.parents);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private boolean isPresent(String type) {
		return this.classLoader.getResource(type.replace('.', '/') + ".class") != null;
	}

	/**
	 * What others can use of a class, and what it inherits from.
	 */
	private record Members(Set<String> visible, List<String> parents) {
	}

	/**
	 * Reads what a class declares.
	 */
	private static final class Declarations extends ClassVisitor {

		private final Set<String> visible = new HashSet<>();

		private final List<String> parents = new ArrayList<>();

		private final int modifiers;

		/**
		 * Our own classes may see each other's; whether a protected member is used by a
		 * subclass alone, the compiler has looked after.
		 */
		Declarations(boolean own) {
			super(SpringAsmInfo.ASM_VERSION);
			this.modifiers = own ? -1 : Opcodes.ACC_PUBLIC | Opcodes.ACC_PROTECTED;
		}

		@Override
		public void visit(int version, int access, String name, String signature, String superName,
				String[] interfaces) {
			if (superName != null) {
				this.parents.add(superName);
			}
			this.parents.addAll(List.of(interfaces));
		}

		@Override
		public @Nullable FieldVisitor visitField(int access, String name, String descriptor, String signature,
				Object value) {
			add(access, name + descriptor);
			return null;
		}

		@Override
		public @Nullable MethodVisitor visitMethod(int access, String name, String descriptor, String signature,
				String[] exceptions) {
			add(access, name + descriptor);
			return null;
		}

		private void add(int access, String member) {
			if (this.modifiers == -1 || (access & this.modifiers) != 0) {
				this.visible.add(member);
			}
		}

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
			Stream.concat(Stream.ofNullable(superName), Stream.of(interfaces))
				.forEach((parent) -> checkParent(this.caller, parent));
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
