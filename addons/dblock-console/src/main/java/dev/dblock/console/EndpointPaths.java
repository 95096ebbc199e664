package dev.dblock.console;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.web.ExposableWebEndpoint;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.actuate.endpoint.web.WebEndpointHttpMethod;
import org.springframework.util.StringUtils;

/**
 * The paths of the console and of the endpoints to which it sends changes. They are known
 * only after all endpoints were created.
 */
final class EndpointPaths {

	private static final EndpointId CONSOLE = EndpointId.of(ConsoleEndpoint.ID);

	private final Supplier<PathMappedEndpoints> endpoints;

	EndpointPaths(Supplier<PathMappedEndpoints> endpoints) {
		this.endpoints = endpoints;
	}

	/**
	 * Return the path of the console below the base path of the endpoints.
	 */
	String root() {
		String root = this.endpoints.get().getRootPath(CONSOLE);
		return (root != null) ? root : ConsoleEndpoint.ID;
	}

	/**
	 * Return the path of the console with the base path of the endpoints.
	 */
	String path() {
		String path = this.endpoints.get().getPath(CONSOLE);
		return (path != null) ? path : "/" + root();
	}

	/**
	 * Return the last part of the console's path, to which the page's links are relative.
	 */
	String folder() {
		return root().substring(root().lastIndexOf('/') + 1);
	}

	/**
	 * Return the path of an endpoint, if it is exposed and its access permits a method.
	 * @param id the id of the endpoint
	 * @param method the method
	 * @return its path, relative to the files of the console; {@code null} if not
	 * permitted
	 */
	@Nullable String permitted(String id, WebEndpointHttpMethod method) {
		return (this.endpoints.get().getEndpoint(EndpointId.of(id)) instanceof ExposableWebEndpoint endpoint
				&& endpoint.getOperations()
					.stream()
					.anyMatch((operation) -> operation.getRequestPredicate().getHttpMethod() == method))
							? "../".repeat(StringUtils.countOccurrencesOf(root(), "/") + 1) + endpoint.getRootPath()
							: null;
	}

}
