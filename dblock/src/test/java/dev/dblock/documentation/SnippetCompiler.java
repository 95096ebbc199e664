package dev.dblock.documentation;

import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compiles a block of Java in the documentation: its imports, then members of a class or
 * statements of a method, with the members of {@link DocumentedContext}, or of a class
 * that has more.
 */
final class SnippetCompiler {

	private static final String LEFT_OUT = "throw new UnsupportedOperationException();";

	private final String head;

	private final String context;

	private final Path classes;

	/**
	 * A compiler.
	 * @param imports the imports that the block does without
	 * @param context the class, of this package, whose members it uses without declaring
	 * them
	 * @param classes the folder for the compiled classes
	 */
	SnippetCompiler(String imports, Class<? extends DocumentedContext> context, Path classes) {
		this.head = "package dev.dblock.documentation;\n" + imports;
		this.context = context.getSimpleName();
		this.classes = classes;
	}

	void assertCompiles(Markdown page, String snippet) {
		String imports = lines(snippet, true);
		String code = lines(snippet, false).replace("…", LEFT_OUT);
		List<String> asMembers = compile(
				imports + "abstract class Snippet extends " + this.context + " {\n" + code + "\n}");
		if (asMembers.isEmpty()) {
			return;
		}
		List<String> asStatements = compile(imports + "abstract class Snippet extends " + this.context
				+ " {\nvoid snippet() throws Throwable {\n" + code + "\n}\n}");
		assertThat(asStatements)
			.as(() -> "%s, where neither members nor statements compile:%n%s%nas members: %s".formatted(page, snippet,
					asMembers))
			.isEmpty();
	}

	private static String lines(String snippet, boolean imports) {
		return snippet.lines()
			.filter((line) -> line.startsWith("import ") == imports)
			.map((line) -> line + "\n")
			.collect(Collectors.joining());
	}

	private List<String> compile(String body) {
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
		List<String> options = List.of("-d", this.classes.toString(), "-proc:none", "-parameters", "-classpath",
				System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
		compiler.getTask(null, null, problems, options, null, List.of(new Source(this.head + body))).call();
		List<String> errors = new ArrayList<>();
		for (Diagnostic<?> problem : problems.getDiagnostics()) {
			if (problem.getKind() == Diagnostic.Kind.ERROR) {
				errors.add(problem.getMessage(Locale.ROOT));
			}
		}
		return errors;
	}

	private static final class Source extends SimpleJavaFileObject {

		private final String code;

		Source(String code) {
			super(URI.create("string:///dev/dblock/documentation/Snippet.java"), Kind.SOURCE);
			this.code = code;
		}

		@Override
		public CharSequence getCharContent(boolean ignoreEncodingErrors) {
			return this.code;
		}

	}

}
