package dev.dblock.documentation;

import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every block of Java in the documentation compiles, be it members of a class or
 * statements of a method, with what {@link DocumentedContext} has. Blocks of other
 * libraries say more than "java" behind their fence.
 */
class SnippetsTests {

	private static final String IMPORTS = """
			package dev.dblock.documentation;
			import java.time.*;
			import java.util.*;
			import com.mongodb.client.*;
			import dev.dblock.*;
			import dev.dblock.core.ReactiveTransactions;
			import org.springframework.context.event.EventListener;
			import org.springframework.scheduling.annotation.Scheduled;
			import org.springframework.transaction.annotation.Transactional;
			import org.springframework.transaction.reactive.TransactionalOperator;
			import reactor.core.publisher.Mono;
			import static com.mongodb.client.model.Filters.*;
			import static com.mongodb.client.model.Updates.*;
			import static java.time.Duration.*;
			""";

	/** Their snippets are cut out of code that is compiled, and run, elsewhere. */
	private static final Set<String> COMPARED_ELSEWHERE = Set.of("docs/methods.md", "docs/testing.md",
			"docs/several-locks.md", "docs/spring-integration.md", "docs/configuration.md");

	private static final String LEFT_OUT = "throw new UnsupportedOperationException();";

	@TempDir
	Path classes;

	static Stream<Arguments> snippets() {
		return Markdown.all()
			.stream()
			.filter((page) -> !COMPARED_ELSEWHERE.contains(page.toString()))
			.flatMap((page) -> page.blocks("java").stream().map((block) -> Arguments.of(page, block)));
	}

	@ParameterizedTest
	@MethodSource("snippets")
	void everySnippetCompiles(Markdown page, String snippet) {
		String code = snippet.replace("…", LEFT_OUT);
		List<String> asMembers = compile("abstract class Snippet extends DocumentedContext {\n" + code + "\n}");
		if (asMembers.isEmpty()) {
			return;
		}
		List<String> asStatements = compile("abstract class Snippet extends DocumentedContext {\n"
				+ "void snippet() throws Throwable {\n" + code + "\n}\n}");
		assertThat(asStatements)
			.as(() -> "%s, where neither members nor statements compile:%n%s%nas members: %s".formatted(page, snippet,
					asMembers))
			.isEmpty();
	}

	private List<String> compile(String body) {
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
		List<String> options = List.of("-d", this.classes.toString(), "-proc:none", "-parameters", "-classpath",
				System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
		compiler.getTask(null, null, problems, options, null, List.of(new Source(IMPORTS + body))).call();
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
