package dev.dblock.annotation.contradictory;

import dev.dblock.DistributedLock;

import org.springframework.stereotype.Component;

/**
 * Has a lock of two names. Nothing that scans may find it but the test that is about it:
 * it cannot be scanned.
 */
@Component
public class ContradictoryJob {

	@DistributedLock(name = "nightly", value = "weekly")
	public void run() {
	}

}
