package dev.dblock.sample;

import java.util.List;
import java.util.concurrent.TimeUnit;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import dev.dblock.console.testing.Browser;
import dev.dblock.console.testing.InstanceProcess;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.awaitility.core.ThrowingRunnable;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The live page in a real browser, with two instances in processes of their own.
 * <p>
 * The report of the first instance never ends by itself. A pause is twice as long as a
 * lease with its allowance, so a lease that was renewed right before it is over at its
 * end, however slow the machine is.
 */
@ExtendWith(Browser.Condition.class)
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class LivePageTests {

	private InstanceProcess one;

	private InstanceProcess two;

	private Browser browser;

	private MongoClient client;

	private MongoCollection<Document> reports;

	private MongoCollection<Document> locks;

	@BeforeEach
	void start(MongoServer server) throws Exception {
		String database = server.freshDatabase();
		String uri = "--spring.mongodb.uri=" + server.uri(database);
		this.client = MongoClients.create(server.uri(database));
		this.reports = this.client.getDatabase(database).getCollection("reports");
		this.locks = this.client.getDatabase(database).getCollection("dblock_locks");
		this.one = InstanceProcess.start(SampleApplication.class, "one", uri, "--dblock.lease=5s",
				"--sample.live.pause=11s", "--sample.live.longest-wait=1h", "--sample.report.work=1h");
		this.two = InstanceProcess.start(SampleApplication.class, "two", uri, "--dblock.lease=5s",
				"--sample.live.pause=11s", "--sample.live.longest-wait=1h", "--sample.report.work=1ms");
		this.browser = new Browser();
	}

	@AfterEach
	void stop() throws Exception {
		this.browser.close();
		this.client.close();
		this.two.close();
		this.one.close();
	}

	@Test
	void pausedHolderLosesItsLockAndItsCommitIsRefused() throws Exception {
		open(this.two);
		makeReportOnOneAndAskOnTwo();
		long token = token();
		awaitRenewal();
		press("one", "PAUSE");
		await(() -> assertThat(logged("PAUSED")).anyMatch((line) -> line.contains("one is stopped by SIGSTOP")));
		await(() -> assertThat(logged("EXPIRED")).anyMatch((line) -> line.contains("one's lease on report has ended")));
		await(() -> assertThat(logged("ACQUIRED")).anyMatch((line) -> line.contains("two takes over report")));
		await(() -> assertThat(logged("RESUMED")).anyMatch((line) -> line.contains("one resumes")));
		await(() -> assertThat(logged("LOST")).anyMatch((line) -> line.contains("one lost report")));
		await(() -> assertThat(logged("WRITE_REFUSED"))
			.anyMatch((line) -> line.contains("one could not write the report: its commit was refused")));
		assertThat(this.reports.find()).singleElement()
			.satisfies((report) -> assertThat(report).containsEntry("writtenBy", "two"));
		assertThat(token()).isGreaterThan(token);
		await(() -> assertThat(this.browser.text("[data-instance=one] .state")).contains("running"));
		assertNothingTwice();
		await(() -> assertThat(
				this.browser.find("#time rect[data-lock=report][data-token='" + token + "']").isDisplayed())
			.isTrue());
		assertThat(this.browser.errors()).isEmpty();
		assertThatOnlyInstancesWereAsked();
	}

	/**
	 * By keyboard, and then on a phone: both need a report that goes on, as this does.
	 * The console then shows the job of the other instance.
	 */
	@Test
	void jobOfAKilledInstanceMoves() throws Exception {
		open(this.two);
		makeReportOnOneByKeyboard();
		assertReadableEverywhere();
		askOnTwo();
		press("one", "KILL");
		assertThat(this.one.process().waitFor(60, TimeUnit.SECONDS)).isTrue();
		await(() -> assertThat(this.browser.text("[data-instance=one] .state")).contains("silent for"));
		assertThat(this.browser.text("[data-instance=one] .waits")).isEqualTo("nothing");
		await(() -> assertThat(logged("ACQUIRED")).anyMatch((line) -> line.contains("two takes over report")));
		await(() -> assertThat(this.reports.find()).singleElement()
			.satisfies((report) -> assertThat(report).containsEntry("writtenBy", "two")));
		assertNothingTwice();
		assertThat(this.browser.errorsWithout(this.one)).isEmpty();
		assertThatOnlyInstancesWereAsked();
		this.browser.find("nav .console").click();
		await(() -> assertThat(this.browser.text("[data-key=invoice-run] summary")).contains("succeeded on two"));
		assertThat(this.browser.text("#jobs")).contains("payments", "reminders", "statements");
		this.browser.find("[data-key=reminders] [data-part=pause]").click();
		await(() -> assertThat(this.browser.text("[data-key=reminders] .next"))
			.startsWith("paused by the console of two"));
		assertThat(this.browser.errorsWithout(this.one)).isEmpty();
	}

	@Test
	void pageGoesOnWithAnotherInstanceWhenItsOwnIsPaused() {
		open(this.one);
		await(() -> {
			// On a busy machine, the page may have changed its feed already
			if (this.browser.text("#feed").contains("Seen by two")) {
				this.browser.open(this.one.url());
			}
			assertThat(this.browser.text("#feed")).contains("Seen by one");
		});
		press("one", "PAUSE");
		await(() -> assertThat(this.browser.text("#feed")).contains("Seen by two"));
		await(() -> assertThat(this.browser.text("[data-instance=one] .state")).contains("running"));
		press("one", "STOP");
		await(() -> assertThat(this.browser.text("[data-instance=one] .state")).contains("stopped"));
		assertThat(this.browser.errorsWithout(this.one)).isEmpty();
		assertThatOnlyInstancesWereAsked();
	}

	private void open(InstanceProcess instance) {
		this.browser.open(instance.url(), "#feed");
		await(() -> assertThat(this.browser.text("#instances")).contains("one", "two"));
		this.browser.errors();
		this.browser.requests();
	}

	private void makeReportOnOneByKeyboard() {
		this.browser.run("document.querySelector('[data-instance=one] button').focus()");
		assertThat(this.browser.driver().switchTo().activeElement().getAccessibleName())
			.isEqualTo("Make the report on one");
		this.browser.driver().switchTo().activeElement().sendKeys(Keys.ENTER);
		await(() -> assertThat(this.browser.text("[data-instance=one] .holds")).contains("report"));
		this.browser.driver().switchTo().activeElement().sendKeys(Keys.TAB);
		assertThat(this.browser.driver().switchTo().activeElement().getAccessibleName())
			.as("the news leave the focus where it is")
			.isEqualTo("Wait for the report on one");
	}

	private void assertReadableEverywhere() {
		this.browser.resize(390, 844);
		await(() -> assertThat(
				this.browser.run("return document.documentElement.scrollWidth <= document.documentElement.clientWidth"))
			.isEqualTo(true));
		for (String scheme : List.of("light", "dark")) {
			assertThat(this.browser.lowestContrast(scheme)).as(scheme).isGreaterThanOrEqualTo(4.5);
		}
		this.browser.emulate("prefers-reduced-motion", "reduce");
		await(() -> assertThat(this.browser
			.run("return document.querySelectorAll('.fill.runs').length + document.getAnimations().length"))
			.isEqualTo(0L));
	}

	private void makeReportOnOneAndAskOnTwo() {
		press("one", "REPORT");
		await(() -> assertThat(this.browser.text("[data-instance=one] .holds")).contains("report"));
		askOnTwo();
	}

	private void askOnTwo() {
		press("two", "ASK");
		await(() -> assertThat(this.browser.text("[data-instance=two] .waits")).contains("for report"));
	}

	private void awaitRenewal() {
		Object before = lock().get("updatedAt");
		await(() -> assertThat(lock().get("updatedAt")).isNotEqualTo(before));
	}

	private void press(String instance, String command) {
		await(() -> assertThat(button(instance, command).isEnabled()).isTrue());
		button(instance, command).click();
	}

	private WebElement button(String instance, String command) {
		return this.browser.find("[data-instance=%s] [data-command=%s]".formatted(instance, command));
	}

	/** Of the last grant that is drawn. */
	private long token() {
		return (long) this.browser.run("return Math.max(...[...document.querySelectorAll('#time [data-lock=report]')]"
				+ ".map((grant) => Number(grant.dataset.token)))");
	}

	private Document lock() {
		return this.locks.find(Filters.eq("report")).first();
	}

	@SuppressWarnings("unchecked")
	private List<String> logged(String kind) {
		return (List<String>) this.browser
			.run("return [...document.querySelectorAll('#log [data-kind=%s] span')].map((line) => line.textContent)"
				.formatted(kind));
	}

	/**
	 * The page goes on with another instance if its own does not answer for long, as on a
	 * busy machine.
	 */
	private void assertThatOnlyInstancesWereAsked() {
		assertThat(this.browser.requests()).isNotEmpty()
			.allMatch((url) -> url.startsWith(this.one.url()) || url.startsWith(this.two.url()));
	}

	private void assertNothingTwice() {
		await(() -> {
			assertThat(this.browser.text("#overlaps")).isEqualTo("0");
			assertThat(this.browser.text("#twice")).isEqualTo("0");
			assertThat(this.browser.text("#grants")).containsPattern("[1-9]");
		});
	}

	private void await(ThrowingRunnable assertion) {
		this.browser.await(assertion);
	}

}
