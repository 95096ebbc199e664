package dev.dblock.documentation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A page of the documentation.
 *
 * @param file where it is
 * @param text its text
 */
record Markdown(Path file, String text) {

	/** The folder of the whole project. */
	static final Path ROOT = root(Path.of("").toAbsolutePath());

	private static final Pattern FENCE = Pattern.compile("(?ms)^```([^\\n]*)\\n(.*?)^```$");

	private static final Pattern LINK = Pattern.compile("!?\\[[^\\]]*\\]\\(([^)\\s]+)\\)");

	private static final Pattern PICTURE = Pattern.compile("\\bsrc(?:set)?=\"([^\"]+)\"");

	private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.+)$");

	private static final Pattern INLINE_CODE = Pattern.compile("`[^`\\n]+`");

	private static Path root(Path folder) {
		return Files.isDirectory(folder.resolve("docs")) ? folder : root(folder.getParent());
	}

	static List<Markdown> all() {
		try (Stream<Path> files = Files.walk(ROOT, 3)) {
			return files.filter((file) -> file.toString().endsWith(".md"))
				.filter((file) -> Stream.of("target", ".git", "node_modules")
					.noneMatch((folder) -> ROOT.relativize(file).startsWith(folder)
							|| ROOT.relativize(file).toString().contains("/" + folder + "/")))
				.sorted()
				.map(Markdown::read)
				.toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static Markdown read(Path file) {
		try {
			return new Markdown(file, Files.readString(file));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Blocks of code.
	 * @param info the text after the opening fence, in full
	 */
	List<String> blocks(String info) {
		return FENCE.matcher(this.text)
			.results()
			.filter((block) -> block.group(1).strip().equals(info))
			.map((block) -> block.group(2))
			.toList();
	}

	/**
	 * Returns whether a test that compiles it contains the Java of the page.
	 * @param test the class of the test
	 * @param snippets how many there are
	 */
	void assertTakenFrom(Class<?> test, int snippets) {
		assertTakenFrom(List.of(test.getName()), snippets);
	}

	/**
	 * Returns whether tests contain the Java of the page.
	 * @param tests the names of their classes
	 * @param snippets how many there are
	 */
	void assertTakenFrom(List<String> tests, int snippets) {
		String compiled = tests.stream()
			.map((test) -> Path.of("src/test/java", test.replace('.', '/') + ".java"))
			.map((source) -> unindented(read(source).text()))
			.collect(Collectors.joining());
		assertThat(blocks("java")).hasSize(snippets)
			.allSatisfy((snippet) -> assertThat(compiled).contains(unindented(snippet)));
	}

	private static String unindented(String text) {
		return text.replaceAll("(?m)^\\s+", "");
	}

	/**
	 * Returns the targets of the links and images of the text, those of HTML included;
	 * code has none.
	 */
	List<String> links() {
		String text = withoutCode();
		Stream<String> links = LINK.matcher(text).results().map((link) -> link.group(1));
		return Stream.concat(links, PICTURE.matcher(text).results().flatMap((picture) -> candidates(picture.group(1))))
			.toList();
	}

	/**
	 * The addresses of a picture, each of which may have its width or density behind it.
	 */
	private static Stream<String> candidates(String pictures) {
		return Stream.of(pictures.split(",")).map((candidate) -> candidate.strip().split("\\s")[0]);
	}

	/**
	 * Returns the anchors of the headings, as GitHub derives them.
	 */
	Set<String> anchors() {
		return HEADING.matcher(FENCE.matcher(this.text).replaceAll(""))
			.results()
			.map((heading) -> anchor(heading))
			.collect(Collectors.toSet());
	}

	private static String anchor(MatchResult heading) {
		return heading.group(1)
			.strip()
			.toLowerCase(Locale.ROOT)
			.replaceAll("[^\\p{L}\\p{N}\\- _]", "")
			.replace(' ', '-');
	}

	/**
	 * Returns the inline code of the text.
	 */
	Stream<String> quoted() {
		return INLINE_CODE.matcher(FENCE.matcher(this.text).replaceAll(""))
			.results()
			.map((code) -> code.group().substring(1, code.group().length() - 1));
	}

	private String withoutCode() {
		return INLINE_CODE.matcher(FENCE.matcher(this.text).replaceAll("")).replaceAll("");
	}

	@Override
	public String toString() {
		return ROOT.relativize(this.file).toString();
	}

}
