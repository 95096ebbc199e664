package dev.dblock.sample;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import dev.dblock.console.testing.Browser;
import dev.dblock.console.testing.InstanceProcess;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The scheduled jobs on the live page in a real browser, with two instances in processes
 * of their own. A run of the statements never ends on the first instance, and ends at
 * once on the second.
 */
@ExtendWith(Browser.Condition.class)
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class JobPageTests {

	private InstanceProcess one;

	private InstanceProcess two;

	private Browser browser;

	@BeforeEach
	void start(MongoServer server) throws Exception {
		String uri = "--spring.mongodb.uri=" + server.uri(server.freshDatabase());
		this.one = InstanceProcess.start(SampleApplication.class, "one", uri, "--dblock.lease=5s",
				"--sample.statements.every-seconds=2", "--sample.statements.work=1h",
				"--sample.reminders.every-seconds=2", "--sample.payments.every=2s", "--sample.payments.failures=1");
		this.two = InstanceProcess.start(SampleApplication.class, "two", uri, "--dblock.lease=5s",
				"--sample.statements.every-seconds=2", "--sample.statements.work=1ms",
				"--sample.reminders.every-seconds=2", "--sample.payments.every=2s", "--sample.payments.failures=1");
		this.browser = new Browser();
		Awaitility.await().atMost(Duration.ofMinutes(4)).ignoreExceptions().until(() -> {
			this.browser.open(this.two.url());
			return this.browser.find("#feed").isDisplayed();
		});
		await(() -> assertThat(this.browser.text("#instances")).contains("one", "two"));
		this.browser.errors();
	}

	@AfterEach
	void stop() throws Exception {
		this.browser.close();
		this.two.close();
		this.one.close();
	}

	@Test
	void failedRunsAreMarkedWithTheirReason() {
		await(() -> assertThat(runs("payments", ".failed"))
			.anySatisfy((run) -> assertThat(run).contains("failed", "The bank does not answer")));
		assertThat(this.browser.text("[data-job=payments] .failed")).isEqualTo("✕");
		assertThat(this.browser.text("[data-job=payments] .schedule")).isEqualTo("fixed rate 2s");
		await(() -> assertThat(this.browser.text("#log")).contains("payments failed:"));
		assertFitsAPhone();
		assertThat(this.browser.errors()).isEmpty();
	}

	@Test
	void jobIsPausedOnAllInstancesAndRunByHand() {
		await(() -> assertThat(runs("reminders", "[data-outcome=SUCCEEDED]")).hasSizeGreaterThan(1));
		await(() -> assertThat(this.browser.text("[data-job=reminders] .next")).matches("in \\d s|due now"));
		this.browser.run("document.querySelector('[data-job=reminders] .pause').focus()");
		assertThat(focused().getAccessibleName()).isEqualTo("Pause reminders");
		focused().sendKeys(Keys.ENTER);
		// On a busy machine, the page may have changed its feed to the other instance
		await(() -> assertThat(this.browser.text("[data-job=reminders] .next"))
			.matches("paused by the page of (one|two)"));
		await(() -> assertThat(this.browser.text("#answer"))
			.isEqualTo("All instances skip reminders until it is resumed"));
		assertThat(focused().getAccessibleName()).as("the news leave the focus where it is")
			.isEqualTo("Resume reminders");
		// A run may have begun as its job was paused
		awaitRuns("payments", 1);
		List<String> before = plannedTimes("reminders");
		awaitRuns("payments", 3);
		assertThat(plannedTimes("reminders")).isEqualTo(before);
		focused().sendKeys(Keys.TAB, Keys.ENTER);
		await(() -> assertThat(this.browser.text("#answer")).matches("(?s)reminders on (one|two): .*"));
		this.browser.find("[data-job=reminders] .pause").click();
		await(() -> assertThat(this.browser.text("#answer")).isEqualTo("reminders is resumed"));
		await(() -> assertThat(plannedTimes("reminders")).isNotEqualTo(before));
		assertThat(this.browser.errors()).isEmpty();
	}

	@Test
	void crashedRunIsRepeatedByTheOtherInstance() throws Exception {
		await(() -> assertThat(this.browser.text("[data-job=statements] .where")).isEqualTo("one"));
		await(() -> assertThat(runs("statements", "[data-outcome=RUNS]")).singleElement()
			.satisfies((run) -> assertThat(run).contains("on one: runs")));
		this.one.process().destroyForcibly();
		assertThat(this.one.process().waitFor(60, TimeUnit.SECONDS)).isTrue();
		await(() -> assertThat(runs("statements", ".crashed")).singleElement()
			.satisfies((run) -> assertThat(run).contains("on one: crashed")));
		await(() -> assertThat(runs("statements", "[data-outcome=SUCCEEDED]"))
			.anySatisfy((run) -> assertThat(run).contains("on two, attempt 2: succeeded")));
		await(() -> assertThat(this.browser.text("#log")).contains("two repeats the run of statements"));
		assertThat(this.browser.errorsWithout(this.one)).isEmpty();
	}

	private void assertFitsAPhone() {
		this.browser.resize(390, 844);
		await(() -> assertThat(
				this.browser.run("return document.documentElement.scrollWidth <= document.documentElement.clientWidth"))
			.isEqualTo(true));
		assertThat(this.browser.find("[data-job=payments] .run").isDisplayed()).isTrue();
	}

	private WebElement focused() {
		return this.browser.driver().switchTo().activeElement();
	}

	private void awaitRuns(String job, int count) {
		List<String> before = plannedTimes(job);
		await(() -> assertThat(plannedTimes(job)).filteredOn((time) -> !before.contains(time))
			.hasSizeGreaterThanOrEqualTo(count));
	}

	/**
	 * Of the runs of a job that are shown, the oldest first.
	 */
	private List<String> plannedTimes(String job) {
		return runs(job, "[data-outcome]").stream().map((run) -> run.substring(0, run.indexOf(" on "))).toList();
	}

	/**
	 * The runs of a job in words, the oldest first.
	 */
	@SuppressWarnings("unchecked")
	private List<String> runs(String job, String selector) {
		return (List<String>) this.browser
			.run("return [...document.querySelectorAll('[data-job=%s] .strip li%s')].map((run) => run.title)"
				.formatted(job, selector));
	}

	private void await(ThrowingRunnable assertion) {
		this.browser.await(assertion);
	}

}
