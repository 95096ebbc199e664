package dev.dblock.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * History in files: text tables next to the workers' own records, so that it can be
 * judged again.
 */
final class HistoryFolder {

	private static final String FREE = "-";

	private static final String WINDOWS = "windows";

	private static final String LEDGER = "ledger";

	private static final String PLAN = "plan";

	private final Path folder;

	HistoryFolder(Path folder) {
		this.folder = folder;
	}

	void write(List<Window> windows, List<Stretch> stretches, List<Fleet.Life> lives, List<String> stuck)
			throws IOException {
		write(WINDOWS, windows.stream()
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

	void writeLedger(List<Committed> ledger) throws IOException {
		write(LEDGER, ledger.stream().map((number) -> row(number.lock(), number.value(), number.times())));
	}

	void writePlan(Plan plan) throws IOException {
		write(PLAN, Stream.concat(Stream.of(row(plan.duration().toSeconds(), plan.whole())), plan.faults().stream()));
	}

	private static String row(Object... cells) {
		return Arrays.stream(cells).map(Object::toString).collect(Collectors.joining("\t"));
	}

	private void write(String table, Stream<String> rows) throws IOException {
		Files.write(file(table), rows.toList());
	}

	/**
	 * Verify that there are records. A run writes them when it has ended.
	 * @throws IllegalArgumentException if no run has ended in this folder
	 */
	void requireThere() {
		if (!isThere(WINDOWS)) {
			throw new IllegalArgumentException("There are no records of a run that has ended in '" + this.folder
					+ "'. --folder is to name what the run called its \"logs and records\"");
		}
	}

	History read() throws IOException {
		Map<String, Long> killed = rows("killed").collect(Collectors.toMap((row) -> row[0], (row) -> number(row[1])));
		List<Attempt> attempts = Records.read(this.folder, LockName.names())
			.stream()
			.map((attempt) -> (attempt.outcome() != Outcome.OPEN) ? attempt
					: attempt.endedAt(killed.getOrDefault(attempt.worker() + "." + attempt.life(), 0L)))
			.toList();
		List<Window> windows = rows(WINDOWS)
			.map((row) -> new Window(row[0], Integer.parseInt(row[1]), number(row[2]), number(row[3])))
			.toList();
		List<Stretch> stretches = rows("stretches")
			.map((row) -> new Stretch(row[0], row[1].equals(FREE) ? null : row[1], number(row[2]), number(row[3]),
					number(row[4])))
			.toList();
		return new History(attempts, windows, stretches, rows("stuck").map((row) -> row[0]).toList(), ledger(), plan());
	}

	/**
	 * Runs before the ledger was introduced have none.
	 */
	private @Nullable List<Committed> ledger() throws IOException {
		return !isThere(LEDGER) ? null
				: rows(LEDGER).map((row) -> new Committed(row[0], number(row[1]), Integer.parseInt(row[2]))).toList();
	}

	private @Nullable Plan plan() throws IOException {
		if (!isThere(PLAN)) {
			return null;
		}
		List<String[]> rows = rows(PLAN).toList();
		return new Plan(Duration.ofSeconds(number(rows.get(0)[0])), Boolean.parseBoolean(rows.get(0)[1]),
				rows.stream().skip(1).map((row) -> row[0]).toList());
	}

	private boolean isThere(String table) {
		return Files.exists(file(table));
	}

	private Path file(String table) {
		return this.folder.resolve(table + ".tsv");
	}

	private Stream<String[]> rows(String table) throws IOException {
		return Files.readAllLines(file(table)).stream().map((line) -> line.split("\t"));
	}

	private static long number(String cell) {
		return Long.parseLong(cell);
	}

}
