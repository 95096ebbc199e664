package dev.dblock.core;

import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

import dev.dblock.LockInfo;

/**
 * What a store has for the applications with one prefix.
 *
 * @param repository the store
 * @param prefix what their locks' full names begin with
 * @param completion adds what is known of a lock beside
 */
record LocksOfRepository(LockRepository repository, String prefix,
		UnaryOperator<LockInfo> completion) implements LocksByFullName {

	@Override
	public List<LockInfo> list() {
		return this.repository.findAll(this.prefix).stream().map(this.completion).toList();
	}

	@Override
	public Optional<LockInfo> find(String fullName) {
		return this.repository.find(fullName).map(this.completion);
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
