package dev.dblock.console;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

import dev.dblock.support.FailureLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.core.io.ClassPathResource;
import org.springframework.util.MimeType;

/**
 * Serves the page, its script and style, and the state that the page requests every two
 * seconds. Changes nothing: the page sends changes to the endpoints {@code dblock} and
 * {@code dblockjobs}, whose access rules apply.
 */
// Spring Boot 3 does not support JSpecify, and rejects a request without a parameter
// unless Spring's own annotation marks the parameter as nullable
@SuppressWarnings("deprecation")
@WebEndpoint(id = ConsoleEndpoint.ID, defaultAccess = Access.READ_ONLY)
final class ConsoleEndpoint {

	static final String ID = "dblockconsole";

	private static final Logger logger = LoggerFactory.getLogger(ConsoleEndpoint.class);

	private static final MimeType HTML = MimeType.valueOf("text/html;charset=UTF-8");

	private static final MimeType JSON = MimeType.valueOf("application/json");

	private static final MimeType CSS = MimeType.valueOf("text/css;charset=UTF-8");

	private static final Map<String, MimeType> FILES = Map.of("theme.css", CSS, "console.css", CSS, "console.js",
			MimeType.valueOf("text/javascript;charset=UTF-8"));

	private static final int LONGEST_PROBLEM = 300;

	private final ConsoleReader reader;

	private final EndpointPaths paths;

	private final Runnable headers;

	/**
	 * Create an endpoint.
	 * @param reader reads the state
	 * @param paths the paths of this and other endpoints
	 * @param headers adds the security headers to the current response, unless a filter
	 * does
	 */
	ConsoleEndpoint(ConsoleReader reader, EndpointPaths paths, Runnable headers) {
		this.reader = reader;
		this.paths = paths;
		this.headers = headers;
	}

	/**
	 * Return the page, whose links are relative, so that it works behind any prefix.
	 * @return the page
	 */
	@ReadOperation(produces = "text/html")
	WebEndpointResponse<byte[]> page() {
		this.headers.run();
		String page = new String(content("console.html"), StandardCharsets.UTF_8);
		return new WebEndpointResponse<>(page.replace("{folder}", this.paths.folder()).getBytes(StandardCharsets.UTF_8),
				WebEndpointResponse.STATUS_OK, HTML);
	}

	/**
	 * Return a file of the page, or the state.
	 * @param file the name of the file, or {@code state}
	 * @param filter a part of the name, the holder or the purpose of the locks to return;
	 * {@code null} for all locks
	 * @return the content, or 404 if there is no such file
	 */
	@ReadOperation(produces = { "application/json", "text/javascript", "text/css" })
	WebEndpointResponse<Object> file(@Selector String file,
			@org.springframework.lang.Nullable @Nullable String filter) {
		this.headers.run();
		if (file.equals("state")) {
			return state((filter != null) ? filter : "");
		}
		MimeType type = FILES.get(file);
		return (type != null) ? new WebEndpointResponse<>(content(file), WebEndpointResponse.STATUS_OK, type)
				: new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND);
	}

	private WebEndpointResponse<Object> state(String filter) {
		try {
			return new WebEndpointResponse<>(this.reader.read(filter, this.paths), WebEndpointResponse.STATUS_OK, JSON);
		}
		catch (RuntimeException ex) {
			logger.debug("The locks and jobs could not be read for the console", ex);
			String problem = FailureLog.onOneLine(String.valueOf(ex.getMessage()), LONGEST_PROBLEM);
			return new WebEndpointResponse<>(Map.of("problem", problem), WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE,
					JSON);
		}
	}

	private static byte[] content(String file) {
		try {
			return new ClassPathResource(file, ConsoleEndpoint.class).getContentAsByteArray();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
