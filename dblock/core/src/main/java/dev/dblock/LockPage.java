package dev.dblock;

import java.util.List;

/**
 * Some of the locks on the server, by name.
 *
 * @param locks the locks
 * @param more whether there are more locks after the last one. They are listed by another
 * call, from the name of the last one
 * @see LockOperations#list(String, int)
 */
public record LockPage(List<LockInfo> locks, boolean more) {

	/** The largest number of locks on one page. */
	public static final int LARGEST = 10_000;

	/**
	 * Create a page.
	 * @param locks the locks, by name
	 * @param more whether there are more
	 */
	public LockPage {
		locks = List.copyOf(locks);
	}

}
