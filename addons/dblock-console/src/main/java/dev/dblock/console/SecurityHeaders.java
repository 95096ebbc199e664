package dev.dblock.console;

import java.util.Map;

import org.springframework.http.HttpHeaders;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * Headers of each response: nothing from elsewhere, no inline script or style, no markup
 * from text, no frame.
 */
final class SecurityHeaders {

	static final Map<String, String> ALL = Map.of("Content-Security-Policy",
			"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
					+ " base-uri 'none'; form-action 'none'; frame-ancestors 'none'; trusted-types 'none';"
					+ " require-trusted-types-for 'script'",
			"X-Content-Type-Options", "nosniff", "Referrer-Policy", "no-referrer", HttpHeaders.CACHE_CONTROL,
			"no-cache, no-store");

	private SecurityHeaders() {
	}

	/**
	 * Set the headers of the current response of Spring MVC or Jersey. An operation of an
	 * endpoint cannot return headers.
	 */
	static void set() {
		if (RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes request
				&& request.getResponse() != null) {
			ALL.forEach(request.getResponse()::setHeader);
		}
	}

}
