package com.acme;

import dev.dblock.test.autoconfigure.TestLocks;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class InvoicesUnitTests {

	@Test
	void areWrittenWithoutAContext() {
		Database database = new Database();
		Invoices invoices = new Invoices(new Ledger(), database);
		assertThatIllegalStateException().isThrownBy(invoices::write).withMessageContaining("Not locked");
		TestLocks.pretendLocked("nightly-invoices", invoices::write);
		assertThat(database.ends()).containsExactly("committed");
	}

}
