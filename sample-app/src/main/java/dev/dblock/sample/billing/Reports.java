package dev.dblock.sample.billing;

import java.time.Duration;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockOperations;
import dev.dblock.LockOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Service;

/**
 * Long job that acquires its lock programmatically.
 */
@Service
public class Reports {

	/** The name of the lock. */
	public static final String LOCK = "report";

	private static final Logger logger = LoggerFactory.getLogger(Reports.class);

	private static final long STEP_MILLIS = 100;

	private final LockOperations locks;

	private final BillingStore store;

	private final FencedWrites writes;

	private final Duration work;

	private final String instance;

	Reports(LockOperations locks, BillingStore store, FencedWrites writes,
			@Value("${sample.report.work}") Duration work, @Value("${dblock.acquirer}") String instance) {
		this.locks = locks;
		this.store = store;
		this.writes = writes;
		this.work = work;
		this.instance = instance;
	}

	/**
	 * Make the report.
	 * @param wait how long to wait while the lock is held; zero means a single attempt
	 * @return the report
	 * @throws dev.dblock.LockUnavailableException if another caller holds the lock
	 * @throws dev.dblock.LockLostException if the lock was lost before the report was
	 * written
	 * @throws InterruptedException if the thread is interrupted during its work
	 */
	public Report make(Duration wait) throws InterruptedException {
		LockOptions options = LockOptions.defaults().waitUpTo(wait).why("the report of all accounts");
		return this.locks.execute(LOCK, options, this::makeLocked);
	}

	private Report makeLocked() throws InterruptedException {
		logger.info("WORKS     on the report");
		LockHandle lock = LockContext.current().orElseThrow();
		long end = System.nanoTime() + this.work.toNanos();
		// After a loss of the lock, the job could stop here. It tries to write, to show
		// that the write is rejected
		while (lock.isHeld() && System.nanoTime() - end < 0) {
			Thread.sleep(STEP_MILLIS);
		}
		Report report = this.store.report(lock.token(), this.instance);
		this.writes.write("the report", () -> this.store.write(report));
		return report;
	}

}
