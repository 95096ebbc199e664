package dev.dblock.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Reports the customizer that made startup fail.
 */
final class InvalidCustomizationFailureAnalyzer extends AbstractFailureAnalyzer<InvalidCustomizationException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, InvalidCustomizationException cause) {
		return new FailureAnalysis(cause.getMessage() + ".",
				"Fix that bean. It is called after the dblock.* properties are read, and the settings that it returns"
						+ " are used unchanged: return the same settings or a changed copy.",
				cause);
	}

}
