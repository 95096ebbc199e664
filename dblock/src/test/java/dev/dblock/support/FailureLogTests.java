package dev.dblock.support;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class FailureLogTests {

	private static final Logger logger = LoggerFactory.getLogger(FailureLogTests.class);

	@Test
	void causesAreInTheLineAndNoStackTraceFollows(CapturedOutput output) {
		IllegalStateException inner = new IllegalStateException("inner\n\tat somewhere {}");
		FailureLog.warn(logger, new RuntimeException("outer", inner), "The part '{}' failed", "a");
		assertThat(output.getOut().lines()).singleElement()
			.asString()
			.contains("WARN")
			.endsWith(": The part 'a' failed. Cause: java.lang.RuntimeException: outer; caused by"
					+ " java.lang.IllegalStateException: inner  at somewhere {}");
	}

	@Test
	void causeWhoseTextIsInTheLineIsNotRepeated(CapturedOutput output) {
		FailureLog.warn(logger, new RuntimeException(new IllegalStateException("once")), "It failed");
		assertThat(output).containsOnlyOnce("IllegalStateException: once").doesNotContain("caused by");
	}

	@Test
	void lineHasALimit(CapturedOutput output) {
		FailureLog.warn(logger, new RuntimeException("long ".repeat(10_000)), "It failed");
		assertThat(output.getOut()).hasSizeLessThan(800);
	}

	@Test
	void failureWhoseTextCannotBeReadIsNamedByItsClass() {
		@SuppressWarnings("serial")
		class Silent extends RuntimeException {

			@Override
			public String toString() {
				throw new StackOverflowError("scripted");
			}

		}
		assertThat(FailureLog.textOf(new Silent(), 100)).isEqualTo(Silent.class.getName());
	}

}
