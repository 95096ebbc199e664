package dev.dblock.actuate;

import java.util.List;

import dev.dblock.LockInfo;
import dev.dblock.LockOperations;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;

/**
 * Shows the locks as the server has them, and takes one away from its holder. Names are
 * full names, as they are listed. One in the path may have slashes in it; as a parameter
 * it may have anything in it, what proxies and firewalls refuse in a path included.
 */
@Endpoint(id = "dblock", defaultAccess = Access.READ_ONLY)
public final class DblockEndpoint {

	private static final Logger logger = LoggerFactory.getLogger(DblockEndpoint.class);

	private final LockOperations operations;

	private final String prefix;

	/**
	 * An endpoint.
	 * @param operations what knows the locks
	 * @param prefix what it puts before every name
	 */
	public DblockEndpoint(LockOperations operations, String prefix) {
		this.operations = operations;
		this.prefix = prefix;
	}

	/**
	 * All locks, those that are free included; or one of them.
	 * @param name the one; {@code null} for all
	 * @return the locks, by name, or {@code null} when there is no such lock
	 */
	@ReadOperation
	public @Nullable Locks locks(@Nullable String name) {
		if (name == null) {
			return new Locks(this.operations.list());
		}
		return this.operations.inspect(ofApplication(name)).map((lock) -> new Locks(List.of(lock))).orElse(null);
	}

	/**
	 * One lock.
	 * @param path its name
	 * @return the lock, or {@code null} when there is no such lock
	 */
	@ReadOperation
	public @Nullable LockInfo lock(@Selector(match = Match.ALL_REMAINING) String... path) {
		return this.operations.inspect(ofApplication(String.join("/", path))).orElse(null);
	}

	/**
	 * Take a lock away from its holder.
	 * @param name its name
	 * @param now whether the name is to be free at once, which gives up exclusion
	 * @return what that means
	 */
	@DeleteOperation
	public ForcedRelease release(String name, @Nullable Boolean now) {
		String own = ofApplication(name);
		LockInfo before = this.operations.inspect(own).orElse(null);
		if (before == null) {
			return ForcedRelease.ofNothing();
		}
		boolean atOnce = Boolean.TRUE.equals(now);
		boolean released = atOnce ? this.operations.forceReleaseNow(own) : this.operations.forceRelease(own);
		ForcedRelease answer = ForcedRelease.of(before, released, atOnce);
		if (released) {
			logger.warn("The lock '{}' was taken away by an operator. {}", before.name(), answer.meaning());
		}
		return answer;
	}

	/**
	 * Take a lock away from its holder.
	 * @param path its name
	 * @param now whether the name is to be free at once, which gives up exclusion
	 * @return what that means
	 */
	@DeleteOperation
	public ForcedRelease releaseLock(@Selector(match = Match.ALL_REMAINING) String[] path, @Nullable Boolean now) {
		return release(String.join("/", path), now);
	}

	private String ofApplication(String name) {
		return name.startsWith(this.prefix) ? name.substring(this.prefix.length()) : name;
	}

	/**
	 * Several locks.
	 *
	 * @param locks the locks, by name
	 */
	public record Locks(List<LockInfo> locks) {
	}

}
