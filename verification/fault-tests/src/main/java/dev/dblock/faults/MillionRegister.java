package dev.dblock.faults;

import java.nio.file.Path;

/**
 * State that the processes of the million sections share in addition to the lock. No
 * change is atomic, so that only the lock keeps the state correct.
 */
final class MillionRegister {

	private static final int COUNT = 0;

	private static final int HIGHEST_TOKEN = 1;

	private static final int OCCUPANT = 2;

	private static final int LAST_PROCESS = 3;

	private static final int SIZE = 4;

	private final SharedLongs longs;

	MillionRegister(Path file) {
		this.longs = new SharedLongs(file, SIZE);
	}

	long count() {
		return this.longs.get(COUNT);
	}

	void count(long count) {
		this.longs.set(COUNT, count);
	}

	long highestToken() {
		return this.longs.get(HIGHEST_TOKEN);
	}

	void highestToken(long token) {
		this.longs.set(HIGHEST_TOKEN, token);
	}

	/**
	 * Return the occupant of the section; zero if it is empty.
	 */
	long occupant() {
		return this.longs.get(OCCUPANT);
	}

	void occupant(long section) {
		this.longs.set(OCCUPANT, section);
	}

	long lastProcess() {
		return this.longs.get(LAST_PROCESS);
	}

	void lastProcess(long process) {
		this.longs.set(LAST_PROCESS, process);
	}

}
