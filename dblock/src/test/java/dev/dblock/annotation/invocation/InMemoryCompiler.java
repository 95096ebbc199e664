package dev.dblock.annotation.invocation;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compiles sources with options that the build does not use.
 */
public final class InMemoryCompiler {

	private final Path folder;

	private final List<String> options;

	private final List<Path> sources = new ArrayList<>();

	public InMemoryCompiler(Path folder, String... options) {
		this.folder = folder;
		this.options = List.of(options);
	}

	public InMemoryCompiler source(String className, String text) throws IOException {
		Path source = this.folder.resolve("src/" + className.replace('.', '/') + ".java");
		Files.createDirectories(source.getParent());
		this.sources.add(Files.writeString(source, text));
		return this;
	}

	public Class<?> load(String className) throws Exception {
		return load(className, getClass().getClassLoader());
	}

	/**
	 * Load a class by a class loader of its own.
	 * @param parent the class loader of the classes that it uses
	 */
	public Class<?> load(String className, ClassLoader parent) throws Exception {
		Path classes = Files.createDirectories(this.folder.resolve("classes"));
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
			List<String> arguments = new ArrayList<>(this.options);
			arguments.addAll(List.of("-proc:none", "-d", classes.toString(), "-cp", classPath(parent)));
			assertThat(compiler
				.getTask(null, files, null, arguments, null, files.getJavaFileObjectsFromPaths(this.sources))
				.call()).isTrue();
		}
		return Class.forName(className, true, new URLClassLoader(new URL[] { classes.toUri().toURL() }, parent));
	}

	private static String classPath(ClassLoader parent) {
		String own = System.getProperty("java.class.path");
		return (parent instanceof URLClassLoader loader) ? loader.getURLs()[0].getPath() + File.pathSeparator + own
				: own;
	}

}
