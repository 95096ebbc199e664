package dev.dblock.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.dblock.testing.LibrarySources;
import org.jspecify.annotations.Nullable;

/**
 * Verifies the judge. dblock is broken in one way after the other, and each time the
 * judge has to detect the broken rule. In the same trials, unmodified dblock has to pass.
 */
final class Mutants {

	private final Path mongod;

	private final Path toxiproxy;

	private final Path folder;

	private final Options options;

	private final List<String> verdicts = new ArrayList<>();

	Mutants(Path mongod, Path toxiproxy, Path folder, Options options) {
		this.mongod = mongod;
		this.toxiproxy = toxiproxy;
		this.folder = folder;
		this.options = options;
	}

	/**
	 * Run all mutants, except those that need an adjustable clock if there is none.
	 * @return whether each verdict was correct
	 */
	boolean run() throws Exception {
		String only = this.options.text("only", "");
		boolean right = true;
		for (Mutant mutant : Mutant.all()) {
			if (mutant.name().contains(only) && canRun(mutant.trial(), mutant.name())) {
				List<String> broken = broken(mutant);
				boolean seen = broken.stream()
					.anyMatch((what) -> mutant.expected().stream().anyMatch(what::startsWith));
				right &= seen;
				print(seen ? "seen" : "NOT SEEN", mutant.name(), broken);
			}
		}
		for (Trial trial : Trial.values()) {
			if (trial.name().contains(this.options.text("trial", "")) && canRun(trial, "unbroken, " + trial)) {
				List<String> broken = broken(trial, System.getProperty("java.class.path"), "unbroken-" + trial);
				right &= broken.isEmpty();
				print(broken.isEmpty() ? "passed" : "REFUSED", "unbroken, " + trial, broken);
			}
		}
		this.verdicts.forEach(System.out::println);
		return right;
	}

	private boolean canRun(Trial trial, String what) throws IOException {
		boolean can = trial != Trial.CLOCK || FakeTime.find(this.folder).isPresent();
		if (!can) {
			print("LEFT OUT", what, FakeTime.NOT_FOUND);
		}
		return can;
	}

	private void print(String verdict, String what, Object why) {
		String line = "%-8s  %s: %s".formatted(verdict, what, why);
		this.verdicts.add(line);
		System.err.println(line);
	}

	private List<String> broken(Mutant mutant) throws Exception {
		String name = mutant.name().replaceAll("[^a-z]+", "-");
		Path code = Files.createDirectories(this.folder.resolve(name + "-code"));
		return broken(mutant.trial(), mutant.classPath(LibrarySources.FOLDER, code), name);
	}

	private List<String> broken(Trial trial, String classPath, String name) throws Exception {
		Path records = Files.createDirectories(this.folder.resolve(name));
		@Nullable FakeTime clocks = FakeTime.find(records).orElse(null);
		History history = new FaultRun(this.mongod, this.toxiproxy, records, this.options, trial.workers())
			.record(clocks, trial::run, classPath, trial.properties());
		return Stream.of(new Judge(history).findings())
			.flatMap(List::stream)
			.filter((finding) -> !finding.passed())
			.map((finding) -> finding.what() + ": " + finding.count())
			.collect(Collectors.toList());
	}

}
