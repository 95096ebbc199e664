package com.acme;

import dev.dblock.LockUnavailableException;
import dev.dblock.autoconfigure.DblockWebAutoConfiguration;
import dev.dblock.reactive.ReactiveLockTemplate;
import dev.dblock.test.autoconfigure.AutoConfigureDblock;
import dev.dblock.test.autoconfigure.TestLocks;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.test.autoconfigure.json.JsonTest;
import org.springframework.context.ApplicationContext;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.context.annotation.Import;
import org.springframework.data.mongodb.MongoDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@JsonTest
@AutoConfigureDblock
@Import({ Invoices.class, Ledger.class })
class InvoicesSliceTests {

	@Autowired
	private Invoices invoices;

	@Autowired
	private TestLocks locks;

	@Test
	void reactiveCodeIsLockedThere(@Autowired ReactiveLockTemplate template) {
		assertThat(template.execute("reminders", () -> Mono.just("sent")).block()).isEqualTo("sent");
		assertThat(this.locks).hasAcquired("reminders", 1);
	}

	@Test
	void plannedTimesAreCapturedThere(@Autowired ApplicationContext context) {
		assertThat(context.getBeanNamesForType(SchedulingConfigurer.class))
			.containsExactly("dblockJobSchedulingConfigurer");
	}

	// As in an application, for slices of web requests
	@Test
	void requestsWithoutTheirLockAreAnsweredThere() {
		assertThat(ImportCandidates.load(AutoConfigureDblock.class, getClass().getClassLoader()))
			.contains(DblockWebAutoConfiguration.class.getName());
	}

	@Test
	void areLockedInASliceWithoutMongodb(@Autowired ApplicationContext context) {
		assertThat(context.getBeanNamesForType(MongoDatabaseFactory.class)).isEmpty();
		this.invoices.write();
		assertThat(this.locks).hasAcquired("nightly-invoices", 1);
		this.locks.holdElsewhere("nightly-invoices");
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(this.invoices::write);
	}

}
