package dev.dblock.console.testing;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.logging.Level;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.awaitility.core.ConditionTimeoutException;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.openqa.selenium.By;
import org.openqa.selenium.Dimension;
import org.openqa.selenium.NotFoundException;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/**
 * Chromium without a window, driven by the {@code chromedriver} that came with it: none
 * is ever fetched.
 */
public final class Browser implements AutoCloseable {

	/** scripts/test-summary knows the reason by these words. */
	public static final String MISSING = "needs a browser: on Debian, apt-get install chromium chromium-driver";

	/** As WCAG 2 defines it. */
	private static final String LOWEST_CONTRAST = """
			const style = getComputedStyle(document.documentElement);
			const light = (name) => {
				const hex = style.getPropertyValue(name).trim();
				const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
					.map((part) => (part <= 0.04045) ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
				return 0.2126 * r + 0.7152 * g + 0.0722 * b;
			};
			const texts = ['--ink', '--muted', '--good', '--bad', '--c0', '--c1', '--c2', '--c3', '--c4', '--c5'];
			const pairs = texts.filter((text) => style.getPropertyValue(text))
				.flatMap((text) => [[text, '--ground'], [text, '--panel']]);
			pairs.push(['--bad', '--bad-soft']);
			const contrasts = pairs.map((pair) => {
				const [low, high] = pair.map(light).sort((a, b) => a - b);
				return (high + 0.05) / (low + 0.05);
			});
			return Math.min(...contrasts);
			""";

	private static final int MOST_ATTEMPTS = 20;

	private static final Duration LONG_ENOUGH = Duration.ofMinutes(4);

	private final ChromeDriver driver;

	public Browser() {
		LoggingPreferences logs = new LoggingPreferences();
		logs.enable(LogType.BROWSER, Level.ALL);
		logs.enable(LogType.PERFORMANCE, Level.ALL);
		ChromeOptions options = new ChromeOptions();
		options.setBinary(binary().orElseThrow().toFile());
		options.addArguments("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
				"--disable-background-networking", "--no-first-run", "--hide-scrollbars",
				// Animations take half a processor without a graphics card
				"--force-prefers-reduced-motion");
		options.setCapability("goog:loggingPrefs", logs);
		this.driver = new ChromeDriver(
				new ChromeDriverService.Builder().usingDriverExecutable(driverBinary().orElseThrow().toFile())
					.usingAnyFreePort()
					.build(),
				options);
	}

	private static Optional<Path> binary() {
		return onPath("chromium", "chromium-browser", "google-chrome");
	}

	private static Optional<Path> driverBinary() {
		return onPath("chromedriver");
	}

	private static Optional<Path> onPath(String... names) {
		return Stream.of(names)
			.flatMap((name) -> Stream.of(System.getenv("PATH").split(File.pathSeparator))
				.map((folder) -> Path.of(folder, name)))
			.filter(Files::isExecutable)
			.findFirst();
	}

	public void open(String url) {
		this.driver.get(url);
	}

	/**
	 * Open a page of an instance that may not have started yet.
	 */
	public void open(String url, String css) {
		Awaitility.await().atMost(LONG_ENOUGH).ignoreExceptions().until(() -> {
			open(url);
			return find(css).isDisplayed();
		});
	}

	public void resize(int width, int height) {
		this.driver.manage().window().setSize(new Dimension(width, height));
	}

	public void emulate(String feature, String value) {
		this.driver.executeCdpCommand("Emulation.setEmulatedMedia",
				Map.of("features", List.of(Map.of("name", feature, "value", value))));
	}

	/**
	 * The lowest contrast of the page's colors for text with a background, in the scheme
	 * {@code light} or {@code dark}, which stays.
	 */
	public double lowestContrast(String scheme) {
		emulate("prefers-color-scheme", scheme);
		return ((Number) run(LOWEST_CONTRAST)).doubleValue();
	}

	public ChromeDriver driver() {
		return this.driver;
	}

	public WebElement find(String css) {
		return this.driver.findElement(By.cssSelector(css));
	}

	/**
	 * The text of an element, which the page can replace while it is read.
	 */
	public String text(String css) {
		for (int attempt = 1;; attempt++) {
			try {
				return find(css).getText();
			}
			catch (StaleElementReferenceException ex) {
				if (attempt == MOST_ATTEMPTS) {
					throw ex;
				}
			}
		}
	}

	/**
	 * The tooltips of elements, in their order.
	 */
	@SuppressWarnings("unchecked")
	public List<String> titles(String css) {
		return (List<String>) run("return [...document.querySelectorAll('%s')].map((one) => one.title)".formatted(css));
	}

	public Object run(String script) {
		return this.driver.executeScript(script);
	}

	/**
	 * What is on the page changes several times a second.
	 */
	public void await(ThrowingRunnable assertion) {
		ConditionFactory waiting = Awaitility.await()
			.atMost(LONG_ENOUGH)
			.pollInterval(Duration.ofMillis(200))
			.ignoreExceptionsMatching(
					(ex) -> ex instanceof NotFoundException || ex instanceof StaleElementReferenceException);
		try {
			waiting.untilAsserted(assertion);
		}
		catch (ConditionTimeoutException ex) {
			throw new AssertionError("The page complains of %s and shows: %s".formatted(errors(), text("body")), ex);
		}
	}

	/**
	 * What the page has complained of since it was last asked.
	 */
	public List<String> errors() {
		return entries(LogType.BROWSER).filter((entry) -> entry.getLevel().intValue() >= Level.WARNING.intValue())
			.map(LogEntry::getMessage)
			.toList();
	}

	/**
	 * What the page has complained of, except that an instance which the test has ended
	 * cannot be reached.
	 */
	public List<String> errorsWithout(InstanceProcess ended) {
		return errors().stream()
			.filter((error) -> !(error.contains("net::ERR_") && error.contains(ended.url())))
			.toList();
	}

	/**
	 * Whom the page has asked for something since it was last asked.
	 */
	public List<String> requests() {
		return entries(LogType.PERFORMANCE).map(LogEntry::getMessage)
			.filter((message) -> message.contains("\"Network.requestWillBeSent\""))
			.map((message) -> message.replaceFirst("(?s).*\"request\":\\{.*?\"url\":\"([^\"]*)\".*", "$1"))
			.toList();
	}

	private Stream<LogEntry> entries(String type) {
		return StreamSupport.stream(this.driver.manage().logs().get(type).spliterator(), false);
	}

	@Override
	public void close() {
		this.driver.quit();
	}

	/**
	 * Skips, for all to see, what finds no browser.
	 */
	public static final class Condition implements ExecutionCondition {

		@Override
		public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
			return (binary().isPresent() && driverBinary().isPresent())
					? ConditionEvaluationResult.enabled("there is a browser")
					: ConditionEvaluationResult.disabled(MISSING);
		}

	}

}
