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
				"Change that bean. It is called after dblock.* was read, and what it returns is used as it is: settings, the"
						+ " same or a changed copy.",
				cause);
	}

}
