package dev.dblock.faults;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

import dev.dblock.testing.LibrarySources;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The mutants fit the sources as they are.
 */
class MutantTests {

	private static final Path SOURCES = Path.of("..", "..").resolve(LibrarySources.FOLDER);

	static List<Mutant> mutants() {
		return Mutant.all();
	}

	@Test
	void thereAreEight() {
		assertThat(Mutant.all()).hasSize(8);
	}

	@ParameterizedTest
	@MethodSource("mutants")
	void whatItReplacesIsThereOnce(Mutant mutant) throws IOException {
		assertThat(mutant.brokenSource(SOURCES)).contains(mutant.changes().get(0).replacement());
	}

	@ParameterizedTest
	@MethodSource("mutants")
	void itsClassComesBeforeAllOthers(Mutant mutant, @TempDir Path folder) throws IOException {
		String classPath = mutant.classPath(SOURCES, folder);
		Path first = Path.of(classPath.substring(0, classPath.indexOf(File.pathSeparatorChar)));
		assertThat(first.resolve("dev/dblock").resolve(mutant.source().replace(".java", ".class"))).isRegularFile();
	}

}
