package dev.dblock.documentation;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every link from one page to another leads somewhere, and every page and every picture
 * can be reached by links from the README.
 */
class LinksTests {

	@ParameterizedTest
	@MethodSource("dev.dblock.documentation.Markdown#all")
	void everyLinkWithinTheProjectLeadsSomewhere(Markdown page) {
		assertThat(page.links().stream().filter((link) -> isWithin(link) && !exists(page, link))).isEmpty();
	}

	@Test
	void everyPageAndPictureOfTheDocumentationCanBeReachedFromTheReadme() throws Exception {
		try (Stream<Path> files = Files.walk(Markdown.ROOT.resolve("docs"))) {
			Set<Path> reached = reachedFrom(Markdown.ROOT.resolve("README.md"));
			assertThat(files.filter(Files::isRegularFile).filter((file) -> !reached.contains(file))).isEmpty();
		}
	}

	@Test
	void pageThatOnlyItselfLinksToIsNotReached() {
		Path alone = Markdown.ROOT.resolve("docs/concepts.md");
		assertThat(reachedFrom(alone)).contains(Markdown.ROOT.resolve("docs/operations.md"),
				Markdown.ROOT.resolve("docs/images/lease.svg"));
		assertThat(targets(new Markdown(alone, "[here](#lease), [here too](concepts.md#lease)"))).containsOnly(alone);
	}

	@Test
	void picturesOfHtmlAreLinksToo() {
		Markdown page = new Markdown(Markdown.ROOT.resolve("README.md"), """
				<source media="(prefers-color-scheme: dark)" srcset="docs/a.png, docs/b.png 2x">
				<img alt="c" src="docs/c.png">, but not `<img src="docs/d.png">`
				""");
		assertThat(page.links()).containsExactly("docs/a.png", "docs/b.png", "docs/c.png");
	}

	/**
	 * Returns the pages that can be reached from a page by links. A page that only
	 * unreachable pages link to is not among them.
	 */
	private static Set<Path> reachedFrom(Path start) {
		Set<Path> reached = new HashSet<>(Set.of(start));
		Deque<Path> next = new ArrayDeque<>(List.of(start));
		while (!next.isEmpty()) {
			Path file = next.remove();
			if (file.toString().endsWith(".md") && Files.exists(file)) {
				targets(Markdown.read(file)).filter(reached::add).forEach(next::add);
			}
		}
		return reached;
	}

	private static Stream<Path> targets(Markdown page) {
		return page.links().stream().filter(LinksTests::isWithin).map((link) -> target(page, link));
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
