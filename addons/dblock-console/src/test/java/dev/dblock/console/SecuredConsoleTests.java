package dev.dblock.console;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

import dev.dblock.console.testing.Browser;
import dev.dblock.job.JobOperations;
import dev.dblock.testing.SameOnEachJdk;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.security.autoconfigure.actuate.web.servlet.EndpointRequest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpMethod;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.CsrfConfigurer;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The console with Spring Security, configured as its page documents.
 */
@SameOnEachJdk
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SecuredConsoleTests {

	private Instance instance;

	@BeforeAll
	void start() {
		this.instance = Instance.start(SecuredApplication.class, "dblock.mode=local",
				"management.endpoints.access.default=unrestricted");
	}

	@AfterAll
	void stop() {
		this.instance.close();
	}

	@ParameterizedTest
	@CsvSource({ ",GET,console,401", "viewer,GET,console,200", "viewer,GET,console/state,200",
			"viewer,POST,jobs/reminders,403", "operator,POST,jobs/reminders,403", "viewer,DELETE,?name=a,403",
			"operator,DELETE,?name=a,403" })
	void usersReadAndOnlyOperatorsChangeWithAToken(String user, String method, String path, int status)
			throws Exception {
		HttpRequest.Builder request = HttpRequest
			.newBuilder(URI.create(this.instance.url() + "/actuator/dblock" + path))
			.header("Content-Type", "application/json")
			.method(method, BodyPublishers.ofString("{\"action\": \"pause\"}"));
		if (user != null) {
			request.header("Authorization",
					"Basic " + Base64.getEncoder().encodeToString((user + ":pw").getBytes(StandardCharsets.UTF_8)));
		}
		HttpResponse<String> response = HttpClient.newHttpClient().send(request.build(), BodyHandlers.ofString());
		assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
		assertThat(this.instance.bean(JobOperations.class).find("reminders").orElseThrow().paused()).isFalse();
	}

	@Test
	@ExtendWith(Browser.Condition.class)
	void pageSendsTheTokenOfTheCookie() {
		try (Browser browser = new Browser()) {
			browser.open(this.instance.console().replace("//", "//operator:pw@"));
			browser.open(this.instance.console());
			browser.await(() -> assertThat(browser.text("#jobs")).contains("reminders"));
			browser.find("[data-key=payments] [data-part=pause]").click();
			browser.await(() -> assertThat(browser.text("[data-key=payments] .next")).startsWith("paused by operator"));
			browser.find("#dismiss").click();
			browser.find("[data-key=payments] [data-part=pause]").click();
			browser.await(() -> assertThat(browser.text("#result")).isEqualTo("It runs from its next planned time."));
			assertThat(browser.errors()).isEmpty();
		}
	}

	@Test
	@ExtendWith(Browser.Condition.class)
	void viewerIsToldThatAChangeIsRefused() {
		try (Browser browser = new Browser()) {
			browser.open(this.instance.console().replace("//", "//viewer:pw@"));
			browser.open(this.instance.console());
			browser.await(() -> assertThat(browser.text("#jobs")).contains("reminders"));
			browser.find("[data-key=reminders] [data-part=pause]").click();
			browser.await(() -> assertThat(browser.text("#result")).startsWith("Your user may not do this"));
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(ConsoleApplication.JobConfiguration.class)
	static class SecuredApplication {

		@Bean
		SecurityFilterChain locks(HttpSecurity http) throws Exception {
			return http.securityMatcher(EndpointRequest.to("dblock", "dblockjobs", "dblockconsole"))
				.authorizeHttpRequests((requests) -> requests.requestMatchers(HttpMethod.GET)
					.hasAnyRole("VIEWER", "OPERATOR")
					.anyRequest()
					.hasRole("OPERATOR"))
				.csrf(CsrfConfigurer::spa)
				.httpBasic(Customizer.withDefaults())
				.build();
		}

		@Bean
		UserDetailsService users() {
			return new InMemoryUserDetailsManager(
					User.withUsername("viewer").password("{noop}pw").roles("VIEWER").build(),
					User.withUsername("operator").password("{noop}pw").roles("OPERATOR").build());
		}

	}

}
