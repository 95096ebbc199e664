package dev.dblock.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A history in files: beside the workers' own records three tables of text, so that it
 * can be judged again.
 */
final class HistoryFolder {

	private static final String FREE = "-";

	private final Path folder;

	HistoryFolder(Path folder) {
		this.folder = folder;
	}

	void write(List<Window> windows, List<Stretch> stretches, List<Fleet.Life> lives, List<String> stuck)
			throws IOException {
		write("windows", windows.stream()
			.map((window) -> row(window.kind(), window.worker(), window.beginNanos(), window.endNanos())));
		write("stretches",
				stretches.stream()
					.map((stretch) -> row(stretch.name(), (stretch.holder() != null) ? stretch.holder() : FREE,
							stretch.token(), stretch.firstNanos(), stretch.lastNanos())));
		write("killed",
				lives.stream()
					.filter((life) -> life.endNanos() > 0)
					.map((life) -> row(life.worker() + "." + life.life(), life.endNanos())));
		write("stuck", stuck.stream());
	}

	private static String row(Object... cells) {
		return Arrays.stream(cells).map(Object::toString).collect(Collectors.joining("\t"));
	}

	private void write(String table, Stream<String> rows) throws IOException {
		Files.write(this.folder.resolve(table + ".tsv"), rows.toList());
	}

	History read() throws IOException {
		Map<String, Long> killed = rows("killed").collect(Collectors.toMap((row) -> row[0], (row) -> number(row[1])));
		List<Attempt> attempts = Records.read(this.folder, LockName.names())
			.stream()
			.map((attempt) -> (attempt.outcome() != Outcome.OPEN) ? attempt
					: attempt.endedAt(killed.getOrDefault(attempt.worker() + "." + attempt.life(), 0L)))
			.toList();
		List<Window> windows = rows("windows")
			.map((row) -> new Window(row[0], Integer.parseInt(row[1]), number(row[2]), number(row[3])))
			.toList();
		List<Stretch> stretches = rows("stretches")
			.map((row) -> new Stretch(row[0], row[1].equals(FREE) ? null : row[1], number(row[2]), number(row[3]),
					number(row[4])))
			.toList();
		return new History(attempts, windows, stretches, rows("stuck").map((row) -> row[0]).toList());
	}

	private Stream<String[]> rows(String table) throws IOException {
		return Files.readAllLines(this.folder.resolve(table + ".tsv")).stream().map((line) -> line.split("\t"));
	}

	private static long number(String cell) {
		return Long.parseLong(cell);
	}

}
