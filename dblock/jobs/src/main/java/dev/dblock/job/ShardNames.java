package dev.dblock.job;

/**
 * Names of the shards of jobs. Each shard is a job of its own for the store, with its own
 * lock, run record and fence.
 */
public final class ShardNames {

	private static final String BEFORE_NUMBER = " (shard ";

	private static final String AFTER_NUMBER = ")";

	private static final int MOST_DIGITS = 4;

	private ShardNames() {
	}

	/**
	 * Return the name of a shard's lock, or its id.
	 * @param job the name of the job's lock, or the id of the job
	 * @param shard the number of the shard, from 1
	 * @return the name
	 */
	public static String of(String job, int shard) {
		return job + BEFORE_NUMBER + shard + AFTER_NUMBER;
	}

	/**
	 * Return the id of the job that a shard belongs to.
	 * @param id the id of a shard
	 * @return the id of the job; the same id if it is not that of a shard
	 */
	public static String jobOf(String id) {
		return (numberOf(id) > 0) ? id.substring(0, id.lastIndexOf(BEFORE_NUMBER)) : id;
	}

	/**
	 * Return the number of a shard.
	 * @param id the id of the shard
	 * @return the number, from 1; 0 if it is not the id of a shard
	 */
	public static int numberOf(String id) {
		int before = id.lastIndexOf(BEFORE_NUMBER);
		if (before < 0 || !id.endsWith(AFTER_NUMBER)) {
			return 0;
		}
		String number = id.substring(before + BEFORE_NUMBER.length(), id.length() - AFTER_NUMBER.length());
		boolean digits = !number.isEmpty() && number.length() <= MOST_DIGITS
				&& number.chars().allMatch((c) -> c >= '0' && c <= '9');
		return digits ? Integer.parseInt(number) : 0;
	}

}
