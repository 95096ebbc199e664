package dev.dblock.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The sources of the library, for mutants.
 */
public final class LibrarySources {

	/** Relative to the root of the project, from which the scripts run. */
	public static final Path FOLDER = Path.of("dblock");

	private LibrarySources() {
	}

	/**
	 * Read a source file of one of the modules.
	 * @param folder the folder of the modules
	 * @param source the file, relative to the package {@code dev.dblock}
	 * @return its text
	 */
	public static String read(Path folder, String source) throws IOException {
		try (Stream<Path> modules = Files.list(folder)) {
			List<Path> found = modules.map((module) -> module.resolve("src/main/java/dev/dblock").resolve(source))
				.filter(Files::exists)
				.toList();
			if (found.size() != 1) {
				throw new IllegalArgumentException("%s is in these modules: %s".formatted(source, found));
			}
			return Files.readString(found.get(0));
		}
	}

}
