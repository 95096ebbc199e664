package dev.dblock.documentation;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.api.RLock;

import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What {@code docs/migration.md} shows of the libraries that are measured here compiles
 * with them.
 */
class PeerSnippetsTests {

	private static final List<String> LIBRARIES = List.of("// ShedLock", "// Redisson");

	private static final String IMPORTS = Stream.of(RLock.class, SchedulerLock.class, Scheduled.class, TimeUnit.class)
		.map((type) -> "import " + type.getName() + ";\n")
		.collect(Collectors.joining());

	private static final Markdown PAGE = Markdown.read(Markdown.ROOT.resolve("docs/migration.md"));

	@TempDir
	Path classes;

	static List<String> snippets() {
		return PAGE.blocks("java peer").stream().filter((block) -> LIBRARIES.contains(library(block))).toList();
	}

	private static String library(String block) {
		return block.lines().findFirst().orElseThrow();
	}

	@Test
	void eachLibraryIsShown() {
		assertThat(snippets()).extracting(PeerSnippetsTests::library).containsAll(LIBRARIES);
	}

	@ParameterizedTest
	@MethodSource("snippets")
	void everySnippetCompiles(String snippet) {
		new SnippetCompiler(IMPORTS, PeerContext.class, this.classes).assertCompiles(PAGE, snippet);
	}

}
