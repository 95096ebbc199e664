package dev.dblock.faults;

import java.nio.file.Path;

/**
 * State that the processes of a run share: the counter that puts their records in order,
 * and whether they are to stop.
 */
final class Stamps {

	private static final int COUNTER = 0;

	private static final int STOP = 1;

	private static final int WRITES = 2;

	private static final int KINDS = Moment.values().length;

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
	 * Mark a section as being at a moment of its writing.
	 */
	void beginWrite(int worker, Moment moment) {
		this.longs.addAtomically(indexOf(worker, moment), 1);
	}

	/**
	 * Mark a section as having left that moment.
	 */
	void endWrite(int worker, Moment moment) {
		this.longs.addAtomically(indexOf(worker, moment), -1);
	}

	/**
	 * Return whether a worker has sections at a moment of their writing.
	 */
	boolean isWriting(int worker, Moment moment) {
		return this.longs.get(indexOf(worker, moment)) > 0;
	}

	/**
	 * Discard the sections of a worker's previous process, when a new one starts.
	 */
	void forgetWrites(int worker) {
		for (Moment moment : Moment.values()) {
			this.longs.set(indexOf(worker, moment), 0);
		}
	}

	private static int indexOf(int worker, Moment moment) {
		return WRITES + (worker - 1) * KINDS + moment.ordinal();
	}

	boolean isStopped() {
		return this.longs.get(STOP) != 0;
	}

	void stop() {
		this.longs.set(STOP, 1);
	}

}
