package dev.dblock.sample.billing;

import java.time.Duration;

import dev.dblock.DistributedLock;
import dev.dblock.LockContext;
import dev.dblock.LockHandle;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Service;

/**
 * Sends invoices to an accountant, whose system serves few callers at a time: no more
 * than the lock has permits, from all instances together.
 */
@Service
class Exports {

	private final Duration work;

	Exports(@Value("${sample.export.work}") Duration work) {
		this.work = work;
	}

	@DistributedLock(name = "export", permitsString = "${sample.export.permits}", waitString = "${sample.export.wait}")
	int send() throws InterruptedException {
		Thread.sleep(this.work.toMillis());
		return LockContext.current().map(LockHandle::permit).orElseThrow();
	}

}
