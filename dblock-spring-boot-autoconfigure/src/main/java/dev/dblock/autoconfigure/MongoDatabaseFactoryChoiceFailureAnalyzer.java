package dev.dblock.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Has a start that failed for want of the right database end with what to do about it.
 */
final class MongoDatabaseFactoryChoiceFailureAnalyzer
		extends AbstractFailureAnalyzer<MongoDatabaseFactoryChoiceException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, MongoDatabaseFactoryChoiceException cause) {
		return new FailureAnalysis(cause.description() + ".", cause.action() + ".", cause);
	}

}
