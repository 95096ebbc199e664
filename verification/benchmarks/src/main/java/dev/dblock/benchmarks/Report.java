package dev.dblock.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import org.bson.Document;
import org.bson.json.JsonMode;
import org.bson.json.JsonWriterSettings;

/**
 * Results table of a run, as Markdown and as JSON.
 *
 * @param environment the environment of the run
 * @param lines the lines
 */
record Report(Map<String, String> environment, List<Line> lines) {

	private static final String HEAD = """
			| case | what | dblock | compared with | | ratio (quartiles) | must reach | reached |
			|---|---|---|---|---|---|---|---|
			""";

	String toMarkdown() {
		StringBuilder text = new StringBuilder(HEAD);
		for (Line line : this.lines) {
			text.append(row(line)).append('\n');
		}
		text.append('\n');
		this.lines.stream()
			.filter((line) -> !line.note().isEmpty())
			.forEach((line) -> text.append("- %s, %s: %s\n".formatted(line.id(), line.what(), line.note())));
		text.append('\n');
		this.environment.forEach((key, value) -> text.append("- %s: %s\n".formatted(key, value)));
		return text.toString();
	}

	private static String row(Line line) {
		Quantity value = line.value();
		Quantity reference = line.reference();
		Spread ratio = line.ratio();
		List<String> cells = List.of(line.id(), line.what(), (value != null) ? value.toString() : "",
				(line.against() != null) ? line.against() : "", (reference != null) ? reference.toString() : "",
				(ratio != null) ? ratio(ratio) : "", line.boundText(), line.verdict().text());
		return cells.stream().collect(Collectors.joining(" | ", "| ", " |"));
	}

	private static String ratio(Spread ratio) {
		if (ratio.count() == 1) {
			return Unit.RATIO.format(ratio.median());
		}
		return "%s (%s to %s)".formatted(Unit.RATIO.format(ratio.median()), Unit.RATIO.format(ratio.lower()),
				Unit.RATIO.format(ratio.upper()));
	}

	String toJson() {
		Document document = new Document("environment", new Document(Map.copyOf(this.environment)))
			.append("reached", isReached())
			.append("lines", this.lines.stream().map(Line::toDocument).toList());
		return document.toJson(JsonWriterSettings.builder().outputMode(JsonMode.RELAXED).indent(true).build());
	}

	boolean isReached() {
		return this.lines.stream().noneMatch(Line::isShort);
	}

	/**
	 * Write {@code results.md} and {@code results.json}.
	 */
	void writeTo(Path folder) {
		try {
			Files.createDirectories(folder);
			Files.writeString(folder.resolve("results.md"), toMarkdown());
			Files.writeString(folder.resolve("results.json"), toJson() + "\n");
		}
		catch (IOException ex) {
			throw new UncheckedIOException("The results could not be written to " + folder, ex);
		}
	}

}
