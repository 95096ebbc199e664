package dev.dblock.simulation;

import java.io.IOException;
import java.nio.file.Path;

import dev.dblock.testing.LibrarySources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the mutants of the simulation fit the sources.
 */
class SimulationMutantTests {

	@ParameterizedTest
	@MethodSource("dev.dblock.simulation.SimulationMutants#all")
	void fitsTheSources(SimulationMutants.Mutant mutant) throws IOException {
		String broken = mutant.brokenSource(Path.of("..", "..").resolve(LibrarySources.FOLDER));
		assertThat(broken).doesNotContain(mutant.original());
	}

}
