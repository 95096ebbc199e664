package dev.dblock.actuate;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;

import dev.dblock.LockInfo;
import dev.dblock.LockPage;
import dev.dblock.store.LockAdministration;
import dev.dblock.support.LockMdc;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;

/**
 * Shows the locks as stored on the server, and releases a lock by force. Names are full
 * names, as listed. A name in the path may contain slashes. A name in a parameter may
 * contain any characters, including those that proxies and firewalls reject in a path.
 */
// Spring Boot 3 does not support JSpecify, and rejects a request without a parameter
// unless Spring's own annotation marks the parameter as nullable
@SuppressWarnings("deprecation")
@Endpoint(id = "dblock", defaultAccess = Access.READ_ONLY)
final class DblockEndpoint {

	private static final Logger logger = LoggerFactory.getLogger(DblockEndpoint.class);

	private static final int USUAL_LIMIT = 1000;

	private final Function<@Nullable String, @Nullable LockAdministration> databases;

	private final String prefix;

	/**
	 * Create an endpoint.
	 * @param databases returns the locks of a database by the name of its factory, or
	 * those of the default database for {@code null}. If there is no such factory, it
	 * returns {@code null} or throws an {@link IllegalArgumentException} that lists the
	 * available ones
	 * @param prefix the prefix of every name, which requests may omit
	 */
	DblockEndpoint(Function<@Nullable String, @Nullable LockAdministration> databases, String prefix) {
		this.databases = databases;
		this.prefix = prefix;
	}

	/**
	 * Return the locks that are unavailable, or a single lock with all of its permits.
	 * @param name the name of the lock; {@code null} for several locks
	 * @param released whether to include locks that are available, of which there can be
	 * very many
	 * @param after the full name after which the list begins; {@code null} for the first
	 * page
	 * @param limit the largest number of locks; {@code null} for a thousand. A limit that
	 * is not possible is replaced by the nearest one that is
	 * @param database the name of the database's factory; {@code null} for the default
	 * @return the locks, by name, or {@code null} if there is no such lock
	 * @throws InvalidEndpointRequestException if there is no such database
	 */
	@ReadOperation
	@Nullable LockPage locks(@org.springframework.lang.Nullable @Nullable String name,
			@org.springframework.lang.Nullable @Nullable Boolean released,
			@org.springframework.lang.Nullable @Nullable String after,
			@org.springframework.lang.Nullable @Nullable Integer limit,
			@org.springframework.lang.Nullable @Nullable String database) {
		LockAdministration locks = in(database);
		if (name == null) {
			int size = (limit != null) ? Math.max(1, Math.min(limit, LockPage.LARGEST)) : USUAL_LIMIT;
			return locks.list(Boolean.TRUE.equals(released), (after != null) ? after : "", size);
		}
		List<LockInfo> found = locks.findPermits(fullName(name));
		return found.isEmpty() ? null : new LockPage(found, false);
	}

	/**
	 * Return one lock.
	 * @param path the name of the lock
	 * @param database the name of the database's factory; {@code null} for the default
	 * @return the lock, or {@code null} if there is no such lock
	 * @throws InvalidEndpointRequestException if there is no such database
	 */
	@ReadOperation
	@Nullable LockInfo lock(@Selector(match = Match.ALL_REMAINING) String[] path,
			@org.springframework.lang.Nullable @Nullable String database) {
		return find(in(database), String.join("/", path)).orElse(null);
	}

	/**
	 * Release a lock by force.
	 * @param name the name of the lock
	 * @param now whether the lock becomes free at once, which gives up exclusion
	 * @param database the name of the database's factory; {@code null} for the default
	 * @return the result with its consequences
	 */
	@DeleteOperation
	ForcedRelease release(String name, @org.springframework.lang.Nullable @Nullable Boolean now,
			@org.springframework.lang.Nullable @Nullable String database) {
		LockAdministration locks;
		try {
			locks = in(database);
		}
		catch (InvalidEndpointRequestException ex) {
			return ForcedRelease.ofNoDatabase(String.valueOf(ex.getReason()));
		}
		LockInfo before = find(locks, name).orElse(null);
		if (before == null) {
			return ForcedRelease.ofNothing();
		}
		boolean atOnce = Boolean.TRUE.equals(now);
		boolean released = atOnce ? locks.forceReleaseNow(before.name()) : locks.forceRelease(before.name());
		ForcedRelease answer = ForcedRelease.of(before, released, atOnce);
		if (released) {
			LockMdc.log(before.name(), before.token(), () -> logger
				.warn("The lock '{}' was released by force by an operator. {}", before.name(), answer.meaning()));
		}
		return answer;
	}

	/**
	 * Release a lock by force.
	 * @param path the name of the lock
	 * @param now whether the lock becomes free at once, which gives up exclusion
	 * @param database the name of the database's factory; {@code null} for the default
	 * @return the result with its consequences
	 */
	@DeleteOperation
	ForcedRelease releaseLock(@Selector(match = Match.ALL_REMAINING) String[] path,
			@org.springframework.lang.Nullable @Nullable Boolean now,
			@org.springframework.lang.Nullable @Nullable String database) {
		return release(String.join("/", path), now, database);
	}

	private LockAdministration in(@Nullable String database) {
		LockAdministration locks;
		try {
			locks = this.databases.apply(database);
		}
		catch (IllegalArgumentException ex) {
			String reason = String.valueOf(ex.getMessage());
			throw new InvalidEndpointRequestException(reason, reason, ex);
		}
		if (locks == null) {
			String reason = ("There is no database factory '%s'. The parameter 'database' is the name of a"
					+ " MongoDatabaseFactory bean; omit it for the default one")
				.formatted(database);
			throw new InvalidEndpointRequestException(reason, reason);
		}
		return locks;
	}

	private Optional<LockInfo> find(LockAdministration locks, String name) {
		return locks.find(fullName(name));
	}

	private String fullName(String name) {
		return name.startsWith(this.prefix) ? name : this.prefix + name;
	}

}
