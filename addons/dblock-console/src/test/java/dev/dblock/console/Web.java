package dev.dblock.console;

import org.glassfish.jersey.server.ResourceConfig;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.web.servlet.DispatcherServlet;

/**
 * What serves the endpoints.
 */
enum Web {

	MVC {

		@Override
		SpringApplicationBuilder application() {
			return new SpringApplicationBuilder(ConsoleApplication.class).web(WebApplicationType.SERVLET);
		}

	},

	WEBFLUX {

		@Override
		SpringApplicationBuilder application() {
			return new SpringApplicationBuilder(ConsoleApplication.class).web(WebApplicationType.REACTIVE);
		}

	},

	/** Only if Spring MVC is absent. */
	JERSEY {

		@Override
		SpringApplicationBuilder application() {
			return new SpringApplicationBuilder(ConsoleApplication.class, JerseyConfiguration.class)
				.web(WebApplicationType.SERVLET)
				.resourceLoader(new DefaultResourceLoader(new FilteredClassLoader(DispatcherServlet.class)));
		}

	};

	abstract SpringApplicationBuilder application();

	Instance start(String... properties) {
		return Instance.start(application(), properties);
	}

	@Configuration(proxyBeanMethods = false)
	static class JerseyConfiguration {

		@Bean
		ResourceConfig resources() {
			return new ResourceConfig();
		}

	}

}
