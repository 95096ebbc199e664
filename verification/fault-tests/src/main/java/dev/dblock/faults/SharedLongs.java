package dev.dblock.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Numbers in memory that several processes of this machine share through a file. The
 * values that a process has written remain when it is killed.
 */
final class SharedLongs {

	/**
	 * Each number has its own cache line, so that processes do not slow each other down.
	 */
	private static final int STRIDE = 64;

	private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

	private final MappedByteBuffer buffer;

	SharedLongs(Path file, int size) {
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ,
				StandardOpenOption.WRITE)) {
			this.buffer = channel.map(FileChannel.MapMode.READ_WRITE, 0, (long) size * STRIDE);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Read a number. Together with {@link #set} this is not an atomic change: an update
	 * in between is overwritten.
	 */
	long get(int index) {
		return (long) LONGS.getOpaque(this.buffer, index * STRIDE);
	}

	void set(int index, long value) {
		LONGS.setOpaque(this.buffer, index * STRIDE, value);
	}

	long addAtomically(int index, long more) {
		return (long) LONGS.getAndAdd(this.buffer, index * STRIDE, more);
	}

}
