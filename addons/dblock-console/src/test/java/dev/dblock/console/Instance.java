package dev.dblock.console;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;

import org.bson.Document;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An instance of an application with the console, in this JVM.
 */
record Instance(ConfigurableApplicationContext context) implements AutoCloseable {

	private static final HttpClient CLIENT = HttpClient.newHttpClient();

	static Instance start(String... properties) {
		return start(ConsoleApplication.class, properties);
	}

	static Instance start(Class<?> application, String... properties) {
		return start(new SpringApplicationBuilder(application), properties);
	}

	static Instance start(SpringApplicationBuilder application, String... properties) {
		return new Instance(application
			.properties("server.port=0", "spring.main.banner-mode=off",
					"management.endpoints.web.exposure.include=dblockconsole, dblockjobs, dblock",
					"spring.task.scheduling.pool.size=4")
			.properties(properties)
			.run());
	}

	String url() {
		return "http://127.0.0.1:" + port("local.server.port");
	}

	String console() {
		return url() + "/actuator/dblockconsole";
	}

	int port(String property) {
		return this.context.getEnvironment().getRequiredProperty(property, Integer.class);
	}

	<T> T bean(Class<T> type) {
		return this.context.getBean(type);
	}

	Document state(String query) throws IOException, InterruptedException {
		HttpResponse<String> response = get(console() + "/state" + query);
		assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
		return Document.parse(response.body());
	}

	static HttpResponse<String> get(String url) throws IOException, InterruptedException {
		return CLIENT.send(HttpRequest.newBuilder(URI.create(url)).build(), BodyHandlers.ofString());
	}

	@Override
	public void close() {
		this.context.close();
	}

}
