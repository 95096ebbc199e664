package dev.dblock.store;

import java.util.List;

/**
 * Identifies a lease in the store.
 *
 * @param name the full name of the lock
 * @param holder the random id of the acquisition
 * @param permit the number of the permit, from 1; zero if any of them was requested and
 * the answer is not known
 * @param permits how many permits were requested as the largest number of the lock; zero
 * for a plain lock
 */
public record LeaseKey(String name, String holder, int permit, int permits) {

	/**
	 * Create the key of a plain lock.
	 * @param name the full name of the lock
	 * @param holder the random id of the acquisition
	 */
	public LeaseKey(String name, String holder) {
		this(name, holder, 1, 0);
	}

	/**
	 * Create the key of a request.
	 * @param name the full name of the lock
	 * @param holder the random id of the acquisition
	 * @param permits how many permits the lock has; zero for a plain lock
	 * @return the key, which identifies the lease until its permit is known
	 */
	public static LeaseKey of(String name, String holder, int permits) {
		return new LeaseKey(name, holder, (permits > 1) ? 0 : 1, permits);
	}

	/**
	 * Return the key of the permit that was granted.
	 * @param granted the number of the permit
	 * @return the key of the lease
	 */
	public LeaseKey granted(int granted) {
		return (granted != this.permit) ? new LeaseKey(this.name, this.holder, granted, this.permits) : this;
	}

	/**
	 * Return the name under which the lease is stored: that of the lock, or of its
	 * permit.
	 * @return the id
	 * @throws IllegalStateException if the permit is not known
	 */
	public String id() {
		if (this.permit == 0) {
			throw new IllegalStateException("The permit of the lock '" + this.name + "' is not known");
		}
		return Permits.id(this.name, this.permit);
	}

	/**
	 * Return the names under which the lease may be stored.
	 * @return one name, or those of all permits if it is not known which was granted
	 */
	public List<String> ids() {
		return (this.permit == 0) ? Permits.ids(this.name, this.permits) : List.of(id());
	}

}
