package dev.dblock.documentation;

import java.time.YearMonth;
import java.util.concurrent.CompletableFuture;

import dev.dblock.DistributedLock;
import dev.dblock.LockInfo;
import dev.dblock.LockUnavailableException;
import dev.dblock.reactive.ReactiveLockTemplate;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

import org.springframework.scheduling.annotation.Async;

/**
 * Compiles the examples of {@code docs/methods.md} and {@code docs/async.md}.
 */
class MethodsDocumentTests {

	@ParameterizedTest
	@CsvSource({ "methods.md, 2", "async.md, 2" })
	void everySnippetCompiles(String page, int snippets) {
		Markdown.read(Markdown.ROOT.resolve("docs").resolve(page))
			.assertTakenFrom(MethodsDocumentTests.class, snippets);
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
