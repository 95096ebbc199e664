package dev.dblock.core;

/**
 * The two clocks of this process. Leases are counted on the monotonic one; the wall clock
 * only ever makes a lease unproven, see {@link LeaseDeadline#suspect(LockClock)}.
 */
interface LockClock {

	LockClock SYSTEM = new LockClock() {

		@Override
		public long nanoTime() {
			return System.nanoTime();
		}

		@Override
		public long wallMillis() {
			return System.currentTimeMillis();
		}

	};

	long nanoTime();

	long wallMillis();

}
