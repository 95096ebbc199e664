package dev.dblock.autoconfigure;

import java.util.stream.Collectors;

import dev.dblock.annotation.invocation.InvalidLockDeclarationException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Reports each invalid locked method that made startup fail, with the reason.
 */
final class InvalidLockDeclarationFailureAnalyzer extends AbstractFailureAnalyzer<InvalidLockDeclarationException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, InvalidLockDeclarationException cause) {
		String findings = cause.findings()
			.stream()
			.collect(Collectors.joining("\n    - ", "Locked methods cannot work as declared:\n\n    - ", ""));
		return new FailureAnalysis(findings,
				"Fix each @DistributedLock, or its method or bean, as its line above describes. The application was"
						+ " not started, because these methods would fail or run unlocked.",
				cause);
	}

}
