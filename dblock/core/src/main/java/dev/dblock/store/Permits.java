package dev.dblock.store;

import java.util.List;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

/**
 * Names under which the permits of a lock are stored. Each permit is a lock of its own
 * for the store, with its own lease, tokens and fence. The first one has the name of the
 * lock, so that the store sees when the same name is used for a plain lock as well.
 */
public final class Permits {

	private static final String BEFORE_NUMBER = " (permit ";

	private static final String AFTER_NUMBER = ")";

	private static final int MOST_DIGITS = 4;

	private Permits() {
	}

	/**
	 * Return the name under which a permit is stored.
	 * @param lock the full name of the lock
	 * @param permit the number of the permit, from 1
	 * @return the name
	 */
	public static String id(String lock, int permit) {
		return (permit == 1) ? lock : lock + BEFORE_NUMBER + permit + AFTER_NUMBER;
	}

	/**
	 * Return the names under which all permits of a lock are stored.
	 * @param lock the full name of the lock
	 * @param permits how many there are
	 * @return the names, by number
	 */
	public static List<String> ids(String lock, int permits) {
		return IntStream.rangeClosed(1, permits).mapToObj((permit) -> id(lock, permit)).toList();
	}

	/**
	 * Return the lock to which a permit belongs.
	 * @param id the name under which something is stored
	 * @return the full name of the lock, if that is the name of one of its permits from
	 * the second on; otherwise the same name
	 */
	public static String lockOf(String id) {
		return (number(id) != null) ? id.substring(0, id.lastIndexOf(BEFORE_NUMBER)) : id;
	}

	/**
	 * Return the number of a permit of a known lock, whose own name may look like that of
	 * a permit.
	 * @param id the name under which it is stored
	 * @param lock the full name of the lock
	 * @return the number
	 */
	public static int numberOf(String id, String lock) {
		return id.equals(lock) ? 1 : numberOf(id);
	}

	/**
	 * Return the number of a permit.
	 * @param id the name under which it is stored
	 * @return the number; 1 if that is the name of a lock
	 */
	public static int numberOf(String id) {
		String number = number(id);
		return (number != null) ? Integer.parseInt(number) : 1;
	}

	private static @Nullable String number(String id) {
		int before = id.lastIndexOf(BEFORE_NUMBER);
		if (before < 0 || !id.endsWith(AFTER_NUMBER)) {
			return null;
		}
		String number = id.substring(before + BEFORE_NUMBER.length(), id.length() - AFTER_NUMBER.length());
		boolean digits = !number.isEmpty() && number.length() <= MOST_DIGITS
				&& number.chars().allMatch((c) -> c >= '0' && c <= '9');
		return digits ? number : null;
	}

}
