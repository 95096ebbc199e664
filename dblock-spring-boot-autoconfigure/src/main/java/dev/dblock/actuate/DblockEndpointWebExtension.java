package dev.dblock.actuate;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

/**
 * Responds to requests over HTTP to the endpoint {@code dblock}. Lists the known
 * databases when one names an unknown database, since the message of an exception is not
 * included in HTTP responses.
 */
@SuppressWarnings("deprecation")
@EndpointWebExtension(endpoint = DblockEndpoint.class)
final class DblockEndpointWebExtension {

	private final DblockEndpoint endpoint;

	DblockEndpointWebExtension(DblockEndpoint endpoint) {
		this.endpoint = endpoint;
	}

	/**
	 * Return the locks that are unavailable, or a single lock.
	 * @param name the name of the lock; {@code null} for several locks
	 * @param released whether to include locks that are available
	 * @param after the full name after which the list begins; {@code null} for the first
	 * page
	 * @param limit the largest number of locks; {@code null} for a thousand
	 * @param database the name of the database's factory; {@code null} for the default
	 * @return the locks, by name, or 404 if there is no such lock or database
	 */
	@ReadOperation
	WebEndpointResponse<ReadBody> locks(@org.springframework.lang.Nullable @Nullable String name,
			@org.springframework.lang.Nullable @Nullable Boolean released,
			@org.springframework.lang.Nullable @Nullable String after,
			@org.springframework.lang.Nullable @Nullable Integer limit,
			@org.springframework.lang.Nullable @Nullable String database) {
		return answer(() -> this.endpoint.locks(name, released, after, limit, database));
	}

	/**
	 * Return one lock.
	 * @param path the name of the lock
	 * @param database the name of the database's factory; {@code null} for the default
	 * @return the lock, or 404 if there is no such lock or database
	 */
	@ReadOperation
	WebEndpointResponse<ReadBody> lock(@Selector(match = Match.ALL_REMAINING) String[] path,
			@org.springframework.lang.Nullable @Nullable String database) {
		return answer(() -> this.endpoint.lock(path, database));
	}

	private static WebEndpointResponse<ReadBody> answer(Supplier<@Nullable Object> question) {
		try {
			Object answer = question.get();
			return (answer != null) ? new WebEndpointResponse<>(new ReadBody(answer, null))
					: new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND);
		}
		catch (InvalidEndpointRequestException ex) {
			return new WebEndpointResponse<>(new ReadBody(null, String.valueOf(ex.getReason())),
					WebEndpointResponse.STATUS_NOT_FOUND);
		}
	}

}
