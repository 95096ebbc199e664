package dev.dblock.documentation;

import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

/**
 * The tests of the recipes run what {@code docs/recipes.md} shows.
 */
class RecipesDocumentTests {

	@Test
	void everySnippetIsRun() {
		List<String> tests = Stream.of("Modulith", "Batch", "Migration", "DynamicSchedules")
			.map("dev.dblock.recipes.%sTests"::formatted)
			.toList();
		Markdown.read(Markdown.ROOT.resolve("docs/recipes.md")).assertTakenFrom(tests, tests.size());
	}

}
