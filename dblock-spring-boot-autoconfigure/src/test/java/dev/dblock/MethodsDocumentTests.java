package dev.dblock;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.YearMonth;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.scheduling.annotation.Async;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What {@code docs/methods.md} shows is what compiles here.
 */
class MethodsDocumentTests {

	private static final Path PAGE = Path.of("../docs/methods.md");

	private static final Path SELF = Path.of("src/test/java/dev/dblock/MethodsDocumentTests.java");

	private static final Pattern SNIPPET = Pattern.compile("(?s)```java\n(.*?)```");

	@Test
	void everySnippetCompiles() throws IOException {
		String compiled = unindented(Files.readString(SELF));
		List<String> snippets = SNIPPET.matcher(Files.readString(PAGE))
			.results()
			.map((MatchResult result) -> unindented(result.group(1)))
			.toList();
		assertThat(snippets).hasSize(4).allSatisfy((snippet) -> assertThat(compiled).contains(snippet));
	}

	private static String unindented(String text) {
		return text.replaceAll("(?m)^\\s+", "");
	}

	static class Examples {

		private final Archive archive;

		private final Stock stock;

		private final Till till;

		Examples(Archive archive, Stock stock, Till till) {
			this.archive = archive;
			this.stock = stock;
			this.till = till;
		}

		@Async
		@DistributedLock("report-#{#month}")
		public CompletableFuture<Report> report(YearMonth month) {
			return this.archive.fetch(month).thenApply(this::compile);
		}

		private Report compile(String text) {
			return new Report(text);
		}

		@DistributedLock(name = "stock-#{#item}", waitSeconds = 5)
		public Mono<Long> reserve(String item) {
			return ReactiveLockTemplate.current().flatMap((lock) -> this.stock.reserve(item, lock.token()));
		}

		@DistributedLock(name = "order-#{#order.id}", fallback = "later")
		public Receipt settle(Order order) {
			return this.till.settle(order);
		}

		private Receipt later(Order order, LockUnavailableException ex) {
			return this.till.queue(order, ex.holder());
		}

		@DistributedLock(name = "order-#{#order.id}", condition = "#order.total > 100")
		public Receipt settleLarge(Order order) {
			return this.till.settle(order);
		}

	}

	interface Archive {

		CompletableFuture<String> fetch(YearMonth month);

	}

	interface Stock {

		Mono<Long> reserve(String item, long token);

	}

	interface Till {

		Receipt settle(Order order);

		Receipt queue(Order order, LockInfo holder);

	}

	record Report(String text) {
	}

	record Receipt(String id) {
	}

	record Order(String id, long total) {
	}

}
