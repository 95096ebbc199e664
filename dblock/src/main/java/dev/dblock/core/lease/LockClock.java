package dev.dblock.core.lease;

/**
 * The two clocks of this process. Leases are measured by the monotonic clock. The wall
 * clock can only make a lease unproven, see {@link LeaseDeadline#suspect(LockClock)}.
 */
public interface LockClock {

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
