package dev.dblock.transaction;

import java.util.List;

import dev.dblock.LockInfo;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.local.LocalLockRepository;
import dev.dblock.local.LocalLockStore;
import dev.dblock.settings.EngineSettings;
import dev.dblock.store.TransactionFence;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.mockito.BDDMockito.willAnswer;
import static org.mockito.Mockito.mock;

class OpenTransactionTests {

	private final DefaultLockEngine engine = new DefaultLockEngine(new LocalLockRepository(new LocalLockStore()),
			EngineSettings.defaults("test"), List.of());

	private final DefaultLockTemplate template = new DefaultLockTemplate(this.engine);

	@AfterEach
	void close() {
		this.engine.close();
	}

	@Test
	void aLockMayJoinWhileAnotherOneIsPrepared() {
		TransactionLock first = (TransactionLock) this.template.acquire("a");
		TransactionLock second = (TransactionLock) this.template.acquire("b");
		TransactionFence slow = mock(TransactionFence.class);
		OpenTransaction transaction = new OpenTransaction((handle) -> slow, false, null);
		willAnswer((call) -> {
			transaction.join(second);
			return null;
		}).given(slow).prepare();
		transaction.join(first);
		assertThatCode(transaction::prepare).doesNotThrowAnyException();
		transaction.end();
		first.release();
		second.release();
		assertThat(this.template.list().locks()).noneMatch(LockInfo::held);
	}

}
