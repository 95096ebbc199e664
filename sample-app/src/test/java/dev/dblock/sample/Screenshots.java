package dev.dblock.sample;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import dev.dblock.console.testing.Browser;
import dev.dblock.console.testing.InstanceProcess;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.OutputType;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * No test: takes the pictures of the page for the documentation, when it is asked for by
 * its name ({@code -Dtest=Screenshots}). They are written to {@code target/screenshots}.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class Screenshots {

	private static final Path FOLDER = Path.of("target/screenshots");

	@Test
	void take(MongoServer server) throws Exception {
		String uri = "--spring.mongodb.uri=" + server.uri(server.freshDatabase());
		List<InstanceProcess> instances = new ArrayList<>();
		Files.createDirectories(FOLDER);
		try (Browser browser = new Browser()) {
			for (int number = 0; number < 3; number++) {
				instances.add(InstanceProcess.start(SampleApplication.class, "sample-808" + number, uri));
			}
			browser.resize(1280, 2200);
			String url = instances.get(2).url();
			browser.open(url, "#feed");
			browser.await(() -> assertThat(browser.text("#instances")).contains("sample-8080", "sample-8081"));
			browser.await(() -> assertThat(Integer.parseInt(browser.text("#grants"))).isGreaterThan(40));
			press(browser, "sample-8080", "REPORT");
			browser.await(() -> assertThat(browser.text("[data-instance=sample-8080] .holds")).contains("report"));
			press(browser, "sample-8081", "ASK");
			browser.await(() -> assertThat(browser.text("[data-instance=sample-8081] .waits")).contains("report"));
			for (String scheme : List.of("dark", "light")) {
				browser.emulate("prefers-color-scheme", scheme);
				browser.resize(1280, 1250);
				take(browser, "running-" + scheme);
			}
			browser.resize(1280, 2200);
			press(browser, "sample-8080", "PAUSE");
			browser.await(() -> assertThat(browser.text("[data-instance=sample-8081] .holds")).contains("report"));
			take(browser, "paused-light");
			browser.emulate("prefers-color-scheme", "dark");
			take(browser, "paused-dark");
			browser.emulate("prefers-color-scheme", "light");
			browser.await(() -> assertThat(browser.text("#log")).contains("its commit was refused"));
			browser.await(() -> assertThat(browser.text("#log")).contains("releases report"));
			for (String scheme : List.of("light", "dark")) {
				browser.emulate("prefers-color-scheme", scheme);
				browser.resize(1280, 2200);
				take(browser, "whole-" + scheme);
				browser.resize(1280, 1250);
				take(browser, "live-" + scheme);
			}
			browser.open(url + "actuator/dblockconsole");
			browser.resize(1280, 886);
			browser.await(() -> assertThat(browser.text("[data-key=statements] [data-part=where]")).isEmpty());
			browser.await(
					() -> assertThat(browser.text("[data-key=statements] [data-part=where]")).isEqualTo("sample-8081"));
			instances.get(1).process().destroyForcibly();
			browser.await(() -> assertThat(browser.titles("[data-key=statements] .strip li"))
				.anySatisfy((run) -> assertThat(run).contains("attempt 2 after")));
			for (String scheme : List.of("light", "dark")) {
				browser.emulate("prefers-color-scheme", scheme);
				take(browser, "console-" + scheme);
			}
			browser.open(url);
			browser.emulate("prefers-color-scheme", "light");
			browser.resize(390, 3600);
			browser.await(() -> assertThat(browser.text("#open")).isNotEmpty());
			take(browser, "phone-light");
			browser.emulate("prefers-color-scheme", "dark");
			take(browser, "phone-dark");
		}
		finally {
			for (InstanceProcess instance : instances) {
				instance.close();
			}
		}
	}

	private static void press(Browser browser, String instance, String command) {
		browser.find("[data-instance=%s] [data-command=%s]".formatted(instance, command)).click();
	}

	private static void take(Browser browser, String name) throws Exception {
		Files.write(FOLDER.resolve(name + ".png"), browser.driver().getScreenshotAs(OutputType.BYTES));
	}

}
