package dev.dblock.benchmarks;

import org.jspecify.annotations.Nullable;

/**
 * One subject as all cases use it.
 */
interface Locks extends AutoCloseable {

	/**
	 * Enter a section under a name, waiting for as long as it takes.
	 * @param name the name
	 * @return the section
	 * @throws InterruptedException when the wait was interrupted
	 */
	Section enter(String name) throws InterruptedException;

	/**
	 * Enter a section if that is possible at once.
	 * @param name the name
	 * @return the section, or {@code null} when others are in it
	 */
	@Nullable Section tryEnter(String name);

	@Override
	void close();

	/**
	 * What one thread has entered, and leaves again.
	 */
	interface Section {

		/**
		 * The fencing token.
		 * @return the token, or zero where the subject has none
		 */
		default long token() {
			return 0;
		}

		void leave();

	}

}
