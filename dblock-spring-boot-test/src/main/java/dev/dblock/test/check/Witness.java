package dev.dblock.test.check;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import dev.dblock.test.check.Tally.Count;
import org.jspecify.annotations.Nullable;

/**
 * Sees whether two holders work under one lock at the same time, without any clock and
 * without the server: each locks a file of the operating system while it works, which all
 * threads and processes of this machine share. The file keeps the last fencing token.
 */
final class Witness {

	private final Path folder;

	private final Tally tally;

	Witness(Path folder, Tally tally) {
		this.folder = folder;
		this.tally = tally;
	}

	/**
	 * Begin to work under a lock.
	 * @param name the name of the lock, which is that of the file
	 * @param token the fencing token
	 * @return the visit, which ends when the work has ended
	 */
	Visit enter(String name, long token) {
		this.tally.add(Count.GRANTED);
		try {
			FileChannel file = FileChannel.open(this.folder.resolve(name), StandardOpenOption.CREATE,
					StandardOpenOption.READ, StandardOpenOption.WRITE);
			if (tryLock(file) == null) {
				this.tally.add(Count.OVERLAPPED);
				file.close();
			}
			else {
				checkToken(file, token);
			}
			return new Visit(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static @Nullable FileLock tryLock(FileChannel file) throws IOException {
		try {
			return file.tryLock();
		}
		catch (OverlappingFileLockException ex) {
			// Another thread of this process
			return null;
		}
	}

	private void checkToken(FileChannel file, long token) throws IOException {
		ByteBuffer last = ByteBuffer.allocate(Long.BYTES);
		if (file.read(last, 0) == Long.BYTES && token <= last.getLong(0)) {
			this.tally.add(Count.LOWER);
		}
		file.write(ByteBuffer.allocate(Long.BYTES).putLong(0, token), 0);
	}

	/**
	 * Record that a planned time is run.
	 * @param name its name, which is that of a file
	 */
	void run(String name) {
		try {
			Files.createFile(this.folder.resolve(name));
			this.tally.add(Count.GRANTED);
		}
		catch (FileAlreadyExistsException ex) {
			this.tally.add(Count.AGAIN);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Work under a lock.
	 *
	 * @param file the file, which is locked until it is closed
	 */
	record Visit(FileChannel file) {

		void leave() {
			try {
				this.file.close();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

}
