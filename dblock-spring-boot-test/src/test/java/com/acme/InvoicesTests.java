package com.acme;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import dev.dblock.LockAssert;
import dev.dblock.LockLostException;
import dev.dblock.LockUnavailableException;
import dev.dblock.test.autoconfigure.AutoConfigureDblock;
import dev.dblock.test.autoconfigure.TestLocks;
import dev.dblock.test.autoconfigure.TestLocks.HeldElsewhere;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.BDDMockito.willAnswer;
import static org.mockito.Mockito.verifyNoInteractions;

@SpringBootTest
@AutoConfigureDblock
class InvoicesTests {

	@Autowired
	private TestLocks locks;

	@Autowired
	private Invoices invoices;

	@Autowired
	private Database database;

	@MockitoBean
	private Ledger ledger;

	@BeforeEach
	void forgetTransactions() {
		this.database.ends().clear();
	}

	@Test
	void areWrittenUnderTheirLock() {
		willAnswer((call) -> {
			LockAssert.assertLocked("nightly-invoices");
			assertThat(this.locks).holds("nightly-invoices");
			return null;
		}).given(this.ledger).close();
		this.invoices.write();
		assertThat(this.locks).hasAcquired("nightly-invoices", 1).doesNotHold("nightly-invoices");
		assertThat(this.database.ends()).containsExactly("committed");
	}

	@Test
	void areNotWrittenWhileAnotherInstanceHoldsTheLock() {
		this.locks.holdElsewhere("nightly-invoices");
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(this.invoices::write);
		assertThat(this.locks).wasRefused("nightly-invoices").hasNotAcquired("nightly-invoices");
		verifyNoInteractions(this.ledger);
	}

	@Test
	void areNotCommittedAfterTheLockIsLost() {
		willAnswer((call) -> this.locks.lose("nightly-invoices")).given(this.ledger).close();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.invoices::write);
		assertThat(this.locks).hasLost("nightly-invoices");
		assertThat(this.database.ends()).containsExactly("rolled back");
	}

	@Test
	void areNotWrittenByACallThatPassesTheProxyBy() {
		assertThatIllegalStateException().isThrownBy(this.invoices::writeUnlocked).withMessageContaining("proxy");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void areWrittenWhenTheOtherInstanceHasDoneWithItOrIsGone(boolean gone) throws Exception {
		HeldElsewhere other = this.locks.holdElsewhere("nightly-invoices");
		CompletableFuture<Void> writing = CompletableFuture.runAsync(this.invoices::writeLater);
		Awaitility.await().during(50, TimeUnit.MILLISECONDS).until(() -> !writing.isDone());
		if (gone) {
			other.expire();
		}
		else {
			other.release();
		}
		writing.get(1, TimeUnit.MINUTES);
		assertThat(this.locks).hasAcquired("nightly-invoices", 1);
	}

	@Test
	void remindersAreInterruptedWhenTheirLockIsLost() {
		AtomicBoolean interrupted = new AtomicBoolean();
		willAnswer((call) -> {
			this.locks.lose("reminders");
			interrupted.set(Thread.interrupted());
			return null;
		}).given(this.ledger).close();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.invoices::remind);
		assertThat(interrupted).isTrue();
	}

}
