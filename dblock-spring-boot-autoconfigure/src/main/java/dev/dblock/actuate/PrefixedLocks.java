package dev.dblock.actuate;

import java.util.List;
import java.util.Optional;

import dev.dblock.LockInfo;
import dev.dblock.LockOperations;
import dev.dblock.store.LockAdministration;

/**
 * Locks of operations that put the same prefix before every name.
 */
record PrefixedLocks(LockOperations operations, String prefix) implements LockAdministration {

	@Override
	public List<LockInfo> list() {
		return this.operations.list();
	}

	@Override
	public Optional<LockInfo> find(String fullName) {
		return this.operations.inspect(ofApplication(fullName));
	}

	@Override
	public boolean forceRelease(String fullName) {
		return this.operations.forceRelease(ofApplication(fullName));
	}

	@Override
	public boolean forceReleaseNow(String fullName) {
		return this.operations.forceReleaseNow(ofApplication(fullName));
	}

	private String ofApplication(String fullName) {
		return fullName.startsWith(this.prefix) ? fullName.substring(this.prefix.length()) : fullName;
	}

}
