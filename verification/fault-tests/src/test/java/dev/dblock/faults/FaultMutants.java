package dev.dblock.faults;

import java.util.Set;
import java.util.stream.Collectors;

/**
 * The names of the mutants of the fault tests, for other packages.
 */
public final class FaultMutants {

	private FaultMutants() {
	}

	public static Set<String> names() {
		return Mutant.all().stream().map(Mutant::name).collect(Collectors.toSet());
	}

}
