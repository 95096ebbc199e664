package dev.dblock.actuate;

import java.util.Map;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

/**
 * Tells who asks the endpoint {@code dblock} over HTTP for an unknown database which ones
 * there are: the text of an exception is not shown there.
 */
@SuppressWarnings("deprecation")
@EndpointWebExtension(endpoint = DblockEndpoint.class)
public final class DblockEndpointWebExtension {

	private final DblockEndpoint endpoint;

	/**
	 * An extension.
	 * @param endpoint what it extends
	 */
	public DblockEndpointWebExtension(DblockEndpoint endpoint) {
		this.endpoint = endpoint;
	}

	/**
	 * All locks, those that are free included; or one of them.
	 * @param name the one; {@code null} for all
	 * @param database the name of the database's factory; {@code null} for the usual one
	 * @return the locks, by name, or 404 when there is no such lock or database
	 */
	@ReadOperation
	public WebEndpointResponse<Object> locks(@org.springframework.lang.Nullable @Nullable String name,
			@org.springframework.lang.Nullable @Nullable String database) {
		return answer(() -> this.endpoint.locks(name, database));
	}

	/**
	 * One lock.
	 * @param path its name
	 * @param database the name of the database's factory; {@code null} for the usual one
	 * @return the lock, or 404 when there is no such lock or database
	 */
	@ReadOperation
	public WebEndpointResponse<Object> lock(@Selector(match = Match.ALL_REMAINING) String[] path,
			@org.springframework.lang.Nullable @Nullable String database) {
		return answer(() -> this.endpoint.lock(path, database));
	}

	private static WebEndpointResponse<Object> answer(Supplier<@Nullable Object> question) {
		try {
			Object answer = question.get();
			return (answer != null) ? new WebEndpointResponse<>(answer)
					: new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND);
		}
		catch (InvalidEndpointRequestException ex) {
			return new WebEndpointResponse<>(Map.of("meaning", String.valueOf(ex.getReason())),
					WebEndpointResponse.STATUS_NOT_FOUND);
		}
	}

}
