package dev.dblock.sample;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * One instance of the sample, several of which can run in one JVM.
 */
final class Instance implements AutoCloseable {

	private final HttpClient client = HttpClient.newHttpClient();

	private final ConfigurableApplicationContext context;

	private Instance(ConfigurableApplicationContext context) {
		this.context = context;
	}

	static Instance start(String name, String... arguments) {
		return start(SampleApplication.class, name, arguments);
	}

	/**
	 * Start the sample with something beside it.
	 */
	static Instance start(Class<?> application, String name, String... arguments) {
		List<String> all = new ArrayList<>(List.of("--server.port=0", "--dblock.acquirer=" + name));
		all.addAll(List.of(arguments));
		return new Instance(new SpringApplicationBuilder(application).run(all.toArray(new String[all.size()])));
	}

	ConfigurableApplicationContext context() {
		return this.context;
	}

	HttpResponse<String> get(String path) throws IOException, InterruptedException {
		return this.client.send(request(path).build(), BodyHandlers.ofString());
	}

	HttpResponse<String> post(String path) throws IOException, InterruptedException {
		return this.client.send(request(path).POST(HttpRequest.BodyPublishers.noBody()).build(),
				BodyHandlers.ofString());
	}

	HttpResponse<String> post(String path, String json) throws IOException, InterruptedException {
		return this.client.send(request(path).header("Content-Type", "application/json")
			.POST(HttpRequest.BodyPublishers.ofString(json))
			.build(), BodyHandlers.ofString());
	}

	CompletableFuture<HttpResponse<String>> posting(String path) {
		return this.client.sendAsync(request(path).POST(HttpRequest.BodyPublishers.noBody()).build(),
				BodyHandlers.ofString());
	}

	private HttpRequest.Builder request(String path) {
		String port = this.context.getEnvironment().getRequiredProperty("local.server.port");
		return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
	}

	@Override
	public void close() {
		this.context.close();
	}

}
