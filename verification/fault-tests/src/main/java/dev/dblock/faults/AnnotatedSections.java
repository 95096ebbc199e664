package dev.dblock.faults;

import dev.dblock.DistributedLock;
import dev.dblock.LockContext;
import dev.dblock.LockHandle;

/**
 * Sections that acquire their lock through the annotation.
 */
class AnnotatedSections {

	@DistributedLock(name = "#{#lock}", leaseSeconds = 3, waitSeconds = 20)
	public void withShortLease(String lock, Body body) {
		body.run(LockContext.current(lock).orElseThrow());
	}

	@DistributedLock(name = "#{#lock}", leaseSeconds = 10, waitSeconds = 20)
	public void withLongLease(String lock, Body body) {
		body.run(LockContext.current(lock).orElseThrow());
	}

	/**
	 * Work under a lock.
	 */
	interface Body {

		void run(LockHandle handle);

	}

}
