package dev.dblock.documentation;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.Lock;

import dev.dblock.DistributedLock;
import dev.dblock.LockHandles;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.integration.DblockLockRegistry;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.context.annotation.Bean;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.integration.support.locks.LockRegistry;

/**
 * Compiles the examples of the pages about several locks and Spring Integration.
 */
class SeveralLocksDocumentTests {

	@ParameterizedTest
	@CsvSource({ "several-locks.md, 4", "spring-integration.md, 1" })
	void everySnippetCompiles(String page, int snippets) {
		Markdown.read(Markdown.ROOT.resolve("docs").resolve(page))
			.assertTakenFrom(SeveralLocksDocumentTests.class, snippets);
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

		@DistributedLock(name = "account-#{#from}", waitSeconds = 5)
		@DistributedLock(name = "account-#{#to}", waitSeconds = 5)
		public void transfer(String from, String to, long amount) {
			this.ledger.transfer(amount);
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

		@Bean(defaultCandidate = false)
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
