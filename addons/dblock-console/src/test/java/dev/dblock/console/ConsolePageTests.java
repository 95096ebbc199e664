package dev.dblock.console;

import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.console.testing.Browser;
import dev.dblock.job.JobOperations;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.NoSuchElementException;
import org.openqa.selenium.WebElement;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page in a real browser, with two instances. The console of the second one permits
 * no changes.
 */
@SameOnEachJdk
@ExtendWith(Browser.Condition.class)
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConsolePageTests {

	private Instance one;

	private Instance two;

	private Browser browser;

	@BeforeAll
	void start(MongoServer server) {
		String uri = "spring.mongodb.uri=" + server.uri(server.freshDatabase());
		String missed = "dblock.jobs.statements.start-within=1s";
		this.one = Instance.start(uri, missed, "dblock.acquirer=orders-6c9f7b5d4-x2x8z-one",
				"management.endpoints.access.default=unrestricted");
		this.two = Instance.start(uri, missed, "dblock.acquirer=orders-6c9f7b5d4-lk7qp-two");
		this.browser = new Browser();
	}

	@BeforeEach
	void forgetComplaints() {
		// The page of the test before would go on
		this.browser.open("about:blank");
		this.browser.errors();
		this.browser.requests();
	}

	@AfterAll
	void stop() {
		this.browser.close();
		this.two.close();
		this.one.close();
	}

	@Test
	void showsJobsWithTheirRunsOfAllInstances() {
		open(this.two);
		await(() -> assertThat(runs("payments", ".failed"))
			.anySatisfy((run) -> assertThat(run).contains("failed", "The bank <b>does not</b> answer")));
		await(() -> assertThat(runs("reminders", "[data-outcome=SUCCEEDED]")).hasSizeGreaterThan(1));
		assertThat(this.browser.text("[data-key=payments] .failed [data-part=mark]")).isEqualTo("✕");
		assertThat(this.browser.text("[data-key=payments] [data-part=schedule]")).isEqualTo("fixed rate 2s");
		assertThat(this.browser.text("[data-key=leap-day] [data-part=schedule]"))
			.isEqualTo("cron 0 0 2 29 2 * in Asia/Tokyo");
		assertThat(this.browser.text("[data-key=leap-day] .next")).endsWith("-02-29 02:00:00 Asia/Tokyo");
		assertThat(this.browser.text("[data-key=leap-day] [data-part=next]")).matches("in \\d+ days");
		assertThat(this.browser.text("[data-key=leap-day] summary")).isEqualTo("no run yet");
		await(() -> assertThat(this.browser.text("[data-key=reminders] summary"))
			.containsPattern("succeeded on orders-"));
		this.browser.find("[data-key=reminders] summary").sendKeys(Keys.ENTER);
		await(() -> assertThat(this.browser.text("[data-key=reminders] .list"))
			.containsPattern(": succeeded on orders-\\S+ after \\d+ ms"));
		await(() -> assertThat(this.browser.text("#instances")).contains("lk7qp-two"));
		assertNoComplaints(this.two);
	}

	@Test
	void shardsOfTheLastPlannedTimeAreCounted() {
		open(this.two);
		await(() -> assertThat(this.browser.text("[data-key=archive] summary"))
			.startsWith("2 of 3 shards succeeded, 1 failed, began "));
	}

	@Test
	void jobWithShardsIsPausedAndNotRunManually() {
		open(this.one);
		await(() -> assertThat(this.browser.text("[data-key=archive] summary")).contains(" shards "));
		assertThat(this.browser.find("[data-key=archive] [data-part=pause]").isDisplayed()).isTrue();
		assertThat(this.browser.find("[data-key=archive] [data-part=run]").isDisplayed()).isFalse();
		assertThat(this.browser.find("[data-key=closing] [data-part=run]").isDisplayed()).isTrue();
	}

	@Test
	void nextTimeIsInTheZoneOfItsSchedule() {
		open(this.two);
		assertThat(this.browser.text("[data-key=closing] [data-part=schedule]").lines())
			.containsExactlyInAnyOrder("cron 0 0 2 29 2 * in GMT+02:00", "cron 0 0 2 29 2 * in America/New_York");
		assertThat(this.browser.text("[data-key=closing] .next")).endsWith("-02-29 02:00:00 +02:00");
		assertThat(this.browser.text("#at")).as("all other times are in the zone of the browser")
			.endsWith(" " + this.browser.run("return Intl.DateTimeFormat().resolvedOptions().timeZone"));
	}

	@Test
	void missedTimesAreMarkedAndReported() {
		open(this.one);
		try (LockHandle held = this.one.bean(LockTemplate.class)
			.acquire("statements", LockOptions.defaults().waitUpTo(Duration.ofMinutes(1)))) {
			await(() -> assertThat(runs("statements", ".missed"))
				.anySatisfy((run) -> assertThat(run).contains(": missed, since no instance started it in time")));
			assertThat(this.browser.text("[data-key=statements] .missed [data-part=mark]")).isEqualTo("○");
			held.ensureHeld();
		}
		await(() -> assertThat(String.join("\n", events(this.one), events(this.two)))
			.contains("statements missed its planned time"));
	}

	private String events(Instance instance) throws Exception {
		return instance.state("")
			.getList("events", Document.class)
			.stream()
			.map((event) -> event.getString("subject") + " " + event.getString("text"))
			.collect(Collectors.joining("\n"));
	}

	@Test
	void readOnlyAccessHidesTheButtons() {
		try (LockHandle held = this.one.bean(LockTemplate.class).acquire("shown")) {
			open(this.two);
			await(() -> assertThat(this.browser.text("#locks [data-key=shown] [data-part=holder]")).contains("one"));
			assertThat(this.browser.run("return [...document.querySelectorAll('main button')].filter((button) => "
					+ "button.checkVisibility()).length"))
				.isEqualTo(0L);
			held.ensureHeld();
		}
	}

	@Test
	void jobIsPausedResumedAndRunByKeyboard() {
		open(this.one);
		this.browser.run("document.querySelector('[data-key=reminders] [data-part=pause]').focus()");
		assertThat(focused().getAccessibleName()).isEqualTo("Pause reminders");
		focused().sendKeys(Keys.ENTER);
		await(() -> assertThat(this.browser.text("[data-key=reminders] .next"))
			.startsWith("paused by the console of orders-6c9f7b5d4-x2x8z-one\nsince "));
		await(() -> assertThat(this.browser.text("#result"))
			.startsWith("Its planned times are skipped on all instances"));
		assertThat(focused().getAccessibleName()).as("the news leave the focus where it is")
			.isEqualTo("Resume reminders");
		assertThat(this.two.bean(JobOperations.class).find("reminders").orElseThrow().paused()).isTrue();
		focused().sendKeys(Keys.TAB, Keys.ENTER);
		await(() -> assertThat(this.browser.text("#confirm-title")).isEqualTo("Run reminders now?"));
		assertThat(focused().getAccessibleName()).isEqualTo("Cancel");
		focused().sendKeys(Keys.TAB, Keys.ENTER);
		await(() -> assertThat(this.browser.text("#result")).startsWith("It"));
		assertThat(focused().getAccessibleName()).isEqualTo("Run reminders now");
		List<String> before = runs("reminders", "[data-outcome=SUCCEEDED]");
		this.browser.find("#dismiss").click();
		this.browser.find("[data-key=reminders] [data-part=pause]").click();
		await(() -> assertThat(this.browser.text("#result")).isEqualTo("It runs from its next planned time."));
		await(() -> assertThat(runs("reminders", "[data-outcome=SUCCEEDED]")).isNotEqualTo(before));
		assertNoComplaints(this.one);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void lockIsReleasedByForceAfterAQuestion(boolean now) throws Exception {
		String name = "import/<i>" + now + "</i>;a//b?%2F";
		LockHandle held = this.one.bean(LockTemplate.class)
			.acquire(name, LockOptions.lease(Duration.ofSeconds(now ? 9 : 25)).why("<b>import</b>"));
		Thread waiter = startWaiting("waiter-" + now, name, LockOptions.defaults());
		open(this.one);
		await(() -> assertThat(lock(name).getText()).contains("one", "<b>import</b>", "since 20", "waiter-" + now));
		lock(name).findElement(byPart("release")).click();
		await(() -> assertThat(this.browser.text("#confirm-title")).isEqualTo("Release " + name + " by force?"));
		assertThat(this.browser.text("#confirm-text")).startsWith("orders-6c9f7b5d4-x2x8z-one loses it");
		focused().sendKeys(Keys.ESCAPE);
		await(() -> assertThat(this.browser.find("#confirm").isDisplayed()).isFalse());
		held.ensureHeld();
		lock(name).findElement(byPart("release")).click();
		if (now) {
			this.browser.find("#confirm-now").sendKeys(Keys.SPACE);
		}
		this.browser.find("#confirm-yes").click();
		await(() -> assertThat(this.browser.text("#result")).contains("It was held by orders-6c9f7b5d4-x2x8z-one",
				now ? "EXCLUSION IS GIVEN UP" : "no other holder overlaps"));
		if (!now) {
			await(() -> assertThat(lock(name).getText()).contains("last held by orders-6c9f7b5d4-x2x8z-one"));
			this.browser.find("#dismiss").click();
			lock(name).findElement(byPart("release")).click();
			await(() -> assertThat(this.browser.text("#confirm-text")).contains("may still work"));
			focused().sendKeys(Keys.ESCAPE);
		}
		await(() -> assertThat(this.browser.text("#events")).contains(name + " was lost with token " + held.token()));
		await(() -> assertThat(this.browser.find("#announce").getDomProperty("textContent")).contains("was lost"));
		waiter.join(60_000);
		assertThat(waiter.isAlive()).isFalse();
		assertNoComplaints(this.one);
	}

	private Thread startWaiting(String thread, String name, LockOptions options) {
		Thread waiter = new Thread(
				() -> this.one.bean(LockTemplate.class).acquire(name, options.waitUpTo(Duration.ofMinutes(1))).close(),
				thread);
		waiter.start();
		return waiter;
	}

	@Test
	void releaseIsNotSentIfTheLockWasGrantedAgain() throws Exception {
		LockTemplate locks = this.one.bean(LockTemplate.class);
		LockHandle first = locks.acquire("granted-again");
		open(this.one);
		await(() -> assertThat(lock("granted-again").getText()).contains("since "));
		this.browser.find("#updates").click();
		lock("granted-again").findElement(byPart("release")).click();
		Object before = since("granted-again");
		first.close();
		try (LockHandle second = locks.acquire("granted-again")) {
			await(() -> assertThat(since("granted-again")).isNotEqualTo(before));
			this.browser.find("#confirm-yes").click();
			await(() -> assertThat(this.browser.text("#result"))
				.isEqualTo("Nothing was sent: granted-again was granted again, or has ended."));
			assertThat(focused().getDomAttribute("id")).isEqualTo("result");
			second.ensureHeld();
		}
		assertNoComplaints(this.one);
	}

	private Object since(String lock) throws Exception {
		return this.one.state("?filter=" + lock).getList("locks", Document.class).get(0).get("since");
	}

	@Test
	void focusIsKeptWhenOtherRowsComeAndGo() {
		LockTemplate locks = this.one.bean(LockTemplate.class);
		LockHandle before = locks.acquire("row-1");
		LockHandle focused = locks.acquire("row-2");
		open(this.one);
		await(() -> assertThat(this.browser.text("#locks")).contains("row-1", "row-2"));
		this.browser.run("document.querySelector('#locks [data-key=row-2] button').focus()");
		before.close();
		try (LockHandle first = locks.acquire("row-0"); LockHandle last = locks.acquire("row-3")) {
			await(() -> assertThat(this.browser.text("#locks")).contains("row-0", "row-3").doesNotContain("row-1"));
			assertThat(focused().getAccessibleName()).isEqualTo("Release row-2");
			focused.close();
			await(() -> assertThat(this.browser.text("#locks")).doesNotContain("row-2"));
			assertThat(focused().getText()).as("the focus moves to the heading of the row")
				.isEqualTo("Locks that are held");
			first.ensureHeld();
			last.ensureHeld();
		}
	}

	@Test
	void rowsOfOneNameAreAllShown() {
		open(this.two);
		this.browser.run("""
				window.answer = window.fetch;
				window.fetch = async (...request) => {
					const state = await (await window.answer(...request)).json();
					return new Response(JSON.stringify({ ...state, jobs: [...state.jobs, ...state.jobs] }));
				};""");
		await(() -> assertThat(rowsOf("leap-day")).isEqualTo(2L));
		String at = this.browser.text("#at");
		await(() -> assertThat(this.browser.text("#at")).isNotEqualTo(at));
		assertThat(rowsOf("leap-day")).isEqualTo(2L);
		this.browser.run("window.fetch = window.answer");
		await(() -> assertThat(rowsOf("leap-day")).isEqualTo(1L));
		assertThat(rowsOf("reminders")).isEqualTo(1L);
		assertNoComplaints(this.two);
	}

	private Object rowsOf(String job) {
		return this.browser.run(
				"return [...document.querySelectorAll('#jobs [data-part=id]')].filter((id) => id.textContent === '%s').length"
					.formatted(job));
	}

	@Test
	void waitingThreadsAreShownWithEachPermitOfTheirLock() throws Exception {
		LockOptions two = LockOptions.defaults().permits(2);
		Thread waiter;
		try (LockHandle first = this.one.bean(LockTemplate.class).acquire("export", two);
				LockHandle second = this.two.bean(LockTemplate.class).acquire("export", two)) {
			waiter = startWaiting("waiter-for-a-permit", "export", two);
			open(this.one);
			for (String permit : List.of("export", "export (permit 2)")) {
				await(() -> assertThat(lock(permit).findElement(byPart("waiting")).getText())
					.isEqualTo("waiter-for-a-permit"));
			}
			this.browser.find("#filter").sendKeys("waiter-for");
			await(() -> assertThat(this.browser.text("#shown")).isEqualTo("No lock is held that matches the filter."
					+ " Also waiting here: waiter-for-a-permit for export."));
			first.ensureHeld();
			second.ensureHeld();
		}
		waiter.join(60_000);
		assertThat(waiter.isAlive()).isFalse();
	}

	@Test
	void updatesArePausedByKeyboard() {
		open(this.one);
		this.browser.run("document.querySelector('#filter').focus()");
		focused().sendKeys(Keys.TAB);
		assertThat(focused().getAccessibleName()).isEqualTo("Pause updates");
		assertThat(focused().getAriaRole()).isEqualTo("button");
		assertThat(focused().getDomAttribute("aria-pressed")).isEqualTo("false");
		focused().sendKeys(Keys.ENTER);
		assertThat(focused().getDomAttribute("aria-pressed")).isEqualTo("true");
		await(() -> assertThat(this.browser.text("#at")).endsWith(", paused"));
		this.browser.requests();
		Awaitility.await()
			.during(Duration.ofSeconds(5))
			.atMost(Duration.ofSeconds(30))
			.until(() -> this.browser.requests().isEmpty());
		assertThat(this.browser.run("return document.getAnimations().length")).isEqualTo(0L);
		focused().sendKeys(Keys.ENTER);
		assertThat(focused().getDomAttribute("aria-pressed")).isEqualTo("false");
		await(() -> assertThat(this.browser.requests()).isNotEmpty());
		await(() -> assertThat(this.browser.requests()).isNotEmpty());
		assertThat(this.browser.text("#at")).doesNotContain("paused");
	}

	@Test
	void filterSelectsJobsAndLocks() {
		try (LockHandle held = this.one.bean(LockTemplate.class).acquire("stock-1");
				LockHandle other = this.one.bean(LockTemplate.class).acquire("invoice-1")) {
			open(this.two);
			await(() -> assertThat(this.browser.text("#locks")).contains("stock-1", "invoice-1"));
			this.browser.find("#filter").sendKeys("stock");
			await(() -> assertThat(this.browser.text("#locks")).contains("stock-1").doesNotContain("invoice-1"));
			assertThat(this.browser.text("#no-jobs")).isEqualTo("No job matches the filter.");
			held.ensureHeld();
			other.ensureHeld();
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 400, 768, 1280, 1920 })
	void fitsEachWidth(int width) {
		try (LockHandle held = this.one.bean(LockTemplate.class)
			.acquire("a-rather-long-name-of-a-lock-for-an-order-4711", LockOptions.defaults().why("x".repeat(80)))) {
			this.browser.resize(width, 900);
			open(this.one);
			await(() -> assertThat(this.browser.text("#locks")).contains("4711"));
			assertThat(this.browser.text("#locks [data-key$='4711'] [data-part=since]"))
				.matches("since \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d");
			await(() -> assertThat(runs("reminders", "[data-outcome=SUCCEEDED]")).isNotEmpty());
			assertThat(this.browser
				.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth"))
				.isEqualTo(0L);
			if (width >= 1280) {
				assertThat(this.browser
					.run("""
							return [...document.querySelectorAll('[data-part=schedule], .name:not(.small)')].filter((part) => part.textContent)
								.filter((part) => part.getClientRects().length > 1
									|| part.offsetHeight > 24 * part.textContent.split('\\n').length
									|| part.scrollWidth > part.clientWidth + 1)
								.map((part) => part.textContent)"""))
					.isEqualTo(List.of());
			}
			assertThat(this.browser.run("""
					return document.querySelector('#jobs').getBoundingClientRect().top"""))
				.satisfies((top) -> assertThat(((Number) top).doubleValue()).as("jobs come first").isLessThan(450));
			for (String scheme : List.of("light", "dark")) {
				assertThat(this.browser.lowestContrast(scheme)).as(scheme).isGreaterThanOrEqualTo(4.5);
			}
			this.browser.emulate("prefers-reduced-motion", "reduce");
			await(() -> assertThat(this.browser.run("return document.getAnimations().length")).isEqualTo(0L));
			held.ensureHeld();
		}
		finally {
			this.browser.resize(1280, 900);
		}
	}

	private void open(Instance instance) {
		this.browser.open(instance.console());
		await(() -> assertThat(this.browser.text("#jobs")).contains("leap-day"));
	}

	private void assertNoComplaints(Instance instance) {
		assertThat(this.browser.errors()).isEmpty();
		assertThat(this.browser.requests()).isNotEmpty()
			.allMatch((url) -> url.startsWith(instance.url()) || url.startsWith("data:"));
	}

	private WebElement lock(String name) {
		return this.browser.driver()
			.findElements(By.cssSelector("#locks tr"))
			.stream()
			.filter((row) -> name.equals(row.getDomAttribute("data-key")))
			.findFirst()
			.orElseThrow(() -> new NoSuchElementException(name));
	}

	private static By byPart(String part) {
		return By.cssSelector("[data-part=%s]".formatted(part));
	}

	private WebElement focused() {
		return this.browser.driver().switchTo().activeElement();
	}

	/**
	 * The runs of a job in words, the oldest first.
	 */
	private List<String> runs(String job, String selector) {
		return this.browser.titles("[data-key=%s] .strip li%s".formatted(job, selector));
	}

	private void await(ThrowingRunnable assertion) {
		this.browser.await(assertion);
	}

}
