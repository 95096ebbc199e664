package dev.dblock.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Where servers that the tests start keep their files: below the folder that
 * {@value #VARIABLE} names, or else where this JVM has its temporary files. Every write
 * of a majority waits for a disk, which other machines may share; so
 * {@code scripts/verify} and {@code scripts/faults} name a folder in memory where there
 * is one.
 */
final class ServerFolder {

	static final String VARIABLE = "DBLOCK_TEST_FOLDER";

	/**
	 * A server prepares 300 MB for its journal, of which a test needs a few.
	 */
	private static final List<String> SMALL_JOURNAL = List.of("--wiredTigerEngineConfigString",
			"log=(prealloc=false,file_max=10MB)");

	private final @Nullable Path parent;

	private ServerFolder(@Nullable Path parent) {
		this.parent = parent;
	}

	static ServerFolder ofThisMachine() {
		return from(System.getenv());
	}

	static ServerFolder from(Map<String, String> environment) {
		String named = environment.getOrDefault(VARIABLE, "");
		return new ServerFolder(named.isBlank() ? null : Path.of(named));
	}

	/**
	 * Make a new folder for the servers of one deployment.
	 */
	Path create(String prefix) {
		try {
			return (this.parent != null) ? Files.createTempDirectory(this.parent, prefix)
					: Files.createTempDirectory(prefix);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("No folder for a server can be made in "
					+ ((this.parent != null) ? this.parent + ", which " + VARIABLE + " names" : "the temporary folder"),
					ex);
		}
	}

	/**
	 * Returns the options of a server that keeps its files there.
	 */
	List<String> arguments() {
		return (this.parent != null) ? SMALL_JOURNAL : List.of();
	}

}
