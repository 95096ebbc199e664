package dev.dblock.benchmarks;

import org.jspecify.annotations.Nullable;

/**
 * Uniform view of one subject, for all cases.
 */
interface Locks extends AutoCloseable {

	/**
	 * Enter a section under a name, waiting as long as necessary.
	 * @param name the name
	 * @return the section
	 * @throws InterruptedException if the wait was interrupted
	 */
	Section enter(String name) throws InterruptedException;

	/**
	 * Enter a section if that is possible at once.
	 * @param name the name
	 * @return the section, or {@code null} if another holder is in it
	 */
	@Nullable Section tryEnter(String name);

	@Override
	void close();

	/**
	 * Section that one thread has entered and leaves again.
	 */
	interface Section {

		/**
		 * Return the fencing token.
		 * @return the token, or zero if the subject has none
		 */
		default long token() {
			return 0;
		}

		void leave();

	}

}
