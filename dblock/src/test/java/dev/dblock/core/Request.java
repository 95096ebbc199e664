package dev.dblock.core;

import java.time.Duration;
import java.util.List;

import dev.dblock.store.LeaseKey;

/**
 * One request as it reached the {@link InMemoryLockRepository}.
 *
 * @param kind the kind of request
 * @param leases the leases that it was about
 * @param timeout the time limit that came with it, zero where there is none
 * @param thread the name of the thread that sent it
 */
record Request(Kind kind, List<LeaseKey> leases, Duration timeout, String thread) {

	enum Kind {

		ACQUIRE, RENEW, EXTEND, RELEASE, FIND, LIST, FORCE

	}

	LeaseKey lease() {
		return this.leases.get(0);
	}

	boolean isAbout(String name) {
		return this.leases.stream().anyMatch((lease) -> lease.name().equals(name));
	}

}
