package dev.dblock.core;

import java.util.List;
import java.util.Optional;

import dev.dblock.LockInfo;

/**
 * What a store has for the applications with one prefix.
 */
record LocksOfRepository(LockRepository repository, String prefix) implements LocksByFullName {

	@Override
	public List<LockInfo> list() {
		return this.repository.findAll(this.prefix);
	}

	@Override
	public Optional<LockInfo> find(String fullName) {
		return this.repository.find(fullName);
	}

	@Override
	public boolean forceRelease(String fullName) {
		return this.repository.forceRelease(fullName);
	}

	@Override
	public boolean forceReleaseNow(String fullName) {
		return this.repository.forceReleaseNow(fullName);
	}

}
