package dev.dblock.documentation;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every link from one page to another leads somewhere, and every page is linked to.
 */
class LinksTests {

	@ParameterizedTest
	@MethodSource("dev.dblock.documentation.Markdown#all")
	void everyLinkWithinTheProjectLeadsSomewhere(Markdown page) {
		assertThat(page.links().stream().filter((link) -> isWithin(link) && !exists(page, link))).isEmpty();
	}

	@Test
	void everyPageOfTheDocumentationCanBeReachedFromTheReadme() {
		List<Path> linked = Markdown.all()
			.stream()
			.flatMap((page) -> page.links().stream().filter(LinksTests::isWithin).map((link) -> target(page, link)))
			.toList();
		Stream<Path> pages = Markdown.all()
			.stream()
			.map(Markdown::file)
			.filter((file) -> file.startsWith(Markdown.ROOT.resolve("docs")));
		assertThat(pages.filter((page) -> !linked.contains(page))).isEmpty();
	}

	private static boolean isWithin(String link) {
		return URI.create(link).getScheme() == null;
	}

	private static boolean exists(Markdown page, String link) {
		Path target = target(page, link);
		String fragment = URI.create(link).getFragment();
		return Files.exists(target) && (fragment == null || Markdown.read(target).anchors().contains(fragment));
	}

	private static Path target(Markdown page, String link) {
		String path = URI.create(link).getPath();
		return path.isEmpty() ? page.file() : page.file().resolveSibling(path).normalize();
	}

}
