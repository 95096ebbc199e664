package dev.dblock;

/**
 * Asserts that code which must never run without a lock does not:
 *
 * <pre class="code">
 * &#64;DistributedLock("nightly-invoices")
 * public void invoice() {
 *     LockAssert.assertLocked();
 *     ...
 * }
 * </pre>
 *
 * Detects calls that bypass the proxy, such as those within one object, and locks that
 * are already lost. It considers the locks of {@code execute} and of
 * {@link DistributedLock @DistributedLock}, and no others. If locking is disabled, locks
 * that are not acquired count as well. (The idea is ShedLock's {@code LockAssert}.)
 */
public final class LockAssert {

	private LockAssert() {
	}

	/**
	 * Assert that this thread works under a lock.
	 * @throws IllegalStateException if it does not work under any lock
	 * @throws LockLostException if the innermost lock was lost or released
	 * @throws org.springframework.dao.DataAccessException if the lease is unproven and
	 * the request to the server fails
	 */
	public static void assertLocked() {
		LockContext.current()
			.orElseThrow(() -> new IllegalStateException("Not locked: " + describe() + reasons()))
			.ensureHeld();
	}

	/**
	 * Assert that this thread works under a certain lock, which need not be the innermost
	 * one.
	 * @param name the name of the lock, with or without the configured prefix
	 * @throws IllegalStateException if it does not work under that lock
	 * @throws LockLostException if that lock was lost or released
	 * @throws org.springframework.dao.DataAccessException if the lease is unproven and
	 * the request to the server fails
	 */
	public static void assertLocked(String name) {
		LockContext.named(name)
			.orElseThrow(
					() -> new IllegalStateException("Not locked by '%s': %s%s".formatted(name, describe(), reasons())))
			.ensureHeld();
	}

	private static String describe() {
		return "thread '%s' runs under %s".formatted(Thread.currentThread().getName(),
				LockContext.current().map((handle) -> "'" + handle.name() + "'").orElse("no lock"));
	}

	private static String reasons() {
		return ". A call within the same object, or of an object that is not a bean, bypasses the proxy and acquires"
				+ " no lock. Work that is handed to another thread runs without the lock. Call the method through the"
				+ " bean, or wrap this code in LockTemplate.execute";
	}

}
