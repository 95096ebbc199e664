package dev.dblock.simulation;

import java.io.File;
import java.io.IOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;
import java.util.jar.JarFile;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassWriter;

/**
 * Redirects clocks, pauses, random numbers, new threads and monitors to the scheduler of
 * the simulation, in dblock, in Spring's scheduler and in {@code java.util.concurrent}.
 */
public final class Agent implements ClassFileTransformer {

	private Agent() {
	}

	/**
	 * Called by the JVM before it starts the application.
	 * @param scheduler the jar with the package {@code scheduler}
	 * @param instrumentation changes classes
	 * @throws IOException if the jar cannot be read
	 * @throws UnmodifiableClassException if a class of the JDK cannot be changed
	 */
	public static void premain(String scheduler, Instrumentation instrumentation)
			throws IOException, UnmodifiableClassException {
		instrumentation.appendToBootstrapClassLoaderSearch(new JarFile(new File(scheduler)));
		instrumentation.addTransformer(new Agent(), true);
		instrumentation.retransformClasses(Stream.of(instrumentation.getAllLoadedClasses())
			.filter((type) -> isOfJdk(type.getName().replace('.', '/')) && instrumentation.isModifiableClass(type))
			.toArray(Class<?>[]::new));
	}

	static boolean isOfJdk(String className) {
		return className.startsWith("java/util/concurrent/") && !className.endsWith("/LockSupport")
				&& !className.contains("ForkJoin") && !className.contains("ThreadLocalRandom")
				|| className.startsWith("java/time/Clock") || className.startsWith(InstrumentedClass.COLLECTIONS);
	}

	/**
	 * Whether a class is changed completely. Spring's scheduler is treated as ours.
	 */
	private static boolean isOfDblock(String className) {
		return className.startsWith("dev/dblock/") && !className.startsWith("dev/dblock/simulation/")
				|| className.startsWith("org/springframework/scheduling/")
						&& !className.endsWith("/CustomizableThreadFactory") && !className.contains("Cron");
	}

	@Override
	public byte @Nullable [] transform(@Nullable ClassLoader loader, @Nullable String className,
			@Nullable Class<?> redefined, @Nullable ProtectionDomain domain, byte[] bytes) {
		if (className == null || !isOfJdk(className) && !isOfDblock(className)) {
			return null;
		}
		try {
			ClassReader reader = new ClassReader(bytes);
			ClassWriter writer = new ClassWriter(reader, 0);
			reader.accept(new InstrumentedClass(writer, isOfDblock(className)), 0);
			return writer.toByteArray();
		}
		catch (RuntimeException | Error ex) {
			System.err.println("The simulation cannot change " + className + ": " + ex);
			throw ex;
		}
	}

}
