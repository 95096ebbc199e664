package dev.dblock.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Has a start that failed for a customizer end with which one it is.
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
