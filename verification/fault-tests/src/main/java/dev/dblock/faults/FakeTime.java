package dev.dblock.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Adjustable wall clocks of single processes, through libfaketime. The monotonic clock is
 * not affected.
 */
final class FakeTime {

	private static final Path LIBRARIES = Path.of("/usr/lib");

	/** Text for messages. */
	static final String NOT_FOUND = "libfaketime was not found below " + LIBRARIES
			+ " (on Debian: apt-get install libfaketime)";

	private final Path library;

	private final Path folder;

	private FakeTime(Path library, Path folder) {
		this.library = library;
		this.folder = folder;
	}

	/**
	 * Find the library.
	 * @param folder the folder for the files that set the clocks
	 * @return the adjustable clocks, or empty if the library is not installed
	 */
	static Optional<FakeTime> find(Path folder) throws IOException {
		try (Stream<Path> files = Files.find(LIBRARIES, 4,
				(file, attributes) -> file.endsWith("faketime/libfaketimeMT.so.1"))) {
			return files.findFirst().map((library) -> new FakeTime(library, folder));
		}
	}

	/**
	 * Return the environment of a process whose clock can be set.
	 * @param name the name of the process
	 * @return the additional environment variables
	 */
	Map<String, String> environment(String name) {
		Path file = this.folder.resolve("clock-" + name);
		if (!Files.exists(file)) {
			set(name, Duration.ZERO);
		}
		return Map.of("LD_PRELOAD", this.library.toString(), "FAKETIME_TIMESTAMP_FILE", file.toString(),
				"FAKETIME_DONT_FAKE_MONOTONIC", "1", "FAKETIME_FORCE_MONOTONIC_FIX", "0", "FAKETIME_CACHE_DURATION",
				"1");
	}

	/**
	 * Set a clock. The process notices the change within a second.
	 * @param name the name of the process
	 * @param ahead how far the clock is ahead
	 */
	void set(String name, Duration ahead) {
		try {
			Path file = Files.createTempFile(this.folder, "clock", ".new");
			Files.writeString(file, String.format(Locale.ROOT, "%+.3f%n", ahead.toMillis() / 1000.0));
			Files.move(file, this.folder.resolve("clock-" + name), StandardCopyOption.ATOMIC_MOVE);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Write a script that starts a program with an adjustable clock.
	 * @param name the name of the process
	 * @param program the program
	 * @return the script
	 */
	Path wrap(String name, Path program) {
		StringBuilder script = new StringBuilder("#!/bin/sh\nexec env");
		environment(name)
			.forEach((key, value) -> script.append(" '").append(key).append('=').append(value).append('\''));
		script.append(" '").append(program).append("' \"$@\"\n");
		try {
			Path file = this.folder.resolve(name);
			Files.writeString(file, script);
			Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
			return file;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
