package dev.dblock.documentation;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every message that {@code docs/troubleshooting.md} quotes is one of the code, and every
 * warning and error of the log is found there.
 */
class TroubleshootingDocumentTests {

	private static final String[] LIBRARY = { "dblock/core", "dblock/jobs", "dblock/mongodb", "dblock/spring",
			"dblock-spring-boot-autoconfigure", "dblock-spring-boot-test", "addons/dblock-shedlock" };

	private static final String SAMPLE = "sample-app";

	private static final Pattern QUOTED = Pattern.compile("`([^`]+)`");

	private static final Pattern ITEM = Pattern.compile("(?m)^- (`[^`]+`(?:,\\s+`[^`]+`)*):");

	/** Lines of the log that need no entry, and why. */
	private static final Map<String, String> LEFT_OUT = Map.of(
			"HOSTS     the embedded MongoDB on port … now, because the instance that hosted it is gone; its data is"
					+ " lost, so all locks start over",
			"the sample tells what happens to it", "WRITES    invoices without transactions, so without a fence: …",
			"the sample tells what happens to it", "REFUSED   …: the lock '…' is lost, so nothing was written",
			"the sample tells what happens to it");

	private final Markdown page = Markdown.read(Markdown.ROOT.resolve("docs/troubleshooting.md"));

	@Test
	void everyMessageThatIsQuotedIsOneOfTheCode() {
		List<String> messages = Messages.literals(LIBRARY);
		assertThat(quoted()).hasSizeGreaterThan(60)
			.allSatisfy((quote) -> assertThat(messages).as(quote).anyMatch((message) -> isFound(quote, message)));
	}

	@Test
	void everyWarningAndErrorOfTheLogIsExplained() {
		List<String> logged = Messages.logged(List.of("warn", "error"), StringUtils.addStringToArray(LIBRARY, SAMPLE));
		assertThat(logged).hasSizeGreaterThan(20).containsAll(LEFT_OUT.keySet());
		assertThat(logged.stream()
			.filter((message) -> !LEFT_OUT.containsKey(message))
			.filter((message) -> !isDocumented(message))).isEmpty();
	}

	@Test
	void everyInformationOfTheLogIsExplained() {
		assertThat(Messages.logged(List.of("info"), LIBRARY).stream().filter((message) -> !isDocumented(message)))
			.isEmpty();
	}

	@Test
	void noWarningHasAStackTrace() {
		assertThat(Messages.loggedWithStackTrace("debug", LIBRARY)).isNotEmpty();
		assertThat(Messages.loggedWithStackTrace("warn", LIBRARY)).isEmpty();
	}

	private boolean isDocumented(String message) {
		return quoted().stream().anyMatch((quote) -> isFound(quote, message));
	}

	/**
	 * The fixed parts of the quote have to follow one another in the message.
	 */
	private static boolean isFound(String quote, String message) {
		return Pattern
			.compile(Stream.of(quote.split(Messages.DIFFERS)).map(Pattern::quote).collect(Collectors.joining(".*")),
					Pattern.DOTALL)
			.matcher(message)
			.find();
	}

	/**
	 * The quotes, and what the items of a list begin with.
	 */
	private List<String> quoted() {
		Stream<String> items = ITEM.matcher(this.page.text())
			.results()
			.flatMap((item) -> QUOTED.matcher(item.group(1)).results())
			.map((quote) -> quote.group(1));
		List<String> quotes = Stream
			.concat(this.page.text().lines().filter((line) -> line.startsWith("> ")).map((line) -> line.substring(2)),
					items)
			.toList();
		assertThat(quotes)
			.allSatisfy((quote) -> assertThat(quote.replaceAll("[^\\p{L}]", "")).as(quote).hasSizeGreaterThan(5));
		return quotes;
	}

}
