package dev.dblock.autoconfigure;

import java.util.List;
import java.util.function.UnaryOperator;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link Customizers}.
 */
class CustomizersTests {

	private static String apply(RuntimeException refusal, List<UnaryOperator<String>> customizers) {
		DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
		beans.registerSingleton("loud", customizers.get(0));
		@SuppressWarnings({ "rawtypes", "unchecked" })
		Customizers<UnaryOperator<String>> all = new Customizers<>((Class) UnaryOperator.class, customizers, beans);
		return all.apply("settings", UnaryOperator::apply, (customized) -> {
			if (refusal != null) {
				throw refusal;
			}
		});
	}

	@Test
	void eachChangesWhatTheOneBeforeItLeft() {
		assertThat(apply(null, List.of(String::toUpperCase, (settings) -> settings + "!"))).isEqualTo("SETTINGS!");
	}

	@Test
	void invalidSettingsAreReportedWithTheirOwnMessage() {
		assertThatExceptionOfType(InvalidSetupException.class)
			.isThrownBy(() -> apply(new IllegalArgumentException("too long"), List.of(String::toUpperCase)))
			.withMessageStartingWith(
					"The UnaryOperator bean 'loud' returned invalid settings: too long. Fix that bean.");
	}

	@Test
	void aFailureWithoutAMessageIsReportedByItsClass() {
		assertThatExceptionOfType(InvalidSetupException.class)
			.isThrownBy(() -> apply(new UnsupportedOperationException(), List.of(String::toUpperCase)))
			.withMessageStartingWith("The UnaryOperator bean 'loud' returned invalid settings:"
					+ " java.lang.UnsupportedOperationException");
	}

}
