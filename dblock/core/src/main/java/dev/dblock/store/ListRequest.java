package dev.dblock.store;

import dev.dblock.LockPage;

import org.springframework.util.Assert;

/**
 * A request for the locks whose names begin with a prefix, in the order of their names.
 *
 * @param prefix the beginning of the names, taken literally
 * @param released whether to include locks that are available, whose documents are kept
 * @param after the name after which the list begins; an empty text for the first page
 * @param limit the largest number of locks
 */
public record ListRequest(String prefix, boolean released, String after, int limit) {

	/**
	 * Create a request.
	 * @throws IllegalArgumentException if the limit is less than one, or larger than a
	 * page can be
	 */
	public ListRequest {
		Assert.isTrue(limit > 0 && limit <= LockPage.LARGEST,
				() -> "The limit of a list of locks must be from 1 to %d, not %d. For more locks, list the next page"
					.formatted(LockPage.LARGEST, limit));
	}

	/**
	 * Create a request for the first locks of a prefix, including those that are
	 * available.
	 * @param prefix the beginning of the names, taken literally
	 * @return the request
	 */
	public static ListRequest all(String prefix) {
		return new ListRequest(prefix, true, "", LockPage.LARGEST);
	}

}
