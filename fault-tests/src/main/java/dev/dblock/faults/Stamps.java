package dev.dblock.faults;

import java.nio.file.Path;

/**
 * What the processes of a run share: the counter that puts their records in order, and
 * whether they are to stop.
 */
final class Stamps {

	private static final int COUNTER = 0;

	private static final int STOP = 1;

	private static final int SIZE = 2;

	private final SharedLongs longs;

	Stamps(Path folder) {
		this.longs = new SharedLongs(folder.resolve("stamps"), SIZE);
	}

	long next() {
		return this.longs.addAtomically(COUNTER, 1) + 1;
	}

	boolean isStopped() {
		return this.longs.get(STOP) != 0;
	}

	void stop() {
		this.longs.set(STOP, 1);
	}

}
