package dev.dblock.autoconfigure;

import java.util.stream.Collectors;

import dev.dblock.job.schedule.InvalidJobException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Reports jobs that cannot run once per planned time.
 */
final class InvalidJobFailureAnalyzer extends AbstractFailureAnalyzer<InvalidJobException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, InvalidJobException cause) {
		String findings = cause.findings()
			.stream()
			.collect(Collectors.joining("\n    - ", "Jobs cannot run as declared:\n\n    - ", ""));
		return new FailureAnalysis(findings, "Fix each job as its line above describes.", cause);
	}

}
