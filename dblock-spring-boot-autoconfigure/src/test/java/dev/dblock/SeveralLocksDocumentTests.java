package dev.dblock;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import dev.dblock.integration.DblockLockRegistry;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.context.annotation.Bean;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.integration.support.locks.LockRegistry;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the pages about several locks and Spring Integration show is what compiles here.
 */
class SeveralLocksDocumentTests {

	private static final Path SELF = Path.of("src/test/java/dev/dblock/SeveralLocksDocumentTests.java");

	private static final Pattern SNIPPET = Pattern.compile("(?s)```java\n(.*?)```");

	@ParameterizedTest
	@CsvSource({ "several-locks.md, 3", "spring-integration.md, 2" })
	void everySnippetCompiles(String page, int snippets) throws IOException {
		String compiled = unindented(Files.readString(SELF));
		List<String> found = SNIPPET.matcher(Files.readString(Path.of("../docs", page)))
			.results()
			.map((MatchResult result) -> unindented(result.group(1)))
			.toList();
		assertThat(found).hasSize(snippets).allSatisfy((snippet) -> assertThat(compiled).contains(snippet));
	}

	private static String unindented(String text) {
		return text.replaceAll("(?m)^\\s+", "");
	}

	static class Examples {

		private final LockTemplate lockTemplate;

		private final Ledger ledger;

		private final Stock stock;

		Examples(LockTemplate lockTemplate, Ledger ledger, Stock stock) {
			this.lockTemplate = lockTemplate;
			this.ledger = ledger;
			this.stock = stock;
		}

		void transferWithTokens(long amount) {
			try (LockHandles both = this.lockTemplate.acquireAll("account-1", "account-2")) {
				this.ledger.transfer(amount, both.token("account-1"), both.token("account-2"));
				both.ensureHeld();
			}
		}

		void transfer(long amount) {
			this.lockTemplate.executeAll(List.of("account-1", "account-2"), () -> this.ledger.transfer(amount));
		}

		void reserve(String item) {
			Lock lock = this.lockTemplate.asLock("stock");
			lock.lock();
			try {
				this.stock.reserve(item);
			}
			finally {
				lock.unlock();
			}
		}

		@Bean
		LockRegistryLeaderInitiator leaderInitiator(LockRegistry<?> lockRegistry) {
			return new LockRegistryLeaderInitiator(lockRegistry, new DefaultCandidate("instance", "leader"));
		}

		DblockLockRegistry slow(LockTemplate lockTemplate) {
			return new DblockLockRegistry(lockTemplate, LockOptions.lease(Duration.ofMinutes(5)), "slow:");
		}

	}

	interface Ledger {

		void transfer(long amount, long... tokens);

	}

	interface Stock {

		void reserve(String item);

	}

}
