package dev.dblock.console;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpHeaders;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.util.pattern.PathPattern;
import reactor.core.publisher.Mono;

/**
 * Sets the headers of the console's responses with WebFlux, where no thread has the
 * current response.
 */
@ManagementContextConfiguration(proxyBeanMethods = false)
@ConditionalOnWebApplication(type = Type.REACTIVE)
class ConsoleWebFluxConfiguration {

	// The paths are absent if the console is not exposed
	@Bean
	WebFilter dblockConsoleHeaders(ObjectProvider<EndpointPaths> paths) {
		return (exchange, chain) -> {
			exchange.getResponse().beforeCommit(() -> Mono.fromRunnable(() -> paths.ifAvailable((known) -> {
				if (isConsole(exchange, known.path())) {
					HttpHeaders headers = exchange.getResponse().getHeaders();
					SecurityHeaders.ALL.forEach(headers::set);
				}
			})));
			return chain.filter(exchange);
		};
	}

	// By the pattern that the mapping chose, since a path can be written in several ways
	private static boolean isConsole(ServerWebExchange exchange, String root) {
		return exchange.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE) instanceof PathPattern pattern
				&& (pattern.getPatternString().endsWith(root) || pattern.getPatternString().contains(root + "/"));
	}

}
