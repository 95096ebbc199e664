package dev.dblock.store;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * Names under which the permits of a lock are stored. Each permit is a lock of its own
 * for the store, with its own lease, tokens and fence. The first one has the name of the
 * lock, so that the store sees when the same name is used for a plain lock as well.
 */
public final class Permits {

	private static final Pattern ID = Pattern.compile("(.*) \\(permit ([0-9]{1,4})\\)", Pattern.DOTALL);

	private Permits() {
	}

	/**
	 * Return the name under which a permit is stored.
	 * @param lock the full name of the lock
	 * @param permit the number of the permit, from 1
	 * @return the name
	 */
	public static String id(String lock, int permit) {
		return (permit == 1) ? lock : lock + " (permit " + permit + ")";
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
		Matcher matcher = ID.matcher(id);
		return matcher.matches() ? matcher.group(1) : id;
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
		Matcher matcher = ID.matcher(id);
		return matcher.matches() ? Integer.parseInt(matcher.group(2)) : 1;
	}

}
