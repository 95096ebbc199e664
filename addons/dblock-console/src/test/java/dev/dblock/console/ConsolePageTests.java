package dev.dblock.console;

import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.LockUnavailableException;
import dev.dblock.console.testing.Browser;
import dev.dblock.job.JobOperations;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
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
@ExtendWith(Browser.Condition.class)
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConsolePageTests {

	/** As WCAG 2 defines it. */
	private static final String LOWEST_CONTRAST = """
			const style = getComputedStyle(document.documentElement);
			const light = (name) => {
				const hex = style.getPropertyValue(name).trim();
				const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
					.map((part) => (part <= 0.04045) ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
				return 0.2126 * r + 0.7152 * g + 0.0722 * b;
			};
			const texts = ['--ink', '--muted', '--bad', '--c0', '--c1', '--c2', '--c3', '--c4', '--c5'];
			const pairs = texts.flatMap((text) => [[text, '--ground'], [text, '--panel']]);
			pairs.push(['--bad', '--bad-soft']);
			const contrasts = pairs.map((pair) => {
				const [low, high] = pair.map(light).sort((a, b) => a - b);
				return (high + 0.05) / (low + 0.05);
			});
			return Math.min(...contrasts);
			""";

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
		assertThat(this.browser.text("[data-key=leap-day] [data-part=due]")).endsWith("-02-29 02:00:00");
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
			.acquire(name, LockOptions.lease(Duration.ofSeconds(9)).why("<b>import</b>"));
		Thread waiter = new Thread(() -> wait(name), "waiter-" + now);
		waiter.start();
		open(this.one);
		await(() -> assertThat(lock(name).getText()).contains("one", "<b>import</b>", "waiter-" + now));
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
		await(() -> assertThat(this.browser.text("#events")).contains(name + " was lost with token " + held.token()));
		await(() -> assertThat(this.browser.find("#announce").getDomProperty("textContent")).contains("was lost"));
		waiter.join(60_000);
		assertThat(waiter.isAlive()).isFalse();
		assertNoComplaints(this.one);
	}

	private void wait(String name) {
		try {
			this.one.bean(LockTemplate.class)
				.acquire(name, LockOptions.defaults().waitUpTo(Duration.ofMinutes(1)))
				.close();
		}
		catch (LockUnavailableException ex) {
			throw new AssertionError(ex);
		}
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
			await(() -> assertThat(runs("reminders", "[data-outcome=SUCCEEDED]")).isNotEmpty());
			assertThat(this.browser
				.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth"))
				.isEqualTo(0L);
			if (width >= 1280) {
				assertThat(this.browser
					.run("""
							return [...document.querySelectorAll('[data-part=schedule], .name:not(.small)')].filter((part) => part.textContent)
								.filter((part) => part.getClientRects().length > 1 || part.offsetHeight > 24
									|| part.scrollWidth > part.clientWidth + 1)
								.map((part) => part.textContent)"""))
					.isEqualTo(List.of());
			}
			assertThat(this.browser.run("""
					return document.querySelector('#jobs').getBoundingClientRect().top"""))
				.satisfies((top) -> assertThat(((Number) top).doubleValue()).as("jobs come first").isLessThan(450));
			for (String scheme : List.of("light", "dark")) {
				this.browser.emulate("prefers-color-scheme", scheme);
				assertThat((Number) this.browser.run(LOWEST_CONTRAST)).as("the lowest contrast of texts, " + scheme)
					.satisfies((contrast) -> assertThat(contrast.doubleValue()).isGreaterThanOrEqualTo(4.5));
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
	@SuppressWarnings("unchecked")
	private List<String> runs(String job, String selector) {
		return (List<String>) this.browser
			.run("return [...document.querySelectorAll('[data-key=%s] .strip li%s')].map((run) => run.title)"
				.formatted(job, selector));
	}

	private void await(ThrowingRunnable assertion) {
		this.browser.await(assertion);
	}

}
