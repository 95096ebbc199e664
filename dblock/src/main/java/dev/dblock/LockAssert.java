package dev.dblock;

/**
 * Makes sure, at the place that must never run unlocked, that it does not:
 *
 * <pre class="code">
 * &#64;DistributedLock("nightly-invoices")
 * public void invoice() {
 *     LockAssert.assertLocked();
 *     ...
 * }
 * </pre>
 *
 * It finds the calls that pass the proxy by, such as those within one object, and locks
 * that are lost already. Locks of {@code execute} and of
 * {@link DistributedLock @DistributedLock} count, and no others; where locking is
 * switched off, so do those that are not taken. (The idea is ShedLock's
 * {@code LockAssert}.)
 */
public final class LockAssert {

	private LockAssert() {
	}

	/**
	 * Make sure that this thread works under a lock.
	 * @throws IllegalStateException when it works under none
	 * @throws LockLostException when the innermost lock has been lost or released
	 * @throws org.springframework.dao.DataAccessException when the lease is unproven and
	 * the server cannot be asked
	 */
	public static void assertLocked() {
		LockContext.current()
			.orElseThrow(() -> new IllegalStateException("Not locked: " + describe() + reasons()))
			.ensureHeld();
	}

	/**
	 * Make sure that this thread works under a certain lock, be it the innermost or not.
	 * @param name the name of the lock, with the configured prefix or without
	 * @throws IllegalStateException when it does not
	 * @throws LockLostException when that lock has been lost or released
	 * @throws org.springframework.dao.DataAccessException when the lease is unproven and
	 * the server cannot be asked
	 */
	public static void assertLocked(String name) {
		LockContext.named(name)
			.orElseThrow(
					() -> new IllegalStateException("Not locked by '%s': %s%s".formatted(name, describe(), reasons())))
			.ensureHeld();
	}

	private static String describe() {
		return "thread '%s' works under %s".formatted(Thread.currentThread().getName(),
				LockContext.current().map((handle) -> "'" + handle.name() + "'").orElse("no lock"));
	}

	private static String reasons() {
		return ". A call within one object does not pass the proxy and takes no lock, nor does a call of an object "
				+ "that is no bean; and work that is handed to another thread leaves the lock behind. Call the "
				+ "method through the bean, or use LockTemplate.execute around this code";
	}

}
