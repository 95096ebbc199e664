package dev.dblock.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Reports that startup failed because the database of the locks could not be determined,
 * and how to fix it.
 */
final class MongoDatabaseFactoryChoiceFailureAnalyzer
		extends AbstractFailureAnalyzer<MongoDatabaseFactoryChoiceException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, MongoDatabaseFactoryChoiceException cause) {
		return new FailureAnalysis(cause.description() + ".", cause.action() + ".", cause);
	}

}
