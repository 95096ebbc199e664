package dev.dblock.faults;

import java.nio.file.Path;

/**
 * What the processes of a run share: the counter that puts their records in order, and
 * whether they are to stop.
 */
final class Stamps {

	private static final int COUNTER = 0;

	private static final int STOP = 1;

	private static final int WRITES = 2;

	private static final int KINDS = Writing.values().length;

	private static final int MOST_WORKERS = 16;

	private static final int SIZE = WRITES + MOST_WORKERS * KINDS;

	private final SharedLongs longs;

	Stamps(Path folder) {
		this.longs = new SharedLongs(folder.resolve("stamps"), SIZE);
	}

	long next() {
		return this.longs.addAtomically(COUNTER, 1) + 1;
	}

	/**
	 * A section has read what it is going to overwrite.
	 */
	void beginWrite(int worker, Writing writing) {
		this.longs.addAtomically(indexOf(worker, writing), 1);
	}

	/**
	 * It has overwritten it.
	 */
	void endWrite(int worker, Writing writing) {
		this.longs.addAtomically(indexOf(worker, writing), -1);
	}

	/**
	 * Whether a worker has sections between reading and writing.
	 */
	boolean isWriting(int worker, Writing writing) {
		return this.longs.get(indexOf(worker, writing)) > 0;
	}

	/**
	 * A worker begins another life: the sections of the last one are gone.
	 */
	void forgetWrites(int worker) {
		for (Writing writing : Writing.values()) {
			this.longs.set(indexOf(worker, writing), 0);
		}
	}

	private static int indexOf(int worker, Writing writing) {
		return WRITES + (worker - 1) * KINDS + writing.ordinal();
	}

	boolean isStopped() {
		return this.longs.get(STOP) != 0;
	}

	void stop() {
		this.longs.set(STOP, 1);
	}

}
