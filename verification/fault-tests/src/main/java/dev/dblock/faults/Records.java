package dev.dblock.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * History of one process: files with records of a fixed size, mapped into memory. Records
 * remain when the process is killed, and a stopped process leaves no partial lines.
 */
final class Records {

	static final int SIZE = 160;

	static final int REQUEST_NANOS = 0;

	static final int ENTER_STAMP = 8;

	static final int ENTER_NANOS = 16;

	static final int TOKEN = 24;

	static final int HELD_STAMP = 32;

	static final int HELD_NANOS = 40;

	static final int HELD_UNTIL_NANOS = 48;

	static final int LOST_NANOS = 56;

	static final int HELD_AFTER_LOSS = 64;

	static final int END_NANOS = 72;

	static final int OUTCOME = 80;

	static final int NAME = 88;

	static final int KIND = 96;

	static final int WRITING = 104;

	static final int WRITTEN = 112;

	static final int VALUE = 120;

	private static final long FIRST_RECORDS = 64;

	private static final int RECORDS_PER_FILE = 100_000;

	private final Path folder;

	private final String prefix;

	private @Nullable MappedByteBuffer buffer;

	private int files;

	private int used;

	/**
	 * Create a new history.
	 * @param folder the folder for its files
	 * @param worker the number of the worker
	 * @param life the number of the worker's process
	 */
	Records(Path folder, int worker, int life) {
		this.folder = folder;
		this.prefix = prefix(worker, life);
	}

	/**
	 * Allocate a record.
	 * @return the record, all zero
	 */
	synchronized MappedByteBuffer add() {
		if (this.buffer == null || this.used == RECORDS_PER_FILE) {
			this.buffer = map(this.folder.resolve(this.prefix + this.files++));
			this.used = 0;
		}
		MappedByteBuffer slice = this.buffer.slice(this.used * SIZE, SIZE);
		this.used++;
		return slice;
	}

	private static String prefix(int worker, int life) {
		return String.format(Locale.ROOT, "history-%d-%d-", worker, life);
	}

	private static MappedByteBuffer map(Path file) {
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ,
				StandardOpenOption.WRITE)) {
			return channel.map(FileChannel.MapMode.READ_WRITE, 0, (long) RECORDS_PER_FILE * SIZE);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Return whether a process has recorded the result of one of its first attempts.
	 * @param folder the folder of its files
	 * @param worker the number of the worker
	 * @param life the number of the worker's process
	 */
	static boolean haveBegun(Path folder, int worker, int life) {
		Path file = folder.resolve(prefix(worker, life) + 0);
		if (!Files.exists(file)) {
			return false;
		}
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
			MappedByteBuffer first = channel.map(FileChannel.MapMode.READ_ONLY, 0,
					Math.min(channel.size(), FIRST_RECORDS * SIZE));
			for (int start = 0; start + SIZE <= first.limit(); start += SIZE) {
				if (first.getLong(start + ENTER_STAMP) != 0 || first.getLong(start + END_NANOS) != 0) {
					return true;
				}
			}
			return false;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Read the records of all processes.
	 * @param folder the folder of their files
	 * @param names the names of the locks, in the order of their numbers
	 * @return the attempts, those of a process in the order in which they began
	 */
	static List<Attempt> read(Path folder, List<String> names) throws IOException {
		List<Attempt> attempts = new ArrayList<>();
		try (Stream<Path> files = Files.list(folder)) {
			for (Path file : files.filter((file) -> file.getFileName().toString().startsWith("history-"))
				.sorted(Comparator.comparing(Path::toString))
				.toList()) {
				read(file, names, attempts);
			}
		}
		return attempts;
	}

	private static void read(Path file, List<String> names, List<Attempt> attempts) throws IOException {
		String[] parts = file.getFileName().toString().split("-");
		int worker = Integer.parseInt(parts[1]);
		int life = Integer.parseInt(parts[2]);
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
			MappedByteBuffer all = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
			for (int start = 0; start + SIZE <= all.limit(); start += SIZE) {
				// A record is empty if its process was killed right after allocating it
				if (all.getLong(start + REQUEST_NANOS) != 0) {
					attempts.add(attempt(all.slice(start, SIZE), worker, life, names));
				}
			}
		}
	}

	private static Attempt attempt(MappedByteBuffer data, int worker, int life, List<String> names) {
		return new Attempt(worker, life, names.get((int) data.getLong(NAME)), Kind.values()[(int) data.getLong(KIND)],
				data.getLong(REQUEST_NANOS), data.getLong(ENTER_STAMP), data.getLong(ENTER_NANOS), data.getLong(TOKEN),
				data.getLong(HELD_STAMP), data.getLong(HELD_NANOS), data.getLong(HELD_UNTIL_NANOS),
				data.getLong(LOST_NANOS), data.getLong(HELD_AFTER_LOSS) != 0, data.getLong(END_NANOS),
				Outcome.values()[(int) data.getLong(OUTCOME)], Writing.values()[(int) data.getLong(WRITING)],
				Written.values()[(int) data.getLong(WRITTEN)], data.getLong(VALUE));
	}

}
