package dev.dblock.annotation;

import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.aop.Advisor;
import org.springframework.aop.support.AopUtils;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;

class ReactiveTransactionAdvisorTests {

	private final Advisor advisor = new ReactiveTransactionAdvisor((text) -> text.replace("${orders.timeout}", "7"));

	@Test
	void placeholdersInTransactionsAreResolved() {
		assertThat(AopUtils.canApply(this.advisor, Timed.class)).isTrue();
	}

	@Test
	void methodsThatReturnNoSequenceAreIgnored() {
		assertThat(AopUtils.canApply(this.advisor, Blocking.class)).isFalse();
	}

	static class Timed {

		@Transactional(timeoutString = "${orders.timeout}")
		public Mono<String> settle() {
			return Mono.empty();
		}

	}

	static class Blocking {

		@Transactional
		public String settle() {
			return "";
		}

	}

}
